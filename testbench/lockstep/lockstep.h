// SPDX-License-Identifier: Apache-2.0
// Runs an RTL block and its C++ twin side by side: the same random packets, the same random stalls
// after them, both streams compared in every cycle until they differ. Now and then a reset comes,
// in the middle of packets: both sides lose all packets inside, and new packets follow.
//
// The template argument Pair describes both and has
//   kName, kTwin, kData  the names of the RTL, of its twin, and of its output data
//   kTakes               the name of its input, if that is not frames
//   Packet, Stimulus     a StreamPacket, and the source of random ones: Stimulus(seed).next()
//   Unit, Rtl            the PacketUnit and the BlockRtl; In and Out, the side bands of the latter
//   item_of(packet)      the unit's item; take_result(packet, event) when it has left
//   sent(packet)         the bytes that enter; set_side_band(packet, control) sets the side band
//   bytes_out(packet), expected(packet, index, beat_bytes)   the output, beat by beat
//   describe(packet, left)   the packet in readable form, before or after the block
//   Coverage, Counts     coverage and counts of the packets: count(packet), text()
//   LookUps              for a block with look-ups: answers them, see context_look_ups.h
//   kOneBeat             defined if each packet has one beat
#pragma once
#include <fmt/format.h>

#include <functional>
#include <optional>

#include "rtl/cpp/block_rtl.h"
#include "testbench/lockstep/lives.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/lockstep/pins.h"

namespace hca::testbench {
// The part of a run between two resets.
template <class Pair>
class LockstepLife {
 public:
  using Cycle = engine::Cycle;
  using Packet = typename Pair::Packet;
  using OutBeat = rtl::BeatOf<typename Pair::Out>;
  using Rtl = rtl::BlockRtl<typename Pair::In, typename Pair::Out>;
  using Result = LockstepResult<Pair>;

  // `before`: the cycles of the run before this life, which counts its own from 1 on.
  LockstepLife(const LockstepOptions<Pair>& options, u64 seed, Rotation& turns, Rtl& rtl,
               Result& result, Cycle before)
      : options_(options),
        before_(before),
        stalls_(seed, options.stall_percent),
        twin_(seed, options.given, turns, options.twin, options.rooms, stalls_),
        rtl_(rtl),
        sender_(seed ^ 0x5eed, options.twin.beat_bytes),
        receiver_(options.rooms, stalls_),
        gaps_(seed ^ 0x6a95),
        result_(result) {
    if constexpr (kLooksUp<Pair>) look_ups_.begin(*rtl_.look_ups());
  }

  // Runs one cycle: the twin, the RTL, the comparison, the clock edge.
  void cycle(Cycle at) {
    twin_.run_cycle(at);
    const bool withdraws = options_.withdraw_grants && grant_stands_ && gaps_.chance(1, 50);
    rtl_.begin_cycle(receiver_.ready() && !withdraws);
    if constexpr (kLooksUp<Pair>) look_ups_.answer(at, *rtl_.look_ups());
    const bool idle = !sender_.inside_packet();
    const bool offered = sender_.on_offer(twin_.offers, at), ready = rtl_.in_ready();
    result_.held_cycles += offered && !ready;
    const bool gap = options_.break_contract && !idle && gaps_.chance(1, 50);
    const std::shared_ptr<Packet> starting = offered ? twin_.offers.front().packet : nullptr;
    if (offered && (twin_.open() || Pair::Unit::kHasRoom)) note_start(*starting);
    const bool forced = options_.break_contract && kOneBeat && offered && !ready;
    const auto* beat = gap ? nullptr : sender_.beat(twin_.offers, at, ready || forced);
    rtl_.drive(beat);
    Pins pins{ready, rtl_.out_start(), rtl_.out_valid(), {}};
    if (idle && beat) pins.in_ready = rtl_.in_ready();  // it may have looked at `valid`
    if (pins.out_valid) {
      pins.out = rtl_.out();
      pins.out_has_spare_bits = rtl_.out_has_spare_bits();
    }
    const bool start = pins.out_start, valid = pins.out_valid;
    const bool first = pins.out.control.first, last = pins.out.control.last;
    put_fault(at, idle, pins);
    if constexpr (kLooksUp<Pair>) {
      if (idle && beat) look_ups_.note_sent(starting);
      compare_asks(at);
      if (valid) look_ups_.write(pins.out.control);
    }
    compare_inputs(at, idle, starting.get(), idle && beat, pins);
    const auto expected = expect(at);
    compare_outputs(at, pins, expected);
    rtl_.show_model(expected);
    grant_stands_ = receiver_.ready() && !start;
    receiver_.end_cycle(at, start, valid, first, last);
    rtl_.end_cycle();
    result_.assertion_failed = rtl_.assertion_failed();
    result_.ended = rtl_.has_ended();
  }

