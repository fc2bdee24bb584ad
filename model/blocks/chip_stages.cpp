// SPDX-License-Identifier: Apache-2.0
// How many items the stages of the chip hold.
#include <algorithm>

#include "model/blocks/chip.h"

namespace hca::blocks {
// Items in flight through the stages of a segment occupy places of the link after them from their
// entry on: one item each `interval` for `latency` cycles, plus the cycle in which a place becomes
// free. So a longer latency costs time, but no rate.
void Chip::make_room_for_stages() {
  const auto give = [](auto* link, Cycle latency, Cycle interval) {
    if (link) link->deepen(unsigned((latency + interval) / interval));
  };
  const ChipConfig& c = config;
  const Cycle context = c.qp_context.latency, key = c.protection.latency;

  const auto bell = [&](auto* link) { give(link, c.doorbell.latency, c.doorbell.interval); };
  bell(doorbell.outputs.send_out);
  bell(doorbell.outputs.cq_out);
  bell(doorbell.outputs.eq_out);
  bell(doorbell.outputs.command_out);
  for (unsigned i = 0; i < ports.size(); ++i) bell(doorbell.outputs.receive_out[i]);

  give(qp_scheduler.outputs.turns_out, c.qp_scheduler.latency, c.qp_scheduler.interval);
  give(wqe_fetch.outputs.dma_out, c.wqe_fetch.latency, c.wqe_fetch.interval);
  give(packetizer.dma_out, context + key + c.requester.latency + c.packetizer.latency,
       std::max(c.requester.interval, c.packetizer.interval));

  for (unsigned i = 0; i < ports.size(); ++i) {
    const Cycle checked = c.icrc_unit.latency + context, interval = c.icrc_unit.interval;
    PortReceive::Outputs& out = ports[i]->receive.outputs;
    give(out.requests_out, checked + key + c.responder_check.latency,
         std::max(interval, c.responder_check.interval));
    give(out.acks_out, checked + c.response_check.latency,
         std::max(interval, c.response_check.interval));
    give(out.cnps_out, c.congestion.latency, c.congestion.interval);
    give(responder_reply.ports[i].packets_out, c.responder_reply.latency,
         c.responder_reply.interval);
  }
  give(responder_execute.outputs.payload_out, key + c.responder_execute.latency,
       c.responder_execute.interval);
  give(completion.outputs.dma_out, c.completion.latency, c.completion.interval);
  give(event.outputs.dma_out, c.event.latency, c.event.interval);
}
}  // namespace hca::blocks
