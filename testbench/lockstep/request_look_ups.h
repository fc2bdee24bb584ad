// SPDX-License-Identifier: Apache-2.0
// Who answers the look-ups of rtl/responder_check/responder_check.sv: the contexts as its
// write-backs left them, and the regions that the stimulus gave to its requests.
#pragma once
#include <unordered_map>

#include "rtl/common/look_up_pins.h"
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
class RequestLookUps {
 public:
  using Packet = std::shared_ptr<ResponderCheckPacket>;

  void begin(rtl::LookUpPins& pins) { pins_ = &pins; }
  // The answers that come in this cycle; they hold the write-backs of the cycles before.
  void answer(engine::Cycle at, rtl::LookUpPins& pins);
  // A packet whose first beat enters the RTL, and with it the P_Key table that it finds.
  void note_sent(const Packet& packet);
  // What the RTL asks for in this cycle: a QPN, an R_Key.
  std::array<std::optional<u32>, 2>& take_asks(engine::Cycle at, const rtl::LookUpPins& pins);
  void write(const rtl::Judged& judged);
  std::string describe() const;

 private:
  struct Asked {
    Packet packet;
    engine::Cycle from;
  };
  struct Queue {
    u32 consumed, limit;
  };
  rtl::CheckedContext context_of(const ResponderCheckPacket& p);

  rtl::LookUpPins* pins_ = nullptr;
  std::shared_ptr<const proto::PortAttributes> port_;
  std::deque<Packet> sent_, answered_;  // requests whose context, whose region is not asked for
  std::deque<Asked> contexts_, regions_;
  std::unordered_map<u32, rtl::CheckedState> states_;  // by QPN
  std::unordered_map<u32, Queue> queues_;              // by SRQN
  std::array<std::optional<u32>, 2> asks_;
};
}  // namespace hca::testbench