  // Runs a cycle after the last one compared, for the waveform. RTL and model may diverge here, so
  // nothing starts any more; the packet that enters goes on.
  void run_on(Cycle at) {
    twin_.run_cycle(at);
    rtl_.begin_cycle(receiver_.ready());
    if constexpr (kLooksUp<Pair>) look_ups_.answer(at, *rtl_.look_ups());
    rtl_.drive(sender_.inside_packet() ? sender_.beat(twin_.offers, at, true) : nullptr);
    rtl_.show_model(expect(at));
    rtl_.end_cycle();
  }

 private:
  // The values of the RTL's pins in one cycle.
  struct Pins {
    bool in_ready = false, out_start = false, out_valid = false;
    OutBeat out{};
    bool out_has_spare_bits = false;
  };

  // The model's pins of this cycle; after its last beat a packet has left.
  rtl::ExpectedPins<typename Pair::Out> expect(Cycle at) {
    rtl::ExpectedPins<typename Pair::Out> pins{
        before_ + at, twin_.grants(), twin_.started(), false, {}};
    leaving_.reset();
    if (twin_.outputs.empty() || twin_.outputs.front().first_beat > at) return pins;
    leaving_ = twin_.outputs.front().packet;
    leaving_beat_ = u32(at - twin_.outputs.front().first_beat);
    pins.out_valid = true;
    pins.out = Pair::expected(*leaving_, leaving_beat_, beat_bytes());
    if (pins.out.control.last) twin_.outputs.pop_front();
    return pins;
  }

  // A packet is on offer in a cycle in which one can start, if there is room after the block.
  void note_start(Packet& p) {
    if (!twin_.grants())
      p.start = Start::Held;
    else if (!was_closed_ && p.start != Start::Held)
      p.start = Start::AfterPause;
  }

  // Compares the look-up requests of this cycle.
  void compare_asks(Cycle at) {
    auto& asks = look_ups_.take_asks(at, *rtl_.look_ups());
    for (unsigned i = 0; i < asks.size(); ++i) {
      auto& expected = i ? twin_.region_asks : twin_.context_asks;
      const bool asks_now = !expected.empty() && expected.front().at == at;
      const std::string port = i ? "region_ask" : "context_ask";
      if (asks_now != asks[i].has_value())
        differ(at, port.c_str(),
               {"valid", fmt::format("{:d}", asks_now), fmt::format("{:d}", asks[i].has_value())},
               look_ups_.describe());
      else if (asks_now && expected.front().number != *asks[i])
        differ(at, port.c_str(),
               {"number", fmt::format("{:#x}", expected.front().number),
                fmt::format("{:#x}", *asks[i])},
               look_ups_.describe());
      if (asks_now) expected.pop_front();
    }
  }

  void compare_inputs(Cycle at, bool idle, const Packet* offered, bool entered, const Pins& pins) {
    const auto say = [&](const char* port, const char* field, bool model, bool rtl) {
      if (model != rtl)
        differ(at, port, {field, fmt::format("{:d}", model), fmt::format("{:d}", rtl)},
               offered ? Pair::describe(*offered, false) : "no packet on offer\n");
    };
    if (Pair::Unit::kHasRoom || (idle && twin_.open()))
      say("packets_out", "ready", twin_.room_behind(), receiver_.ready());
    if (idle) {  // a packet could start
      say("packets_in", "ready", twin_.grants(), pins.in_ready);
      result_.full_rate_starts += entered && was_closed_;
    }
    say("packets_out", "start", twin_.started(), pins.out_start);
    was_closed_ = !idle || !twin_.open() || entered;
  }

