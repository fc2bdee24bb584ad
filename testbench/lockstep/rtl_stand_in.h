// SPDX-License-Identifier: Apache-2.0
// A Verilated block in place of a unit of the model: an item passes alone, beat by beat. The
// block's clock runs from the item's first beat to its last one out, and then stops.
//
// The template argument Pins describes the pins of one item:
//   Item, Rtl, kName; In and Out, the side bands of the RTL
//   Pins(item)            takes the inputs from the item
//   sent(), set_side_band(control)   its bytes, and the side band of a beat
//   take(beat)            a beat that has left
//   finish(item)          writes the results to the item
//   answer(look_ups)      for a block with look-ups, in each cycle: true with the last answer
#pragma once
#include <fmt/format.h>

#include <stdexcept>

#include "model/blocks/lib/stand_in.h"
#include "testbench/lockstep/pins.h"

namespace hca::testbench {
template <class Pins>
class RtlStandIn : public blocks::StandIn<typename Pins::Item> {
 public:
  using Item = typename Pins::Item;
  using Rtl = rtl::BlockRtl<typename Pins::In, typename Pins::Out>;
  // `latency`: cycles from the first beat in, or from the last answer of the look-ups, to the first
  // beat out, by the contract of the unit. Errors are: another latency, a pause between beats, or a
  // next item that could not begin when this one's beats are through.
  RtlStandIn(Rtl rtl, engine::Cycle latency) : rtl_(std::move(rtl)), latency_(latency) {}

  void process(Item& item) override {
    Pins pins(item);
    std::optional<engine::Cycle> counted_from, out_from;
    u32 beats = 0, beats_out = 0;            // that have entered, that have left
    engine::Cycle first_in = 0, closed = 0;  // the last cycle in which no item could have begun
    bool last = false;
    for (engine::Cycle at = 0; !last; ++at) {
      rtl_.begin_cycle(true);
      if constexpr (kLooksUp) {
        if (pins.answer(*rtl_.look_ups())) counted_from = at;
      }
      const bool begins = !beats;
      beats = drive(pins, beats);
      if (begins && beats) first_in = at;
      if (!kLooksUp && begins && beats) counted_from = at;
      if (!rtl_.in_ready()) closed = at;
      if (rtl_.out_valid()) {
        const auto out = rtl_.out();
        last = out.control.last;
        pins.take(out);
        if (!out_from) out_from = at;
        ++beats_out;
      } else if (out_from) {
        fail("no beat leaves in the midst of an item", at);
      }
      if constexpr (kLooksUp) pins.look(*rtl_.look_ups());
      rtl_.end_cycle();
      if (rtl_.assertion_failed()) fail("an assertion of the RTL failed", at);
      if (rtl_.has_ended()) fail("the RTL has ended the simulation", at);
      if (at > kPatience) fail("nothing has left", at);
    }
    if (!counted_from || *out_from - *counted_from != latency_)
      fail(fmt::format("the first beat left {} cycles behind {}, by its contract {}",
                       *out_from - counted_from.value_or(0),
                       kLooksUp ? "the last answer" : "the first one", latency_),
           *out_from);
    const engine::Cycle again = first_in + std::max(beats, beats_out);
    if (closed >= again)
      fail(fmt::format("no item is taken {} cycles behind the first beat, by its contract {}",
                       closed - first_in, again - first_in),
           closed);
    pins.finish(item);
  }

 private:
  static constexpr bool kLooksUp = requires(Pins pins, Rtl rtl) { pins.answer(*rtl.look_ups()); };
  static constexpr engine::Cycle kPatience = 10'000;  // cycles

  // The next beat, after the grant, and the number of beats that have entered.
  u32 drive(const Pins& pins, u32 beat) {
    const std::span<const u8> bytes = pins.sent();
    if (beat == beats_of(u32(bytes.size()), rtl_.beat_bytes()) || (!beat && !rtl_.in_ready())) {
      rtl_.drive(nullptr);
      return beat;
    }
    auto in = beat_of<typename Pins::In>(bytes, beat, rtl_.beat_bytes());
    pins.set_side_band(in.control);
    rtl_.drive(&in);
    return beat + 1;
  }
  [[noreturn]] void fail(const std::string& what, engine::Cycle at) const {
    throw std::runtime_error(fmt::format("rtl/{0}/{0}.sv in the path: {1}, {2} cycles into an item",
                                         Pins::kName, what, at));
  }

  Rtl rtl_;
  engine::Cycle latency_;
};
}  // namespace hca::testbench
