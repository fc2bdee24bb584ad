// SPDX-License-Identifier: Apache-2.0
// The names by which the blocks and units of a chip tell what passes them.
#include "model/blocks/chip.h"

namespace hca::blocks {
void Chip::add_probes() {
  const auto add_probe = [&](engine::Probe& probe, std::string_view name) {
    probe = probes.add(name, kStepNames);
  };
  add_probe(doorbell.probe, "doorbell");
  add_probe(command.probe, "command");
  add_probe(qp_scheduler.probe, "qp_scheduler");
  add_probe(wqe_fetch.probe, "wqe_fetch");
  // A table has a probe for each client: the order of events is that of one.
  add_probe(qp_context.requester.probe, "qp_context");
  add_probe(protection.requester.probe, "protection");
  add_probe(protection.execute.probe, "protection");
  add_probe(requester.probe, "requester");
  add_probe(packetizer.probe, "packetizer");
  // Items with and without a read are recorded in two ticks of a cycle.
  add_probe(wqe_fetch.not_read_probe, "wqe_fetch");
  add_probe(packetizer.not_read_probe, "packetizer");
  add_probe(responder_execute.probe, "responder_execute");
  add_probe(responder_reply.probe, "responder_reply");
  add_probe(completion.probe, "completion");
  add_probe(event.probe, "event");
  if (caches) add_probe(caches->cache.probe, "context_cache");
  for (unsigned i = 0; i < ports.size(); ++i) add_port_probes(i);
}

void Chip::add_port_probes(unsigned i) {
  ChipPort& port = *ports[i];
  const auto add_probe = [&](engine::Probe& probe, const char* name) {
    probe = probes.add(port_block_name(config.core.ports, i, name), kStepNames);
  };
  add_probe(port.transmit.icrc_probe, "icrc_unit");
  add_probe(port.transmit.probe, "port");
  add_probe(port.receive.icrc_probe, "icrc_unit");
  add_probe(port.receive.probe, "port");
  add_probe(port.responder_check.probe, "responder_check");
  add_probe(port.response_check.probe, "response_check");
  add_probe(port.congestion.probe, "congestion");
  if (port.link) add_probe(port.link->probe, "link_control");
  for (ReadPort* look_up : {&qp_context.responder[i], &qp_context.response[i]})
    look_up->probe = probes.add("qp_context", kStepNames);
  protection.responder[i].probe = probes.add("protection", kStepNames);
}
}  // namespace hca::blocks
