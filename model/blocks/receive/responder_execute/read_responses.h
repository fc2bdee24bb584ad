// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/port/tx_start.h"
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/blocks/receive/responder_execute/response_packets.h"

namespace hca::blocks {
// Executes READs, from the time they may begin to their response packets. The queue pairs of a port
// take turns packet by packet.
class ReadResponses : ResponderPart {
 public:
  ReadResponses(const ResponderPart& shared, const PerPort<TxRelease>& timing, Outcomes& outcomes,
                ResponsePackets& responses)
      : ResponderPart(shared),
        by_port_{OfPort(timing[0]), OfPort(timing[1])},
        outcomes_(outcomes),
        responses_(responses) {}

  // Takes an outcome that may begin.
  void begin(u32 qpn, ResponderQueue& q, Outcome& outcome);
  bool any(unsigned port) const { return !by_port_[port].reads.empty(); }
  // Requests the data of one response packet of a port that has READs.
  bool ask(unsigned port);
  // The data of a response packet are here: it goes to responder_reply.
  void forward(unsigned port);
  DmaCallbacks client();

 private:
  // The rest of a response packet's data, which is in another page.
  struct Rest {
    Packet* packet = nullptr;
    proto::Run run{};
    u32 offset = 0;
  };
  static constexpr u32 kRest = ~u32{0};  // a rest; stands among queue pairs
  struct OfPort {
    explicit OfPort(const TxRelease& timing_of_port) : timing(timing_of_port) {}
    TxRelease timing;
    Ring<u32> reads;  // queue pairs whose first outcome is a READ; kRest: the turn of a rest
    Rest rest;
    Cycle last_response = 0;
    Cycle next_read = 0;     // another READ may begin then
    Cycle read_counted = 0;  // waits for next_read are counted up to here
  };
  bool has_buffer(unsigned port);
  void wait_for_interval(OfPort& port);
  void ask_packet(OfPort& port, u32 qpn, ResponderQueue& q);
  void ask_pages(OfPort& port, const Outcome& outcome, const proto::ReadResponsePlan& plan,
                 Packet* p);
  void ask_rest(Rest& rest);
  void arrived(Packet* p, Cycle first, Cycle last);
  void refuse_unread(const Packet& packet, ResponderQueue& q);

  PerPort<OfPort> by_port_;
  Outcomes& outcomes_;
  ResponsePackets& responses_;
};
}  // namespace hca::blocks