  void compare_outputs(Cycle at, const Pins& pins,
                       const rtl::ExpectedPins<typename Pair::Out>& model) {
    if (model.out_valid != pins.out_valid) {
      const bool inside = leaving_ || !twin_.outputs.empty();
      return differ(
          at, "packets_out",
          {"valid", fmt::format("{:d}", model.out_valid), fmt::format("{:d}", pins.out_valid)},
          inside ? Pair::describe(leaving_ ? *leaving_ : *twin_.outputs.front().packet, true)
                 : "no packet inside\n");
    }
    if (!model.out_valid) return;
    const OutBeat& expected = model.out;
    auto unequal = difference(expected.control, pins.out.control, true);
    if (!unequal)
      unequal = difference(expected.data, pins.out.data, leaving_beat_ * beat_bytes(), Pair::kData);
    if (!unequal) unequal = difference(expected.control, pins.out.control, false);
    if (!unequal && pins.out_has_spare_bits) unequal = {"bits of no field", "0", "not 0"};
    if (unequal)
      differ(at, "packets_out", *unequal,
             fmt::format("beat {} of {}, {}", leaving_beat_,
                         beats_of(Pair::bytes_out(*leaving_), beat_bytes()),
                         Pair::describe(*leaving_, true)));
    ++result_.beats;
    if (!expected.control.last) return;
    ++result_.packets;
    result_.counts.count(*leaving_);
    result_.coverage.count(*leaving_);
  }

  void differ(Cycle at, const char* port, const PinDifference& d, std::string packet) {
    if (!result_.divergence)  // the first one counts
      result_.divergence = {before_ + at,    port, d.field, d.model, d.rtl, std::move(packet),
                            before_ ? at : 0};
  }

  void put_fault(Cycle at, bool idle, Pins& pins) {
    using Kind = PinFault::Kind;
    const PinFault& fault = options_.fault;
    if (fault.kind == Kind::None || before_ + at < fault.from || result_.fault_at) return;
    const bool beat = pins.out_valid;
    const auto put = [&](bool shows, auto change) {
      if (shows) {
        change();
        result_.fault_at = before_ + at;
      }
    };
    switch (fault.kind) {
      case Kind::None:
        break;
      case Kind::DataBit:
        put(beat, [&] { pins.out.data[fault.bit / 8] ^= u8(1u << fault.bit % 8); });
        break;
      case Kind::Field:
        put(beat, [&] { turn_field(pins.out.control, fault.field); });
        break;
      case Kind::BeatLost:
        put(beat, [&] { pins.out_valid = false; });
        break;
      case Kind::BeatInvented:
        put(!beat, [&] { pins.out_valid = true; });
        break;
      case Kind::ReadyLost:
        put(idle && pins.in_ready, [&] { pins.in_ready = false; });
        break;
      case Kind::ReadyInvented:
        put(idle && !pins.in_ready, [&] { pins.in_ready = true; });
        break;
      case Kind::StartLost:
        put(pins.out_start, [&] { pins.out_start = false; });
        break;
    }
  }

  u32 beat_bytes() const { return rtl_.beat_bytes(); }

  static constexpr bool kOneBeat = requires { Pair::kOneBeat; };
  struct None {};
  template <class P>
  struct LookUpsOf {
    using Type = None;
  };
  template <class P>
  requires requires { typename P::LookUps; }
  struct LookUpsOf<P> {
    using Type = typename P::LookUps;
  };

  const LockstepOptions<Pair>& options_;
  const Cycle before_;
  Stalls stalls_;
  Twin<Pair> twin_;
  Rtl& rtl_;
  PinSender<Pair> sender_;
  PinReceiver receiver_;
  typename LookUpsOf<Pair>::Type look_ups_;
  engine::Random gaps_;
  bool grant_stands_ = false;  // given in the cycle before and not taken
  bool was_closed_ = false;    // in the cycle before no packet could have started after another
  std::shared_ptr<Packet> leaving_;  // the packet of the model's beat, and which beat
  u32 leaving_beat_ = 0;
  Result& result_;
};

template <class Pair>
class LockstepRun {
 public:
  using Cycle = engine::Cycle;
  using Result = LockstepResult<Pair>;

