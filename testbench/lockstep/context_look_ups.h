// SPDX-License-Identifier: Apache-2.0
// Answers the look-ups of a block that requests only contexts: each as its write-backs left it.
//
// A Packet has number_of_context(); config, the context without its state; fresh, the state with
// its first packet; context_late, extra cycles until the answer. Out, the side band after the
// block, has the new state and number_of_context().
#pragma once
#include <fmt/format.h>

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include "model/engine/cycle.h"
#include "rtl/common/look_up_pins.h"

namespace hca::testbench {
template <class P, class Out>
class ContextLookUps {
 public:
  using Packet = std::shared_ptr<P>;
  using Pins = rtl::PinsOf<Out>;
  using Context = typename Pins::Context;

  void begin(Pins&) {}
  // Gives the answer of this cycle; it contains the write-backs of the cycles before.
  void answer(engine::Cycle at, Pins& pins) {
    if (contexts_.empty() || contexts_.front().from > at) return pins.answer(nullptr);
    const P& p = *contexts_.front().packet;
    auto& state = states_[p.number_of_context()];
    if (p.fresh) state = *p.fresh;
    const Context context{p.config, state};
    pins.answer(&context);
    contexts_.pop_front();
  }
  // Notes a packet whose beat enters the RTL.
  void note_sent(const Packet& packet) { sent_.push_back(packet); }
  // Takes the RTL's requests of this cycle. A request without a packet is not answered; the
  // comparison reports it.
  std::array<std::optional<u32>, 1>& take_asks(engine::Cycle at, const Pins& pins) {
    asks_ = {pins.context_asked()};
    if (asks_[0] && !sent_.empty()) {
      contexts_.push_back({sent_.front(), at + 1 + sent_.front()->context_late});
      sent_.pop_front();
    }
    return asks_;
  }
  void write(const Out& out) { states_[out.number_of_context()] = out.state; }
  std::string describe() const {
    return fmt::format("{} contexts are asked for\n", contexts_.size());
  }

 private:
  struct Asked {
    Packet packet;
    engine::Cycle from;
  };
  std::deque<Packet> sent_;  // their contexts are not requested yet
  std::deque<Asked> contexts_;
  std::unordered_map<u32, decltype(Out::state)> states_;  // by number
  std::array<std::optional<u32>, 1> asks_;
};
}  // namespace hca::testbench
