// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "model/engine/knob.h"

namespace hca::tlm_ {
// Where a request off its natural boundaries is split.
enum class PcieSplit : u8 { BySize, ByAddress };
inline constexpr std::array<std::string_view, 2> kPcieSplitNames{"by_size", "by_address"};

// Link widths, powers of two as in the specification, and rates at which a simulation ends in
// reasonable time.
inline constexpr engine::KnobRule kLinkWidth{
    [](u64 n) { return n == 12 || std::has_single_bit(n); }, "is no width of a link",
    "one of 1, 2, 4, 8, 12, 16"};
inline constexpr engine::KnobRule kPcieSize{[](u64 n) { return std::has_single_bit(n); },
                                            "is no power of two", "a power of two"};
inline constexpr engine::KnobRule kNoneOrPcieSize{
    [](u64 n) { return !n || (n >= 64 && std::has_single_bit(n)); },
    "is no power of two from 64 on", "0 B, or a power of two from 64 B on"};
inline constexpr engine::KnobRule kNoneOrMegabit{[](u64 n) { return !n || n >= 1'000'000; },
                                                 "is too slow to simulate", "0 or 1 Mb/s and more"};

// The order in which the completions of reads return.
enum class CompletionOrder : u8 { InOrder, ByMemory };
inline constexpr std::array<std::string_view, 2> kCompletionOrderNames{"in_order", "by_memory"};

struct PcieConfig {
  u32 generation = 3, lanes = 16;
  u32 overhead = 81;       // thousandths
  u32 flit_overhead = 20;  // the same in flit mode
  u32 mps = 256, mrrs = 512, completion_bytes = 0, first_completion = 4096;
  u32 line_reads = 0;
  u32 write_header = 24, read_header = 24, completion_header = 20;
  u32 flit_write_header = 16, flit_read_header = 16, flit_completion_header = 12;
  u32 read_tags = 64;
  u64 latency = 100'000, memory_latency = 90'000, memory_spread = 0;  // ps
  // Flow-control credits of a receiver; 0: infinite. The root complex has the most that a receiver
  // may advertise without scaled flow control (PCI Express Base 4.0, 2.6.1): 127 headers and 2047
  // of data, 32 KiB. Intel's Xeon C5500 has 64, 320 and 72 non-posted headers (datasheet 323103,
  // Table 76), at 5 GT/s.
  u32 root_posted_headers = 127, root_posted_data = 2047, root_nonposted_headers = 127;
  // A hard IP of Intel, 683111, 6.5 "RX Buffer": 127 headers, 750 of data.
  u32 device_posted_headers = 127, device_posted_data = 750;
  // An endpoint has to advertise infinite ones; it has room for the reads that it sends.
  u32 device_completion_headers = 0, device_completion_data = 0;
  u64 credit_latency = 0;  // ps
  PcieSplit split = PcieSplit::BySize;
  CompletionOrder completion_order = CompletionOrder::InOrder;
  u64 memory_tail = 0;  // ps
  u32 memory_tail_share = 0;
  // Bits a second, of all channels; 0: unlimited. 8 channels of DDR4-3200 (JESD79-4), 25.6 GB/s
  // each, are those of one EPYC 7003.
  u64 memory_rate = 1'638'400'000'000;
  u32 memory_channels = 8, memory_interleave = 256;  // bytes of a channel in sequence
  u64 memory_write_latency = 0;                      // ps
  u32 iommu_entries = 0, iommu_ways = 4;             // 0: no IOMMU
  u64 iommu_page = 4096, iommu_walk = 200'000;       // bytes, ps
  u32 iommu_walkers = 1;
  bool relaxed_ordering = false;
  u64 llc_bytes = 0;  // 0: no cache
  u32 llc_ways = 2;
  u64 llc_latency = 30'000;  // ps
  // From a read of a cache line to the next one, ps. 0: it is published for one host, a Xeon E5-2640
  // (43 ns, cx5_rate_outstanding), and no other says that it has none.
  u64 same_line_interval = 0;
  static constexpr u32 kCacheLine = 64;
  static constexpr u32 kFlitMode = 6;  // the first generation with flit mode