  explicit LockstepRun(const LockstepOptions<Pair>& options)
      : options_(options),
        rtl_(options.rtl ? options.rtl() : typename Pair::Rtl(options.twin.beat_bytes)),
        lives_(options.given.any() ? 0 : options.reset_every),
        resets_(options.seed ^ 0x4e5e) {
    result_.coverage = typename Pair::Coverage(rtl_.beat_bytes());
  }

  Result run(Cycle waves_from, const std::string& waves) {
    waves_from_ = waves.empty() ? engine::kNever : waves_from;
    waves_ = waves;
    u64 seed = options_.seed;
    for (live(seed); goes_on(); live(engine::split_mix(seed))) reset();
    rtl_.trace_end();
    return std::move(result_);
  }

 private:
  static constexpr Cycle kWavesBehind = 16;

  bool goes_on() const { return result_.cycles < options_.cycles && result_.equal(); }
  void begin_cycle() {
    if (++result_.cycles == waves_from_) rtl_.trace_to(waves_);
  }
  void live(u64 seed) {
    const Cycle before = result_.cycles, most = lives_.next(resets_);
    LockstepLife<Pair> life(options_, seed, turns_, rtl_, result_, before);
    while (goes_on() && result_.cycles - before < most) {
      begin_cycle();
      life.cycle(result_.cycles - before);
    }
    if (result_.equal() || waves_.empty()) return;
    for (Cycle more = 1; more <= kWavesBehind; ++more) life.run_on(result_.cycles - before + more);
  }
  void reset() {
    rtl_.set_reset(true);
    bool clocked = false;
    for (u64 cycles = 1 + resets_.below(3); cycles && goes_on(); --cycles, clocked = true) {
      begin_cycle();
      rtl_.begin_cycle(resets_.chance(1, 2));
      rtl_.drive(nullptr);
      if (clocked) compare_in_reset();
      rtl_.show_model({result_.cycles, false, false, false, {}});
      rtl_.end_cycle();
      result_.ended = rtl_.has_ended();
    }
    rtl_.set_reset(false);
    ++result_.resets;
  }
  // After the first clock edge of a reset no start, no output and no look-up request may appear.
  void compare_in_reset() {
    const auto silent = [&](const char* port, const char* field, bool rtl) {
      if (rtl && !result_.divergence)
        result_.divergence = {result_.cycles, port, field, "0", "1", "in reset\n"};
    };
    silent("packets_out", "start", rtl_.out_start());
    silent("packets_out", "valid", rtl_.out_valid());
    if constexpr (kLooksUp<Pair>) {
      silent("context_ask", "valid", rtl_.look_ups()->context_asked().has_value());
      if constexpr (requires { rtl_.look_ups()->region_asked(); })
        silent("region_ask", "valid", rtl_.look_ups()->region_asked().has_value());
    }
  }

  LockstepOptions<Pair> options_;
  rtl::BlockRtl<typename Pair::In, typename Pair::Out> rtl_;
  Lives lives_;
  engine::Random resets_;
  Rotation turns_;
  Cycle waves_from_ = engine::kNever;
  std::string waves_;
  Result result_;
};

// With `waves`, a run that ends with a divergence or an assertion is repeated with a waveform of
// its last cycles.
template <class Run, class Pair>
typename Run::Result run_with_waves(const LockstepOptions<Pair>& options) {
  constexpr engine::Cycle kWavesBefore = 64;
  auto result = Run(options).run(0, "");
  if (result.equal() || options.waves.empty()) return result;
  // The repeated run has the same seed, so it is identical.
  result.waves_from = std::max(result.cycles, kWavesBefore) - kWavesBefore + 1;
  Run(options).run(result.waves_from, options.waves);
  result.waves = options.waves;
  return result;
}
template <class Pair>
LockstepResult<Pair> run_lockstep(const LockstepOptions<Pair>& options) {
  return run_with_waves<LockstepRun<Pair>>(options);
}
}  // namespace hca::testbench
