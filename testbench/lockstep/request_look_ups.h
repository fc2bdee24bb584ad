// SPDX-License-Identifier: Apache-2.0
// Answers the look-ups of rtl/responder_check/responder_check.sv: the contexts as its write-backs
// left them, and the regions that the stimulus gave to its requests.
#pragma once
#include <unordered_map>

#include "rtl/common/look_up_pins.h"
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
class RequestLookUps {
 public:
  using Packet = std::shared_ptr<ResponderCheckPacket>;

  void begin(rtl::LookUpPins& pins) { pins_ = &pins; }
  // Gives the answers of this cycle; they contain the write-backs of the cycles before.
  void answer(engine::Cycle at, rtl::LookUpPins& pins);
  // Notes a packet whose first beat enters the RTL, and the P_Key table of that cycle.
  void note_sent(const Packet& packet);
  // Takes the RTL's look-ups of this cycle: a QPN, an R_Key.
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
  std::deque<Packet> sent_, answered_;  // their context, their region is not requested yet
  std::deque<Asked> contexts_, regions_;
  std::unordered_map<u32, rtl::CheckedState> states_;  // by number, bit 24 of an EE context
  // By SRQN; with bit 24, those of queue pairs of RD.
  std::unordered_map<u32, Queue> queues_;
  std::array<std::optional<u32>, 2> asks_;
};
}  // namespace hca::testbench
