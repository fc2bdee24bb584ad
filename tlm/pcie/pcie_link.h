// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/blocks/memory/host_timing.h"
#include "model/engine/counters.h"
#include "model/engine/random.h"
#include "tlm/pcie/down_line.h"
#include "tlm/pcie/pcie_config.h"
#include "tlm/pcie/pcie_use.h"

namespace hca::tlm_ {
// Counters of the caches in the root complex, and of reads that wait for each other.
struct RootCounters {
  u64 translations = 0, walks = 0, llc_reads = 0, llc_hits = 0, written_back = 0, line_waits = 0;
};

// Computes when DMA and MMIO arrive across PCIe. The TLPs of one request are a train computed by
// arithmetic, without an event for each.
//  - A read is split by MRRS. Each part leaves when its tag and the line upstream are free. The
//    root complex answers in order with completions of completion_bytes (a short one, line_reads,
//    by cache lines), one after the other on the line downstream; the tag is free again with the
//    last one. A read that waits for its tag delays no write: its time on the line is reserved when
//    it is requested.
//  - An AtomicOp is one TLP with its operands after a header like a write's; like a read it has a
//    tag and one completion with the value.
//  - A write is split by MPS; each TLP leaves when its last byte is available and the line is free.
//    The bytes arrive evenly from the first cycle to the last.
//  - The requests of the HCA use the line upstream in the order of the calls: a read requested
//    inside a write's train follows the train.
//  - MMIO writes downstream follow each other and share the line with the completions (DownLine).
//  - In a read of several parts only the first has a random delay; the others follow it.
// All requests are taken to start on a boundary of the sizes above: addresses are ignored.
// PcieTlpLink handles addresses and credits.
class PcieLink : public blocks::HostTiming {
 public:
  // `hertz`: the clock in whose cycles all times are; `seed`: for the random part of the memory
  // latency. Throws engine::ConfigError.
  PcieLink(const PcieConfig& config, u64 hertz, u64 seed = 0);
  blocks::ReadTiming read(Cycle at, u64 address, u32 bytes) override;
  blocks::ReadTiming atomic(Cycle at, u64 address, u32 operands) override;
  blocks::WriteTiming write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) override;
  // A posted write of host software; returns when it reaches the HCA.
  virtual Cycle mmio_write(Cycle at, u32 bytes);
  // When the sender has the credits of a TLP again that leaves its receiver's buffer in this cycle.
  Cycle returned(Cycle out_of_buffer) const { return out_of_buffer + credit_latency_ + latency_; }
  // Counters of a link that uses addresses; nullptr: nothing is counted.
  virtual const RootCounters* root_counters() const { return nullptr; }
  // The minimum time from the host to the HCA.
  Cycle latency() const { return latency_; }

  // Tells its use from now on, if it was made with metering; nullptr: nobody.
  void attach(PcieMeter* meter);
  // Tells what it has added up so far.
  void tell_use() { use_.tell_sums(); }
  // Cycles of a part that a unit of its use takes: those of a byte on a line.
  double cycles_of(PciePart part) const;
  // How many units there are; 0: the part cannot limit.
  virtual u32 count(PciePart part) const { return count_of_wires(part); }
  // Of a link made with metering: keeps from cycle `now` on how many tags and credits are in use at
  // the same time at most (PcieCredits::begin_most).
  virtual void begin_most(Cycle /*now*/) {}
  virtual u32 most(PciePart) const { return 0; }

