// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/blocks/host_timing.h"
#include "model/engine/knob.h"
#include "model/engine/random.h"
#include "model/engine/rate.h"

namespace hca::tlm_ {
using engine::Cycle;

struct PcieConfig {
  u32 generation = 3, lanes = 16;
  u32 overhead = 81;  // thousandths
  u32 mps = 256, mrrs = 512, completion_bytes = 256, first_completion = 4096;
  u32 write_header = 24, read_header = 24, completion_header = 20;
  u32 read_tags = 64;
  u64 latency = 100'000, memory_latency = 90'000, memory_spread = 0;  // ps
};
}  // namespace hca::tlm_

template <>
struct hca::engine::Knobs<hca::tlm_::PcieConfig> {
  using Config = tlm_::PcieConfig;
  static constexpr std::string_view block = "pcie";
  static constexpr std::string_view sentence = "the link between HCA and root complex";
  static constexpr auto rows = make_rows(
      knob("generation", &Config::generation, Unit::Count, 1, 5, "2.5, 5, 8, 16 or 32 GT/s a lane"),
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
           "how much longer that may take, evenly by chance"));
};

namespace hca::tlm_ {
// One direction of the link: TLPs one after the other at an exact rational rate. TLPs back to back
// keep the fraction of a cycle in which the line became free.
class TlpLine {
 public:
  explicit TlpLine(engine::Rate rate) : free_(rate) {}
  // A TLP of `bytes` that may start in cycle `at`: the first cycle in which all of it has left.
  Cycle send(Cycle at, const engine::Rate::Span& bytes) {
    if (at > free_from()) free_.set(at);
    free_.advance(bytes);
    return free_from();
  }
  Cycle send(Cycle at, u64 bytes) { return send(at, free_.span_of(bytes)); }
  // So many bytes right behind what was sent last, and again; sent(cycle) hears when each has left.
  template <class Sent>
  void go_on(const engine::Rate::Span& bytes, u32 times, Sent&& sent) {
    free_.advance(bytes, times, sent);
  }
  // The end of what was sent last is no earlier than `bytes` that start in cycle `at`.
  void not_before(Cycle at, const engine::Rate::Span& bytes) { free_.not_before(at, bytes); }
  Cycle free_from() const { return free_.edge(); }
  const engine::Rate& rate() const { return free_.rate(); }

 private:
  engine::RationalTime free_;
};

// When DMA and MMIO arrive across PCIe. The TLPs of one request are a train computed by arithmetic:
// no event each.
//  - A read is split by MRRS. Each part leaves when its tag is free and the line upstream is; the
//    root complex answers in order with completions of completion_bytes, one after the other on the
//    line downstream; the tag is free again with the last of them. A read that waits for its tag
//    holds up no write: it takes its time of the line when it is asked for.
//  - A write is split by MPS; each TLP leaves when its last byte is at hand and the line is free.
//  The bytes come evenly from the first cycle to the last.
//  - The requests of the HCA use the line upstream in the order of the calls: a read asked for
//    inside a write's train follows the train.
//  - MMIO writes downstream are paced among themselves and take no time from completions.
//  - Of a read of several parts the first has the chance to take longer, the others follow it.
// All requests start on a boundary of the sizes above: addresses are not looked at.
class PcieLink : public blocks::HostTiming {
 public:
  // `hertz`: the clock in whose cycles all times are; `seed`: of what memory takes more. Throws
  // engine::ConfigError.
  PcieLink(const PcieConfig& config, u64 hertz, u64 seed = 0);
  blocks::ReadTiming read(Cycle at, u32 bytes) override;
  blocks::WriteTiming write(Cycle first_in, Cycle last_in, u32 bytes) override;
  // A posted write of host software: when it reaches the HCA.
  Cycle mmio_write(Cycle at, u32 bytes);
  // Nothing of the host reaches the HCA sooner than this.
  Cycle latency() const { return latency_; }

 protected:
  // The bytes on the line of all completions of a part.
  u64 answer_of(u32 part) const;
  PcieConfig config_;
  TlpLine up_, down_, mmio_;
  std::vector<Cycle> tag_free_from_;
  std::size_t next_tag_ = 0;

 private:
  // The sizes of a stream repeat: into how many parts the last one fell is remembered.
  class Parts {
   public:
    explicit Parts(u32 most) : most_(most) {}
    // The parts in front of the last one of `bytes`, all of them full.
    u32 full_of(u32 bytes) {
      if (bytes != known_) [[unlikely]]
        known_ = bytes, full_ = (bytes - 1) / most_;
      return full_;
    }

   private:
    u32 most_, known_ = 1, full_ = 0;
  };
  // A write of more than one TLP: its beats, from 0 on, and what it takes on the line.
  struct Train {
    u32 bytes = 0;
    engine::Divisor gaps{1};       // between its beats
    u64 first = 0, next_last = 0;  // the last beat of its first TLP, of the one before its last
    engine::Rate::Span all{}, last_two{}, last{};  // TLPs
    Cycle at_hand(u64 beat, Cycle first_in, Cycle last_in) const;
  };
  u64 first_answer_of(u32 part) const;
  Cycle at_memory() {
    if (spread_) [[unlikely]]
      return drawn_at_memory();
    return memory_latency_;
  }
  Cycle drawn_at_memory();
  Cycle& take_tag();
  bool tags_are_free(u32 bytes, Cycle at);
  void ask_rest(Cycle at, u32 bytes, blocks::ReadTiming& timing);
  void ask_each(Cycle at, u32 bytes, blocks::ReadTiming& timing);
  void learn_train(u32 bytes);

  Cycle latency_, memory_latency_, spread_;
  u32 first_, one_tlp_;  // bytes: of a first completion, of a read with one TLP each way
  u64 full_answer_;      // of a part of mrrs bytes
  // On the line: a request, a part of mrrs bytes, its first completion, the others.
  engine::Rate::Span request_, full_, full_first_, full_others_;
  Cycle read_header_cycles_;  // on the line
  bool answers_lag_;          // an answer is longer than its request, by a cycle at least
  Parts read_parts_;
  Train train_;  // of the last write
  engine::Random random_;
};

// The rate of a link after its line code and overhead: exact.
engine::Rate pcie_rate(const PcieConfig& config, u64 hertz);
}  // namespace hca::tlm_
