// SPDX-License-Identifier: Apache-2.0
// rtl/icrc/icrc.sv as a SystemC module with pins, between a user's producer and checker.
//
// In a cycle: the block's outputs are valid after the rising edge, the producer drives at the
// falling edge, both are sampled at the next rising edge.
#include <systemc>

#include <algorithm>
#include <cstdio>

#include "rtl/cpp/icrc_rtl.h"
#include "testbench/examples/frames.h"

namespace hca::rtl {  // what sc_signal and its ports ask of a type
inline std::ostream& operator<<(std::ostream& out, const Beat& beat) {
  return out << unsigned(beat.control.bytes) << " bytes";
}
inline void sc_trace(sc_core::sc_trace_file* file, const Beat& beat, const std::string& name) {
  sc_core::sc_trace(file, beat.control.bytes, name + ".bytes");
}
}  // namespace hca::rtl

namespace {
using hca::rtl::Beat;
using namespace example;
using sc_core::sc_in;
using sc_core::sc_out;
constexpr u32 kBeatBytes = 32;
constexpr u8 kGenerate = 1;  // icrc_mode_e

struct Icrc : sc_core::sc_module {
  sc_in<bool> clock{"clock"}, in_valid{"in_valid"}, out_ready{"out_ready"};
  sc_out<bool> in_ready{"in_ready"}, out_valid{"out_valid"};
  sc_in<Beat> in{"in"};
  sc_out<Beat> out{"out"};

  SC_HAS_PROCESS(Icrc);
  explicit Icrc(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_METHOD(edge);
    sensitive << clock.pos();
    dont_initialize();
    SC_METHOD(settle);
    sensitive << edge_done_ << out_ready;
  }
  bool assertion_failed() const { return rtl_.assertion_failed(); }

 private:
  void edge() {
    rtl_.begin_cycle(out_ready.read());
    const Beat beat = in.read();
    rtl_.drive(in_valid.read() ? &beat : nullptr);
    rtl_.end_cycle();
    edge_done_.notify(sc_core::SC_ZERO_TIME);
  }
  void settle() {
    rtl_.begin_cycle(out_ready.read());
    in_ready.write(rtl_.in_ready());
    out_valid.write(rtl_.out_valid());
    if (rtl_.out_valid()) out.write(rtl_.out());
  }
  hca::rtl::IcrcRtl rtl_{kBeatBytes};
  sc_core::sc_event edge_done_;
};

struct Producer : sc_core::sc_module {
  sc_in<bool> clock{"clock"}, ready{"ready"};
  sc_out<bool> valid{"valid"};
  sc_out<Beat> beat{"beat"};

  SC_HAS_PROCESS(Producer);
  explicit Producer(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_METHOD(drive);
    sensitive << clock.neg();
    dont_initialize();
  }

 private:
  void drive() {  // a start needs ready; from first to last beat valid stays high
    const bool sends = frame_ < frames_.size() && (at_ || ready.read());
    valid.write(sends);
    if (!sends) return;
    const Known& known = frames_[frame_];
    const u32 bytes = std::min(kBeatBytes, u32(known.frame.size()) - at_);
    Beat b;
    b.control.framing = u8(known.framing);
    b.control.mode = kGenerate;
    b.control.first = !at_;
    b.control.bytes = u8(bytes);
    std::copy_n(known.frame.begin() + at_, bytes, b.data.begin());
    at_ += bytes;
    b.control.last = at_ == known.frame.size();
    beat.write(b);
    if (b.control.last) {
      at_ = 0;
      ++frame_;
    }
  }
  std::vector<Known> frames_ = known_frames();
  std::size_t frame_ = 0;
  u32 at_ = 0;  // bytes of the frame that have been sent
};

struct Checker : sc_core::sc_module {
  sc_in<bool> clock{"clock"}, valid{"valid"};
  sc_out<bool> ready{"ready"};
  sc_in<Beat> beat{"beat"};
  u32 good = 0, bad = 0;

  SC_HAS_PROCESS(Checker);
  explicit Checker(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_METHOD(take);
    sensitive << clock.pos();
  }

 private:
  void take() {
    ready.write(true);  // there is always room
    if (!valid.read()) return;
    const Beat b = beat.read();
    got_.insert(got_.end(), b.data.begin(), b.data.begin() + b.control.bytes);
    if (!b.control.last) return;
    Bytes wanted;
    if (good + bad < frames_.size()) {
      const Known& known = frames_[good + bad];
      wanted = known.frame;
      wanted.insert(wanted.end(), known.crcs.begin(), known.crcs.end());
    }
    ++(got_ == wanted ? good : bad);
    got_.clear();
  }
  std::vector<Known> frames_ = known_frames();
  Bytes got_;
};
}  // namespace

int sc_main(int, char**) {
  sc_core::sc_clock clock("clock", 2, sc_core::SC_NS);
  sc_core::sc_signal<bool> in_valid, in_ready, out_valid, out_ready;
  sc_core::sc_signal<Beat> in, out;
  Producer producer("producer");
  Icrc icrc("icrc");
  Checker checker("checker");
  producer.clock(clock);
  icrc.clock(clock);
  checker.clock(clock);
  producer.valid(in_valid);
  producer.ready(in_ready);
  producer.beat(in);
  icrc.in_valid(in_valid);
  icrc.in_ready(in_ready);
  icrc.in(in);
  icrc.out_valid(out_valid);
  icrc.out_ready(out_ready);
  icrc.out(out);
  checker.valid(out_valid);
  checker.ready(out_ready);
  checker.beat(out);
  sc_core::sc_start(100, sc_core::SC_NS);
  if (icrc.assertion_failed()) {
    std::puts("an assertion of the RTL failed");
    return 1;
  }
  if (checker.bad) {
    std::printf("%u frames are wrong\n", checker.bad);
    return 1;
  }
  std::printf("%u frames left with their ICRCs\n", checker.good);
  return checker.good == known_frames().size() ? 0 : 1;
}