  // Applies the `overhead` and headers of its generation's mode, and the size of completions.
  PcieConfig of_its_mode() const {
    PcieConfig c = *this;
    if (!completion_bytes) c.completion_bytes = std::min(mps, kCompletionBytes);
    if (generation < kFlitMode) return c;
    c.overhead = flit_overhead;
    c.write_header = flit_write_header;
    c.read_header = flit_read_header;
    c.completion_header = flit_completion_header;
    return c;
  }

  static constexpr u32 kCompletionBytes = 256;
  // The maximum that a receiver can advertise with scaled flow control: 16 times 127 and 16 times
  // 2047.
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
      knob("lanes", &Config::lanes, Unit::Count, 1, 16, tlm_::kLinkWidth, "width"),
      knob("overhead", &Config::overhead, Unit::Count, 0, 500,
           "share of the link used by acknowledgements, credits and skips, in thousandths"),
      knob("flit_overhead", &Config::flit_overhead, Unit::Count, 0, 500,
           "flit mode: share used by skips and repeated flits, in thousandths"),
      knob("mps", &Config::mps, Unit::Bytes, 128, 4096, tlm_::kPcieSize, "payload of a write TLP"),
      knob("mrrs", &Config::mrrs, Unit::Bytes, 128, 4096, tlm_::kPcieSize,
           "bytes that one read TLP may request"),
      knob("completion_bytes", &Config::completion_bytes, Unit::Bytes, 0, 4096,
           tlm_::kNoneOrPcieSize,
           "payload of a completion TLP: the root complex's read completion boundary, at most "
           "mps; 0 B: 256 B, or mps if that is less"),
      knob("first_completion", &Config::first_completion, Unit::Bytes, 64, 4096, tlm_::kPcieSize,
           "payload of the first completion TLP of a read, if this is less"),
      knob("line_reads", &Config::line_reads, Unit::Bytes, 0, 4096,
           "a read TLP for at most this many bytes is answered by cache lines, one completion of "
           "64 B for each"),
      knob("write_header", &Config::write_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a write TLP"),
      knob("read_header", &Config::read_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a read TLP"),
      knob("completion_header", &Config::completion_header, Unit::Bytes, 12, 64,
           "header, framing and CRC of a completion TLP"),
      knob("flit_write_header", &Config::flit_write_header, Unit::Bytes, 12, 64,
           "in flit mode: header of a write TLP; framing and CRC are the flit's"),
      knob("flit_read_header", &Config::flit_read_header, Unit::Bytes, 12, 64,
           "in flit mode: header of a read TLP"),
      knob("flit_completion_header", &Config::flit_completion_header, Unit::Bytes, 12, 64,
           "in flit mode: header of a completion TLP"),
      knob("read_tags", &Config::read_tags, Unit::Count, 1, 1024, "read TLPs in flight"),
      knob("latency", &Config::latency, Unit::Picoseconds, 0, 100'000'000,
           "one way, from the end of a TLP at its sender to its receiver"),
      knob("memory_latency", &Config::memory_latency, Unit::Picoseconds, 0, 100'000'000,
           "from a read at the root complex to its first completion"),
      knob("memory_spread", &Config::memory_spread, Unit::Picoseconds, 0, 100'000'000,
           "maximum of a uniform random addition to memory_latency"),
      knob("root_posted_headers", &Config::root_posted_headers, Unit::Count, 0,
           Config::kMostHeaders,
           "flow-control credits of the root complex for write TLPs; 0: infinite"),
      knob("root_posted_data", &Config::root_posted_data, Unit::Count, 0, Config::kMostData,
           "credits for their payload, 16 B each; 0: infinite"),
      knob("root_nonposted_headers", &Config::root_nonposted_headers, Unit::Count, 0,
           Config::kMostHeaders,
           "flow-control credits of the root complex for read TLPs; 0: infinite"),
      knob("device_posted_headers", &Config::device_posted_headers, Unit::Count, 0,
           Config::kMostHeaders,
           "flow-control credits of the HCA for MMIO write TLPs; 0: infinite"),
      knob("device_posted_data", &Config::device_posted_data, Unit::Count, 0, Config::kMostData,
           "credits for their payload, 16 B each; 0: infinite"),
      knob(
          "device_completion_headers", &Config::device_completion_headers, Unit::Count, 0,
          Config::kMostHeaders,
          "flow-control credits of the HCA for completion TLPs; 0: infinite, as an endpoint has to "
          "advertise"),
      knob("device_completion_data", &Config::device_completion_data, Unit::Count, 0,
           Config::kMostData, "credits for their payload, 16 B each; 0: infinite"),
      knob("credit_latency", &Config::credit_latency, Unit::Picoseconds, 0, 100'000'000,
           "from the departure of a TLP from its receiver's buffer to the return of its credits"),
      knob("split", &Config::split, tlm_::kPcieSplitNames,
           "where requests are split: as if all began on boundaries, or by their addresses"),
      knob("completion_order", &Config::completion_order, tlm_::kCompletionOrderNames,
           "order of read completions: that of the requests, or that of memory, with memory_spread "
           "and memory_tail for each TLP"),
      knob("memory_tail", &Config::memory_tail, Unit::Picoseconds, 0, 1'000'000'000,
           "additional latency of a share of the reads (memory_tail_share)"),
      knob("memory_tail_share", &Config::memory_tail_share, Unit::Count, 0, 1'000'000,
           "reads with memory_tail, in a million"),
      knob("memory_rate", &Config::memory_rate, Unit::BitsPerSecond, 0, 100'000'000'000'000,
           tlm_::kNoneOrMegabit,
           "memory bandwidth of this link, of all channels, reads and writes together; 0: "
           "unlimited"),
      knob("memory_channels", &Config::memory_channels, Unit::Count, 1, 64, tlm_::kPcieSize,
           "memory channels, each with its share of memory_rate and its own queue"),
      knob("memory_interleave", &Config::memory_interleave, Unit::Bytes, 64, 65'536,
           tlm_::kPcieSize, "consecutive bytes of one channel"),
      knob("memory_write_latency", &Config::memory_write_latency, Unit::Picoseconds, 0, 100'000'000,
           "from the turn of a write at memory until it is there, and its room free"),
      knob("iommu_entries", &Config::iommu_entries, Unit::Count, 0, 1 << 20,
           "translations in the IOTLB; 0: no IOMMU"),
      knob("iommu_ways", &Config::iommu_ways, Unit::Count, 1, 1024, "translations of an IOTLB set"),
      knob("iommu_page", &Config::iommu_page, Unit::Bytes, 4096, u64{1} << 30, tlm_::kPcieSize,
           "bytes that one translation covers"),
      knob("iommu_walk", &Config::iommu_walk, Unit::Picoseconds, 0, 100'000'000,
           "duration of a page walk after an IOTLB miss"),
      knob("iommu_walkers", &Config::iommu_walkers, Unit::Count, 1, 256, "page walks in parallel"),
      knob("relaxed_ordering", &Config::relaxed_ordering,
           "a write at the root complex does not wait for the translation of the previous one"),
      knob("llc_bytes", &Config::llc_bytes, Unit::Bytes, 0, u64{1} << 30,
           "size of the last-level cache for DMA writes; 0: writes go to memory"),
      knob("llc_ways", &Config::llc_ways, Unit::Count, 1, 64,
           "lines of 64 B in a set of the last-level cache"),
      knob("llc_latency", &Config::llc_latency, Unit::Picoseconds, 0, 100'000'000,
           "latency of a read that hits the last-level cache, instead of memory_latency"),
      knob("same_line_interval", &Config::same_line_interval, Unit::Picoseconds, 0, 10'000'000,
           "from a read of a cache line of memory (64 B) to the next read of the same line; 0 ps: "
           "reads of a line do not wait for each other"));
};

namespace hca::tlm_ {
// Throws engine::ConfigError for a knob out of its range, or too few credits for one TLP.
void check_pcie(const PcieConfig& config);
}  // namespace hca::tlm_
