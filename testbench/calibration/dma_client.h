// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "tlm/pcie/pcie_link.h"

namespace hca::testbench {
// A device that only does DMA, alone on its PCIe link. Times in picoseconds.
struct DmaClientConfig {
  u64 clock = 800'000'000;
  u64 read_interval = 0, read_tail = 0;
  u64 write_interval = 0, write_unit_interval = 0, write_gap = 0, write_issue = 0, staging = 0;
  u32 write_unit = 4096;  // bytes
};
}  // namespace hca::testbench

template <>
struct hca::engine::Knobs<hca::testbench::DmaClientConfig> {
  using Config = testbench::DmaClientConfig;
  static constexpr std::string_view block = "dma_client";
  static constexpr std::string_view sentence = "a device that only does DMA";
  static constexpr u64 kMax = 1'000'000'000;
  static constexpr auto rows = make_rows(
      knob("clock", &Config::clock, Unit::Hertz, 1'000'000, 10'000'000'000, "of its cycles"),
      knob("read_interval", &Config::read_interval, Unit::Picoseconds, 0, kMax,
           "between two reads, at least"),
      knob("read_tail", &Config::read_tail, Unit::Picoseconds, 0, kMax,
           "additional delay after a read that ends within a word of 8 B"),
      knob("write_interval", &Config::write_interval, Unit::Picoseconds, 0, kMax,
           "between two writes, at least"),
      knob("write_unit", &Config::write_unit, Unit::Bytes, 64, 4096, tlm_::kPcieSize,
           "bytes that the device moves at once for a write"),
      knob("write_unit_interval", &Config::write_unit_interval, Unit::Picoseconds, 0, kMax,
           "more than write_interval for each of them but the first"),
      knob("write_gap", &Config::write_gap, Unit::Picoseconds, 0, kMax,
           "between the last byte of a write on the link and the next write"),
      knob("write_issue", &Config::write_issue, Unit::Picoseconds, 0, kMax,
           "from the request of a write to its first byte"),
      knob("staging", &Config::staging, Unit::Picoseconds, 0, kMax,
           "for each KiB between its link and its memory, before a write and after a read"));
};

namespace hca::testbench {
using engine::Cycle;

// Measures a link as pcie-bench does: with streams, and with single requests in sequence.
class DmaClient {
 public:
  DmaClient(const DmaClientConfig& client, const tlm_::PcieConfig& pcie);
  // The payload rate of a stream of requests of `bytes` each, in Gb/s.
  double read_rate(u32 bytes);
  double write_rate(u32 bytes);
  // Latencies of single reads, from the request to the last byte in the device's memory, in ns.
  struct Latency {
    double min, median;
  };
  Latency read_latency(u32 bytes);
  // The median time of a write followed by a read.
  double write_then_read(u32 bytes);

 private:
  Cycle cycles(u64 picoseconds) const;
  u64 between_reads(u32 bytes) const;
  u64 between_writes(u32 bytes) const;
  double seconds(Cycle cycles) const { return double(cycles) / double(client_.clock); }
  template <class Once>
  Latency latency_of(Once&& once);
  DmaClientConfig client_;
  tlm_::PcieConfig pcie_;
};
}  // namespace hca::testbench