 protected:
  static constexpr u64 kBeatBytes = 64;  // moved by the chip
  u32 count_of_wires(PciePart part) const;
  PcieUse use_;
  // The size of an AtomicOp on the line.
  u64 atomic_bytes(u32 operands) const { return operands + u64{config_.write_header}; }
  // The payload sizes of the completions of a part.
  struct Pieces {
    u32 first, others;
  };
  Pieces pieces_of(u32 part) const {
    if (part <= config_.line_reads) [[unlikely]]
      return {PcieConfig::kCacheLine, PcieConfig::kCacheLine};
    return {first_, config_.completion_bytes};
  }
  // The bytes on the line of all completions of a part.
  u64 answer_of(u32 part) const;
  PcieConfig config_;
  Cycle latency_, credit_latency_, memory_latency_, spread_, tail_;
  u32 first_, one_tlp_;       // bytes of a first completion, and of a read with one TLP each way
  Cycle read_header_cycles_;  // on the line
  TlpLine up_, mmio_;         // mmio_: MMIO writes only
  DownLine down_;
  std::vector<Cycle> tag_free_from_;
  std::size_t next_tag_ = 0;
  Cycle& take_tag();
  // An MMIO write of this many bytes on the line that may start in cycle `at`; returns its arrival
  // at the HCA.
  Cycle send_mmio(Cycle at, u64 bytes);
  Cycle at_memory() {
    if (spread_ | tail_) [[unlikely]]
      return drawn_at_memory();
    return memory_latency_;
  }

 private:
  // A read of several parts that finds both lines and its tags free: its times follow from the
  // cycle of its request and that of memory's answer. Sizes repeat.
  struct Burst {
    u32 bytes = 0;
    engine::Rate::Span requests{}, answers{};  // on the lines: all of them
    // After the answer of memory: the end of the first completion, and of the last one of each
    // part.
    Cycle first = 0;
    std::vector<Cycle> parts{};
  };
  // A write of more than one TLP, whose beats (from 0 on) arrive evenly. The number of cycles from
  // the first to the last beat repeats too.
  struct Train {
    struct Spread {
      Cycle takes = engine::kNever;  // from the first beat to the last
      Cycle first = 0;               // when the first TLP is available, counted from the first beat
      engine::Rate::Span least{};    // minimum distance of its end from the first beat
    };
    u32 bytes = 0;
    engine::Divisor gaps{1};           // between its beats
    engine::Rate::Span all{}, last{};  // on the line: its TLPs, the last of them
    std::array<Spread, 8> spreads{};
    // When a beat is available, counted from the first.
    Cycle at_hand(u64 beat, Cycle takes) const {
      return gaps.quotient(takes * beat + gaps.value() - 1);
    }
  };
  u64 first_answer_of(u32 part) const;
  Cycle drawn_at_memory();
  blocks::ReadTiming read_parts(Cycle at, u32 bytes);
  blocks::ReadTiming read_part(Cycle at, u32 bytes);
  bool tags_are_free(std::size_t parts, Cycle at) const;
  void take_tags(const std::vector<Cycle>& ends, Cycle from);
  blocks::ReadTiming ask_each(Cycle at, u32 bytes);
  void learn_burst(Burst& burst, u32 bytes);
  void learn_train(u32 bytes);
  void learn_spread(Train::Spread& spread, Cycle takes) const;
  // The last beat (from 0 on) of this many bytes.
  static u64 last_beat(u64 bytes) { return (bytes + kBeatBytes - 1) / kBeatBytes - 1; }

  u64 full_answer_;  // of a part of mrrs bytes
  // On the line: a request, a part of mrrs bytes, its first completion, the others; a TLP of mps.
  engine::Rate::Span request_, full_, full_first_, full_others_, full_write_;
  std::array<Burst, 8> bursts_{};
  Train train_;  // of the last write
  engine::Random random_;
};

// The rate of a link after its line code and overhead: exact.
engine::Rate pcie_rate(const PcieConfig& config, u64 hertz);
}  // namespace hca::tlm_

template <>
struct hca::engine::Counters<hca::tlm_::RootCounters> {
  using C = hca::tlm_::RootCounters;
  static constexpr std::string_view block = "pcie";
  static constexpr auto rows =
      make_rows(counter("translations", &C::translations, "pages",
                        "translations that TLPs needed (iommu_entries)"),
                counter("walks", &C::walks, "pages", "IOTLB misses"),
                counter("llc_reads", &C::llc_reads, "TLPs",
                        "reads looked up in the last-level cache (llc_bytes)"),
                counter("llc_hits", &C::llc_hits, "TLPs", "reads that hit it in all lines"),
                counter("written_back", &C::written_back, "lines", "evicted from it to memory"),
                counter("line_waits", &C::line_waits, "lines",
                        "lines of reads that wait for an earlier read of the same line "
                        "(same_line_interval)"));
};
