// SPDX-License-Identifier: Apache-2.0
// An RTL block that stalls inside packets, with an elastic buffer on each side: beats wait before
// the block until it takes them, and after it until their packet is complete. It has the pins of
// our blocks, but takes a beat in any cycle in which packets_in_ready_o is high, and sends one in
// any cycle in which packets_out_valid_o is high; packets_out_start_o is ignored,
// packets_out_ready_i is always high. Its packets are compared with those of the twin by order and
// content. Their cycles are only reported, but none may wait for kPatience cycles. A reset, now and
// then, loses the packets inside.
#pragma once
#include "testbench/lockstep/lockstep.h"

namespace hca::testbench {
template <class Pair>
class ElasticRun {
 public:
  using Cycle = engine::Cycle;
  using Packet = typename Pair::Packet;
  using Result = ElasticResult<Pair>;

  explicit ElasticRun(const LockstepOptions<Pair>& options)
      : options_(options),
        stimulus_(make_stimulus<Pair>(options.seed, options.given, turns_)),
        unit_(options.twin, {}),
        rtl_(options.rtl ? options.rtl() : typename Pair::Rtl(options.twin.beat_bytes)),
        lives_(options.given.any() ? 0 : options.reset_every),
        resets_(options.seed ^ 0x4e5e),
        noise_(options.seed ^ 0x5eed) {
    result_.coverage = typename Pair::Coverage(beat_bytes());
  }
  Result run(Cycle waves_from, const std::string& waves) {
    Cycle reset_at = next_reset(0);
    for (Cycle at = 1; at <= options_.cycles && result_.equal(); ++at) {
      if (!waves.empty() && at == waves_from) rtl_.trace_to(waves);
      if (at >= reset_at && waited_out(at) <= kShort && waited_in(at) <= kShort)
        reset(at), reset_at = next_reset(at);
      else
        cycle(at);
      result_.cycles = at;
    }
    if (!waves.empty())
      for (Cycle more = 1; more <= kWavesBehind; ++more) run_on(result_.cycles + more);
    rtl_.trace_end();
    return std::move(result_);
  }

 private:
  static constexpr Cycle kWavesBehind = 16;
  static constexpr Cycle kPatience = 10'000;  // cycles without a beat that leaves, or is taken
  static constexpr Cycle kShort = 100;        // after this wait no reset comes to release it
  struct Inside {
    std::shared_ptr<Packet> packet;
    Cycle entered = 0;
    u32 bytes_out = 0;
  };

  Cycle next_reset(Cycle at) {
    const Cycle life = lives_.next(resets_);
    return life == engine::kNever ? life : at + life;
  }
  // For a beat that leaves, for one that is taken.
  Cycle waited_out(Cycle at) const { return inside_.empty() ? 0 : at - moved_; }
  Cycle waited_in(Cycle at) const { return sending_ ? at - taken_ : 0; }
  // Runs one cycle in reset; the next packet comes after it.
  void reset(Cycle at) {
    rtl_.set_reset(true);
    run_on(at);
    rtl_.set_reset(false);
    inside_.clear();
    next_.reset();
    sending_ = on_pins_ = false;
    beat_ = out_beat_ = 0;
    ++result_.resets;
  }

