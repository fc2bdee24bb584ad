// SPDX-License-Identifier: Apache-2.0
// Another implementation that replaces a unit: Verilated RTL, or a user's block.
//
// It gets the same items as the unit between links (tick() of a PacketUnit or LookUpUnit) and must
// transform them in the same way. Timing comes from the knobs of the replaced unit; a stand-in only
// supplies the function. The RTL checks its own cycle count.
#pragma once
#include "model/blocks/lib/per_port.h"
#include "model/blocks/port/icrc_unit.h"
#include "model/blocks/twins/completion_unit.h"
#include "model/blocks/twins/packetizer_unit.h"
#include "model/blocks/twins/requester_psn_unit.h"
#include "model/blocks/twins/responder_check_unit.h"
#include "model/blocks/twins/rx_parser_unit.h"

namespace hca::blocks {
template <class Item>
class StandIn {
 public:
  virtual ~StandIn() = default;
  virtual void process(Item& item) = 0;
};

// The stand-ins, place by place; nullptr: none. They must outlive the chip.
struct PortStandIns {
  StandIn<PacketizerItem>* packetizer = nullptr;  // for all packets that the port sends
  StandIn<IcrcItem>* icrc_out = nullptr;
  StandIn<IcrcItem>* icrc_in = nullptr;
  StandIn<RxParserItem>* rx_parser = nullptr;
  StandIn<ResponderCheckItem>* responder_check = nullptr;

  bool sends() const { return packetizer || icrc_out; }
  bool receives() const { return icrc_in || rx_parser; }
};
struct StandIns {
  PerPort<PortStandIns> port;
  StandIn<RequesterPsnItem>* requester_psn = nullptr;
  StandIn<CompletionItem>* completion = nullptr;
};
}  // namespace hca::blocks
