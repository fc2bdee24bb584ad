// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/chip.h"

namespace hca::blocks {
Chip::Chip(const ChipConfig& c, engine::Domain::Options options, HostTiming& timing,
           Outside& outside)
    : config(c),
      domain(options),
      qp_context(config.qp_context),
      protection(config.protection, qp_context.contexts),
      doorbell(config.doorbell),
      qp_scheduler(config.qp_scheduler, qp_context.contexts),
      wqe_fetch(config.wqe_fetch, qp_context.contexts),
      packetizer(config.packetizer, protection,
                 engine::Rate(config.port.link_rate, config.core.clock)),
      requester(config.requester, config.core.clock, qp_context, protection, packetizer),
      port_transmit(config.port, config.icrc_unit, config.core.clock, outside),
      congestion(config.congestion, config.core.clock),
      responder_check(config.responder_check, qp_context, protection),
      response_check(config.response_check, qp_context),
      port_receive(config.port, config.icrc_unit, config.core.clock, qp_context.contexts,
                   responder_check, response_check, congestion),
      responder_execute(
          config.responder_execute,
          {config.packetizer.tx_start, engine::Rate(config.port.link_rate, config.core.clock)},
          qp_context.contexts, protection),
      responder_reply(config.responder_reply, qp_context.contexts),
      completion(config.completion, qp_context.contexts),
      event(config.event, qp_context.contexts),
      dma(timing, outside),
      command(config.command, qp_context.contexts, requester, responder_execute) {
  qp_context.contexts =
      Contexts({config.core.max_qps, config.core.max_cqs, config.core.max_eqs,
                config.core.max_regions, config.core.max_pds, config.core.max_vectors, 1});
  qp_context.contexts.options.credits = config.core.credits;
  responder_check.reads_finished = &responder_execute.reads_finished;
  add_blocks();
  connect_requester();
  connect_responder();
  connect_completion();
  connect_dma();
  add_probes();
}

template <class B>
void Chip::add(B& block, const char* name) {
  block.self = {&domain, domain.add(block, name)};
}

template <class T, unsigned N>
void Chip::connect(engine::Block& writer, engine::Link<T, N>*& out, engine::Block& reader,
                   engine::Link<T, N>& in, const char* name) {
  out = &in;
  in.connect(writer.self, reader.self, name);
}

// What the engine activates. The other blocks are stages of a segment: packetizer of requester,
// responder_check, response_check and congestion of port_receive, icrc_unit of both halves of port,
// look-ups of whoever asks.
void Chip::add_blocks() {
  add(doorbell, "doorbell"), add(qp_scheduler, "qp_scheduler"), add(wqe_fetch, "wqe_fetch");
  add(requester, "requester"), add(port_transmit, "port_transmit"),
      add(port_receive, "port_receive");
  add(responder_execute, "responder_execute"), add(responder_reply, "responder_reply");
  add(completion, "completion"), add(event, "event"), add(dma, "dma");
  command.self = {&domain, domain.add_last(command, "command")};
}

void Chip::connect_requester() {
  connect(doorbell, doorbell.ports.send_out, qp_scheduler, qp_scheduler.bells_in, "send doorbells");
  connect(qp_scheduler, qp_scheduler.ports.turns_out, wqe_fetch, wqe_fetch.turns_in, "turns");
  connect(dma, wqe_fetch.turns_out, requester, requester.turns_in, "fetched turns");
  connect(requester, requester.ports.notes_out, qp_scheduler, qp_scheduler.notes_in, "notes");
  connect(dma, packetizer.packets_out, port_transmit, port_transmit.requests_in, "request packets");
  qp_scheduler.turns.connect(qp_scheduler.self, "turn buffers");
  requester.turns = &qp_scheduler.turns;
  packetizer.buffers.connect(requester.self, "packet buffers");
  requester.placed_in.connect(dma.self, requester.self, "placed responses");
  port_transmit.counters = &port_receive.counters;
  port_transmit.contexts = &qp_context.contexts;
}

void Chip::connect_responder() {
  port_receive.packets_in.connect(port_receive.self, "wire");
  connect(doorbell, doorbell.ports.receive_out, port_receive, port_receive.bells_in,
          "receive doorbells");
  connect(port_receive, port_receive.ports.requests_out, responder_execute,
          responder_execute.packets_in, "judged requests");
  connect(port_receive, port_receive.ports.bells_out, responder_execute, responder_execute.bells_in,
          "posted receives");
  connect(port_receive, port_receive.ports.acks_out, requester, requester.acks_in,
          "acknowledgements");
  connect(port_receive, port_receive.ports.cnps_out, responder_reply, responder_reply.cnps_in,
          "CNPs");
  connect(responder_execute, responder_execute.ports.replies_out, responder_reply,
          responder_reply.replies_in, "answers");
  connect(responder_reply, responder_reply.ports.packets_out, port_transmit,
          port_transmit.replies_in, "reply packets");
  responder_execute.batches_in.connect(dma.self, responder_execute.self, "receive WQEs");
  responder_execute.ordered_in.connect(dma.self, responder_execute.self, "ordered payloads");
  responder_execute.responses_in.connect(dma.self, responder_execute.self, "READ responses");
  responder_execute.atomic_in.connect(dma.self, responder_execute.self, "ATOMIC value");
  responder_execute.responses.connect(responder_execute.self, "response buffers");
}

void Chip::connect_completion() {
  connect(doorbell, doorbell.ports.cq_out, completion, completion.bells_in, "CQ doorbells");
  connect(requester, requester.ports.completions_out, completion, completion.completions_in[0],
          "send completions");
  connect(responder_execute, responder_execute.ports.completions_out, completion,
          completion.completions_in[1], "receive completions");
  completion.written_in.connect(dma.self, completion.self, "CQEs in memory");
  completion.buffers.connect(completion.self, "CQE buffers");
  connect(completion, completion.ports.events_out, event, event.events_in[0], "completion events");
  event.buffers.connect(event.self, "EQE buffers");
  connect(doorbell, doorbell.ports.eq_out, event, event.bells_in, "EQ doorbells");
  connect(doorbell, doorbell.ports.command_out, command, command.bells_in, "command doorbells");
  connect(requester, requester.ports.faults_out, command, command.faults_in[0], "requester faults");
  connect(responder_execute, responder_execute.ports.faults_out, command, command.faults_in[1],
          "responder faults");
  connect(completion, completion.ports.faults_out, command, command.faults_in[2],
          "completion faults");
  connect(port_receive, port_receive.ports.events_out, command, command.faults_in[3],
          "port events");
  connect(command, command.ports.events_out, event, event.events_in[1], "asynchronous events");
  command.blocks_in.connect(dma.self, command.self, "command blocks");
  doorbell.writes_in.connect(doorbell.self, "BAR");
}

void Chip::connect_dma() {
  const auto add_client = [&](DmaClient which, engine::Block& block, DmaLink*& out,
                              Dma::Client client, const char* name) {
    connect(block, out, dma, dma.requests_in[unsigned(which)], name);
    dma.clients[unsigned(which)] = client;
  };
  add_client(DmaClient::Command, command, command.ports.dma_out, command.client(), "command DMA");
  add_client(DmaClient::WqeFetch, wqe_fetch, wqe_fetch.ports.dma_out, wqe_fetch.client(),
             "WQE DMA");
  add_client(DmaClient::Packetizer, requester, packetizer.dma_out, packetizer.client(),
             "payload reads");
  add_client(DmaClient::ReceiveWqe, responder_execute, responder_execute.ports.receive_wqes_out,
             responder_execute.receive_wqe_client(), "receive WQE DMA");
  add_client(DmaClient::Payload, responder_execute, responder_execute.ports.payload_out,
             responder_execute.payload_client(), "payload writes");
  add_client(DmaClient::ReadResponse, responder_execute, responder_execute.ports.reads_out,
             responder_execute.read_client(), "READ and ATOMIC reads");
  add_client(DmaClient::Response, requester, requester.ports.responses_out,
             requester.response_client(), "response writes");
  add_client(DmaClient::Completion, completion, completion.ports.dma_out, completion.client(),
             "CQE DMA");
  add_client(DmaClient::Event, event, event.ports.dma_out, event.client(), "EQE DMA");
  packetizer.dma = wqe_fetch.dma = responder_execute.dma = completion.dma = event.dma =
      command.dma = requester.dma = dma.self;
}

void Chip::add_probes() {
  const auto add_probe = [&](engine::Probe& probe, std::string_view name) {
    probe = probes.add(name, kStepNames);
  };
  add_probe(doorbell.probe, "doorbell"), add_probe(command.probe, "command");
  add_probe(qp_scheduler.probe, "qp_scheduler"), add_probe(wqe_fetch.probe, "wqe_fetch");
  // A block with several ports has a probe for each: the order of events is that of one port.
  for (engine::Probe& probe : qp_context.probes) add_probe(probe, "qp_context");
  for (engine::Probe& probe : protection.probes) add_probe(probe, "protection");
  add_probe(requester.probe, "requester"), add_probe(packetizer.probe, "packetizer");
  add_probe(port_transmit.icrc_probe, "icrc_unit"), add_probe(port_transmit.probe, "port");
  add_probe(port_receive.icrc_probe, "icrc_unit"), add_probe(port_receive.probe, "port");
  add_probe(responder_check.probe, "responder_check"),
      add_probe(response_check.probe, "response_check");
  add_probe(responder_execute.probe, "responder_execute"),
      add_probe(responder_reply.probe, "responder_reply");
  add_probe(completion.probe, "completion"), add_probe(event.probe, "event");
  add_probe(congestion.probe, "congestion");
}
}  // namespace hca::blocks