  void cycle(Cycle at) {
    rtl_.begin_cycle(true);
    offer(at);
    // The model has a beat when the RTL has one.
    rtl_.show_model({at, true, false, false, {}});
    if (rtl_.out_valid()) take(at);
    if (waited_out(at) > kPatience)
      differ(at, "packets_out", {"valid", "1", fmt::format("0 for {} cycles", kPatience)},
             inside_.front());
    if (waited_in(at) > kPatience)
      differ(at, "packets_in", {"ready", "1", fmt::format("0 for {} cycles", kPatience)},
             {next_, at, 0});
    rtl_.end_cycle();
    result_.assertion_failed = rtl_.assertion_failed();
    result_.ended = rtl_.has_ended();
  }
  // Runs a cycle after the last one compared, for the waveform: nothing enters any more.
  void run_on(Cycle at) {
    rtl_.begin_cycle(true);
    rtl_.drive(nullptr);
    rtl_.show_model({at, true, false, false, {}});
    rtl_.end_cycle();
  }
  // The next beat waits on the pins until it is taken.
  void offer(Cycle at) {
    if (!sending_) {
      if (!next_) {
        next_ = std::make_shared<Packet>(stimulus_.next());
        from_ = at + next_->gap;
      }
      if (at < from_) {
        rtl_.drive(nullptr);
        return void(rtl_.in_ready());
      }
    }
    if (!on_pins_) {
      waiting_ = pins_of<Pair>(*next_, beat_, beat_bytes(), noise_);
      on_pins_ = true;
    }
    rtl_.drive(&waiting_);
    if (!sending_) {
      sending_ = true;
      taken_ = at;
    }
    if (!rtl_.in_ready()) return void(result_.held_beats += beat_ != 0);
    taken_ = at;
    on_pins_ = false;
    if (!beat_++) enter(at);
    if (waiting_.control.last) {
      sending_ = false;
      beat_ = 0;
      next_.reset();
    }
  }
  void enter(Cycle at) {
    if (inside_.empty()) moved_ = at;
    auto item = Pair::item_of(*next_);
    item.process();
    const auto told = item.told();
    engine::Event leaves{};
    leaves.a = told[0];
    leaves.b = told[1];
    leaves.c = told[2];
    Pair::take_result(*next_, leaves);
    inside_.push_back({next_, at, item.bytes_out()});
  }
  void take(Cycle at) {
    moved_ = at;
    const auto out = rtl_.out();
    if (inside_.empty()) return differ(at, "packets_out", {"valid", "0", "1"}, {});
    const Inside& front = inside_.front();
    if (!out_beat_) {
      result_.least_latency = std::min(result_.least_latency, at - front.entered);
      result_.most_latency = std::max(result_.most_latency, at - front.entered);
    }
    const auto expected = Pair::expected(*front.packet, out_beat_, beat_bytes());
    rtl_.show_model({at, true, out_beat_ == 0, true, expected});
    auto unequal = difference(expected.control, out.control, true);
    if (!unequal)
      unequal = difference(expected.data, out.data, out_beat_ * beat_bytes(), Pair::kData);
    if (!unequal) unequal = difference(expected.control, out.control, false);
    if (!unequal && rtl_.out_has_spare_bits()) unequal = {"bits of no field", "0", "not 0"};
    if (unequal) return differ(at, "packets_out", *unequal, front);
    ++result_.beats;
    ++out_beat_;
    if (!expected.control.last) return;
    ++result_.packets;
    out_beat_ = 0;
    result_.counts.count(*front.packet);
    result_.coverage.count(*front.packet);
    unit_.pass(unit_.free_from(), front.bytes_out);
    result_.twin_cycles = unit_.free_from();
    inside_.pop_front();
  }
  void differ(Cycle at, const char* port, const PinDifference& d, const Inside& at_front) {
    if (result_.divergence) return;  // the first one counts
    result_.divergence = {at,
                          port,
                          d.field,
                          d.model,
                          d.rtl,
                          at_front.packet ? fmt::format("beat {}, {}", out_beat_,
                                                        Pair::describe(*at_front.packet, true))
                                          : "no packet inside\n"};
  }
  u32 beat_bytes() const { return rtl_.beat_bytes(); }

  const LockstepOptions<Pair> options_;
  Rotation turns_;
  typename Pair::Stimulus stimulus_;
  typename Pair::Unit unit_;
  rtl::BlockRtl<typename Pair::In, typename Pair::Out> rtl_;
  std::shared_ptr<Packet> next_;            // on offer, or being sent
  rtl::BeatOf<typename Pair::In> waiting_;  // its beat on the pins
  bool sending_ = false, on_pins_ = false;
  Cycle from_ = 0, moved_ = 0, taken_ = 0;  // last cycles in which a beat has left, was taken
  u32 beat_ = 0, out_beat_ = 0;             // of the packet that enters, that leaves
  std::deque<Inside> inside_;
  Lives lives_;
  engine::Random resets_, noise_;
  Result result_;
};

// As run_lockstep().
template <class Pair>
ElasticResult<Pair> run_elastic(const LockstepOptions<Pair>& options) {
  return run_with_waves<ElasticRun<Pair>>(options);
}
}  // namespace hca::testbench
