// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/engine/knob.h"

namespace hca::tlm_ {
// Where a request off the boundaries of its parts is cut.
enum class PcieSplit : u8 { BySize, ByAddress };
inline constexpr std::array<std::string_view, 2> kPcieSplitNames{"by_size", "by_address"};

struct PcieConfig {
  u32 generation = 3, lanes = 16;
  u32 overhead = 81;  // thousandths
  u32 mps = 256, mrrs = 512, completion_bytes = 256, first_completion = 4096;
  u32 write_header = 24, read_header = 24, completion_header = 20;
  u32 read_tags = 64;
  u64 latency = 100'000, memory_latency = 90'000, memory_spread = 0;  // ps
  // Flow-control credits that a receiver has; 0: endless.
  u32 root_posted_headers = 0, root_posted_data = 0, root_nonposted_headers = 0;
  u32 device_posted_headers = 0, device_posted_data = 0;
  u32 device_completion_headers = 0, device_completion_data = 0;
  u64 credit_latency = 0;  // ps
  PcieSplit split = PcieSplit::BySize;

  // What a receiver may tell with scaled flow control: 16 times 127 and 16 times 2047.
  static constexpr u32 kMostHeaders = 16 * 127, kMostData = 16 * 2047;
};
}  // namespace hca::tlm_

template <>
struct hca::engine::Knobs<hca::tlm_::PcieConfig> {
  using Config = tlm_::PcieConfig;
  static constexpr std::string_view block = "pcie";
  static constexpr std::string_view sentence = "the link between HCA and root complex";
  static constexpr auto rows = make_rows(
      knob("generation", &Config::generation, Unit::Count, 1, 6,
           "2.5, 5, 8, 16, 32 GT/s a lane, or 64 in flit mode"),
      knob("lanes", &Config::lanes, Unit::Count, 1, 16, "width"),
      knob("overhead", &Config::overhead, Unit::Count, 0, 500,
           "thousandths of the link taken by acknowledgements, credits and skips"),
      knob("mps", &Config::mps, Unit::Bytes, 128, 4096, "payload of a write TLP"),
      knob("mrrs", &Config::mrrs, Unit::Bytes, 128, 4096, "bytes that one read TLP may ask for"),
      knob("completion_bytes", &Config::completion_bytes, Unit::Bytes, 64, 4096,
           "payload of a completion TLP: the root complex's read completion boundary or the MPS"),
      knob("first_completion", &Config::first_completion, Unit::Bytes, 64, 4096,
           "payload of the first completion TLP of a read, if that is less"),
      knob("write_header", &Config::write_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a write TLP"),
      knob("read_header", &Config::read_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a read TLP"),
      knob("completion_header", &Config::completion_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a completion TLP"),
      knob("read_tags", &Config::read_tags, Unit::Count, 1, 1024,
           "read TLPs that may wait for their data"),
      knob("latency", &Config::latency, Unit::Picoseconds, 0, 100'000'000,
           "one way, from the end of a TLP at its sender to its receiver"),
      knob("memory_latency", &Config::memory_latency, Unit::Picoseconds, 0, 100'000'000,
           "from a read at the root complex to its first completion"),
      knob("memory_spread", &Config::memory_spread, Unit::Picoseconds, 0, 100'000'000,
           "how much longer that may take, evenly by chance"),
      knob("root_posted_headers", &Config::root_posted_headers, Unit::Count, 0,
           Config::kMostHeaders,
           "flow-control credits of the root complex: write TLPs; 0: endless"),
      knob("root_posted_data", &Config::root_posted_data, Unit::Count, 0, Config::kMostData,
           "the same for 16 B of their payload each; 0: endless"),
      knob("root_nonposted_headers", &Config::root_nonposted_headers, Unit::Count, 0,
           Config::kMostHeaders, "the same for read TLPs; 0: endless"),
      knob("device_posted_headers", &Config::device_posted_headers, Unit::Count, 0,
           Config::kMostHeaders, "flow-control credits of the HCA: MMIO write TLPs; 0: endless"),
      knob("device_posted_data", &Config::device_posted_data, Unit::Count, 0, Config::kMostData,
           "the same for 16 B of their payload each; 0: endless"),
      knob("device_completion_headers", &Config::device_completion_headers, Unit::Count, 0,
           Config::kMostHeaders, "the same for completion TLPs; 0: endless"),
      knob("device_completion_data", &Config::device_completion_data, Unit::Count, 0,
           Config::kMostData, "the same for 16 B of their payload each; 0: endless"),
      knob("credit_latency", &Config::credit_latency, Unit::Picoseconds, 0, 100'000'000,
           "from a TLP that has left its receiver's buffer to its credits on their way back"),
      knob(
          "split", &Config::split, tlm_::kPcieSplitNames,
          "where requests are cut: as if all began on boundaries, or at those of their addresses"));
};

namespace hca::tlm_ {
// Throws engine::ConfigError: a knob out of its range, or credits that one TLP cannot have.
void check_pcie(const PcieConfig& config);
}  // namespace hca::tlm_
