// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/chip.h"

#include <bit>

namespace hca::blocks {
namespace {
// The release timing of each port's wire.
PerPort<TxRelease> release_of(const ChipConfig& c) {
  const auto of = [&c](const PortConfig& port) {
    return TxRelease(c.packetizer.tx_start, engine::Rate(port.link_rate, c.core.hertz()));
  };
  return {of(c.port[0]), of(c.port[1])};
}

device::ObjectLimits limits_of(const CoreConfig& core) {
  return {.qps = core.max_qps,
          .cqs = core.max_cqs,
          .eqs = core.max_eqs,
          .regions = core.max_regions,
          .srqs = core.max_srqs,
          .pds = core.max_pds,
          .vectors = core.max_vectors,
          .ports = core.ports};
}
}  // namespace

ChipPort::ChipPort(const ChipConfig& config, unsigned port, QpContext& context,
                   device::Contexts& contexts, Protection& protection, Outside& outside)
    : transmit(config.port[port], config.icrc_unit, config.core.hertz(), outside,
               config.link_control.any() ? 2 : kMostPackets),
      congestion(config.congestion, config.core.hertz()),
      responder_check(config.responder_check, context, contexts, protection, port),
      response_check(config.response_check, context, contexts, port),
      receive(config.port[port], config.icrc_unit, config.core.hertz(), contexts, responder_check,
              response_check, congestion, port, config.payload) {
  if (config.link_control.any())
    link = std::make_unique<LinkControl>(config.link_control, config.port[port].link_rate,
                                         config.core.hertz(), contexts.ports[port], port);
}

ChipContexts::ChipContexts(const ChipConfig& c, const device::Contexts& contexts)
    : cache(c.caches, u8(std::bit_width(c.protection.page) - 1), contexts),
      turns(cache, contexts, note_queue_pair),
      fetched(cache, contexts, note_turn),
      batches(cache, contexts, note_batch) {
  for (unsigned i = 0; i < 2; ++i) completions.emplace_back(cache, contexts, note_completion);
  for (unsigned i = 0; i < c.core.ports; ++i) packets.emplace_back(cache, contexts, i);
  for (unsigned i = 0; i < c.core.ports && !c.caches.wqe.holds_all(); ++i)
    responses.emplace_back(cache, contexts, note_response);
}

Chip::Chip(const ChipConfig& c, engine::Domain::Options options, HostTiming& timing,
           Outside& outside)
    : config(c),
      domain(options),
      contexts(limits_of(config.core)),
      qp_context(config.qp_context, contexts),
      protection(config.protection, contexts),
      doorbell(config.doorbell, contexts),
      qp_scheduler(config.qp_scheduler, contexts),
      wqe_fetch(config.wqe_fetch, contexts),
      packetizer(config.packetizer, config.core.hertz(), protection, release_of(config)),
      requester(config.requester, config.core.hertz(), qp_context, contexts, protection, packetizer,
                accesses, config.qp_scheduler.policy, config.qp_scheduler.weight,
                config.link_control.lane_of_sl(), config.payload),
      responder_execute(config.responder_execute, release_of(config), contexts, protection,
                        accesses, config.link_control.lane_of_sl(), config.payload),
      responder_reply(config.responder_reply, contexts, config.core.ports),
      completion(config.completion, config.core.hertz(), contexts, accesses),
      event(config.event, contexts),
      dma(timing, outside, accesses),
      command(config.command, contexts, requester, responder_execute, accesses) {
  const CoreConfig& core = config.core;
  contexts.options = c.transport;
  for (unsigned i = 0; i < core.ports; ++i)
    ports.push_back(
        std::make_unique<ChipPort>(config, i, qp_context, contexts, protection, outside));
  if (config.caches.any()) caches = std::make_unique<ChipContexts>(config, contexts);
  contexts.needs_context_memory = config.caches.tables();
  add_blocks();
  connect_requester();
  connect_responder();
  for (unsigned i = 0; i < core.ports; ++i) connect_port(i);
  connect_completion();
  connect_dma();
  make_room_for_stages();
  add_probes();
}

const char* Chip::block_name(unsigned port, const char* name) {
  return names_.emplace_back(port_block_name(config.core.ports, port, name)).c_str();
}

const char* Chip::link_name(unsigned port, const char* name) {
  if (config.core.ports == 1) return name;
  return names_.emplace_back(std::string(name) + " of port " + std::to_string(port + 1)).c_str();
}

template <class B>
void Chip::add(B& block, const char* name) {
  block.self = {&domain, domain.add(block, name)};
}

template <class L>
void Chip::connect(engine::Block& writer, L*& out, engine::Block& reader, L& in, const char* name) {
  out = &in;
  in.connect(writer.self, reader.self, name);
}

// The blocks that the engine activates. The others are stages of a segment: packetizer of
// requester; responder_check, response_check and congestion of port_receive; icrc_unit of both
// halves of port; look-ups of their clients.
void Chip::add_blocks() {
  add(doorbell, "doorbell");
  add(qp_scheduler, "qp_scheduler");
  add(wqe_fetch, "wqe_fetch");
  add(requester, "requester");
  for (unsigned i = 0; i < ports.size(); ++i) {
    add(ports[i]->transmit, block_name(i, "port_transmit"));
    add(ports[i]->receive, block_name(i, "port_receive"));
  }
  for (unsigned i = 0; i < ports.size(); ++i)
    if (ports[i]->link) add(*ports[i]->link, block_name(i, "link_control"));
  add(responder_execute, "responder_execute");
  add(responder_reply, "responder_reply");
  add(completion, "completion");
  add(event, "event");
  add(dma, "dma");
  if (caches) add_caches();
  command.self = {&domain, domain.add_last(command, "command")};
  accesses.waiting = command.self;
}

// In front of `command`: what an entry's image shows are states between two cycles.
void Chip::add_caches() {
  add(caches->turns, "turn contexts");
  add(caches->fetched, "WQE contexts");
  add(caches->batches, "receive WQE contexts");
  add(caches->completions[0], "send completion contexts");
  add(caches->completions[1], "receive completion contexts");
  for (unsigned i = 0; i < ports.size(); ++i)
    add(caches->packets[i], block_name(i, "port_contexts"));
  // Behind requester: which message a response belongs to is a state between two cycles.
  for (unsigned i = 0; i < caches->responses.size(); ++i)
    caches->responses[i].self = {
        &domain, domain.add_last(caches->responses[i], block_name(i, "response contexts"))};
  ContextCache& cache = caches->cache;
  cache.self = {&domain, domain.add_last(cache, "context_cache")};
  cache.connect_misses();
  cache.arrived_in.connect(dma.self, cache.self, "contexts read");
  connect_gate(caches->turns);
  connect_gate(caches->fetched);
  connect_gate(caches->batches);
  for (auto& gate : caches->completions) connect_gate(gate);
  for (auto& gate : caches->packets) connect_gate(gate);
  for (auto& gate : caches->responses) connect_gate(gate);
}

template <class G>
void Chip::connect_gate(G& gate) {
  ContextCache& cache = caches->cache;
  ContextCache::Client& client = cache.clients.emplace_back();
  connect(gate, gate.gate.asks_out, cache, client.asks_in, "look-ups");
  connect(cache, client.answers_out, gate, gate.gate.answers_in, "contexts found");
  domain.watch(engine::Stalls{&gate.gate.waited(), gate.self.block, 0, "contexts"});
}

// From the writer to the reader, or to the gate before it, if there is one.
template <class L, class G>
void Chip::connect_through(engine::Block& writer, L*& out, G* gate, engine::Block& reader, L& in,
                           const char* name) {
  if (!gate) return connect(writer, out, reader, in, name);
  connect(writer, out, *gate, gate->in, name);
  connect(*gate, gate->out, reader, in, name);
}

void Chip::connect_requester() {
  connect(doorbell, doorbell.outputs.send_out, qp_scheduler, qp_scheduler.bells_in,
          "send doorbells");
  connect_through(qp_scheduler, qp_scheduler.outputs.turns_out, caches ? &caches->turns : nullptr,
                  wqe_fetch, wqe_fetch.turns_in, "turns");
  connect_through(dma, wqe_fetch.turns_out, caches ? &caches->fetched : nullptr, requester,
                  requester.turns_in, "fetched turns");
  if (caches)
    connect(wqe_fetch, wqe_fetch.not_read_out, caches->fetched, caches->fetched.not_read_in,
            "turns without reads");
  else
    connect(wqe_fetch, wqe_fetch.not_read_out, requester, requester.not_read_in,
            "turns without reads");
  connect(requester, requester.outputs.notes_out, qp_scheduler, qp_scheduler.notes_in, "notes");
  qp_scheduler.turns.connect(qp_scheduler.self, "turn buffers");
  requester.turns.buffers = &qp_scheduler.turns;
  requester.response_data.placed_in.connect(dma.self, requester.self, "placed responses");
}

void Chip::connect_responder() {
  connect_through(dma, responder_execute.batches_out, caches ? &caches->batches : nullptr,
                  responder_execute, responder_execute.batches_in, "receive WQEs");
  responder_execute.ordered_in.connect(dma.self, responder_execute.self, "ordered payloads");
  responder_execute.connect_atomics(dma.self);
}

// Connects a port's own blocks with the shared blocks before and after them.
void Chip::connect_port(unsigned i) {
  ChipPort& port = *ports[i];
  const auto name = [&](const char* link) { return link_name(i, link); };
  port.receive.packets_in.connect(port.receive.self, "wire");
  if (caches) {
    PacketGate& gate = caches->packets[i];
    gate.in.connect(gate.self, "wire");
    port.receive.arrivals_out = &gate.in;
    gate.out = &port.receive.packets_in;
  }
  port.transmit.counters = &port.receive.counters;
  port.transmit.contexts = &contexts;
  port.transmit.attributes = &contexts.ports[i];
  if (config.port[i].loop_back) port.transmit.own = &port.receive;
  if (config.transport.multicast_loop_back) port.transmit.turns = &port.receive;
  port.responder_check.reads_finished = &responder_execute.reads_finished;
  if (port.link) connect_link(i);
  engine::Block& sender = port.link ? static_cast<engine::Block&>(*port.link) : port.transmit;
  connect(dma, packetizer.ports[i].packets_out, sender,
          port.link ? port.link->requests_in : port.transmit.requests_in, "request packets");
  connect(requester, packetizer.ports[i].not_read_out, sender,
          port.link ? port.link->not_read_in : port.transmit.not_read_in,
          "request packets without reads");
  packetizer.ports[i].buffers.connect(requester.self, name("packet buffers"));
  const auto connect_lanes = [&](std::deque<engine::Budget>& lanes, engine::Block& taker,
                                 const char* buffers) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      lanes[lane].connect(
          taker.self,
          name(names_.emplace_back("lane " + std::to_string(lane) + "'s " + buffers).c_str()));
  };
  connect_lanes(packetizer.ports[i].of_lanes, requester, "packet buffers");
  connect(doorbell, doorbell.outputs.receive_out[i], port.receive, port.receive.bells_in,
          "receive doorbells");
  connect(port.receive, port.receive.outputs.requests_out, responder_execute,
          responder_execute.packets_in.add(), name("judged requests"));
  connect(port.receive, port.receive.outputs.bells_out, responder_execute,
          responder_execute.bells_in.add(), name("posted receives"));
  const auto gate = caches && !caches->responses.empty() ? &caches->responses[i] : nullptr;
  connect_through(port.receive, port.receive.outputs.acks_out, gate, requester,
                  requester.acks_in.add(), name("acknowledgements"));
  connect(port.transmit, port.transmit.sent_out, requester, requester.sent_in.add(),
          name("sent messages"));
  connect(port.receive, port.receive.outputs.cnps_out, responder_reply,
          responder_reply.ports[i].cnps_in, name("CNPs"));
  connect(port.receive, port.receive.outputs.events_out, command, command.port_faults_in.add(),
          name("port events"));
  ResponderPort& execute = responder_execute.ports[i];
  execute.responses_in.connect(dma.self, responder_execute.self, name("READ responses"));
  execute.responses.connect(responder_execute.self, name("response buffers"));
  connect_lanes(execute.of_lanes, responder_execute, "response buffers");
  ResponderReply::Port& reply = responder_reply.ports[i];
  connect(responder_execute, execute.replies_out, responder_reply, reply.replies_in,
          name("answers"));
  connect(responder_reply, reply.packets_out, sender,
          port.link ? port.link->replies_in : port.transmit.replies_in, "reply packets");
}

// Around the two halves of a port.
void Chip::connect_link(unsigned i) {
  ChipPort& port = *ports[i];
  LinkControl& link = *port.link;
  port.receive.control = &link;
  port.transmit.is_controlled = true;
  link.outputs.frames_out = port.receive.arrivals_out;
  link.frames_in.connect(link.self, "frames");
  link.freed_in.connect(link.self, "freed room");
  port.receive.stalls_in.connect(port.receive.self, "stalls");
  link.outputs.stalls_out = &port.receive.stalls_in;
  connect(link, link.outputs.packets_out, port.transmit, port.transmit.requests_in, "packets");
  connect(link, link.outputs.control_out, port.transmit, port.transmit.replies_in,
          "control frames");
  link.self.wake(1);
}

void Chip::connect_completion() {
  connect(doorbell, doorbell.outputs.cq_out, completion, completion.bells_in, "CQ doorbells");
  const auto gate = [&](unsigned i) { return caches ? &caches->completions[i] : nullptr; };
  connect_through(requester, requester.outputs.completions_out, gate(0), completion,
                  completion.completions_in[0], "send completions");
  connect_through(responder_execute, responder_execute.outputs.completions_out, gate(1), completion,
                  completion.completions_in[1], "receive completions");
  requester.outputs.completions_out->accesses = &accesses;
  responder_execute.outputs.completions_out->accesses = &accesses;
  completion.written_in.connect(dma.self, completion.self, "CQEs in memory");
  completion.buffers.connect(completion.self, "CQE buffers");
  connect(completion, completion.outputs.events_out, event, event.events_in[0],
          "completion events");
  event.buffers.connect(event.self, "EQE buffers");
  connect(doorbell, doorbell.outputs.eq_out, event, event.bells_in, "EQ doorbells");
  connect(doorbell, doorbell.outputs.command_out, command, command.bells_in, "command doorbells");
  connect(requester, requester.outputs.faults_out, command, command.faults_in[0],
          "requester faults");
  connect(requester, requester.outputs.works_out, command, command.works_in, "local work");
  connect(responder_execute, responder_execute.outputs.faults_out, command, command.faults_in[1],
          "responder faults");
  connect(completion, completion.outputs.faults_out, command, command.faults_in[2],
          "completion faults");
  connect(event, event.outputs.faults_out, command, command.faults_in[3], "event faults");
  connect(command, command.outputs.cqs_out, completion, completion.changed_in, "CQs changed");
  connect(command, command.outputs.events_out, event, event.events_in[1], "asynchronous events");
  command.blocks_in.connect(dma.self, command.self, "command blocks");
  command.cables_in.connect(command.self, "cables");
  doorbell.writes_in.connect(doorbell.self, "BAR");
}

void Chip::connect_dma() {
  const auto add_client = [&](DmaClient which, engine::Block& block, DmaLink*& out,
                              DmaCallbacks client, const char* name) {
    connect(block, out, dma, dma.requests_in[unsigned(which)], name);
    out->accesses = &accesses;
    dma.clients[unsigned(which)] = client;
  };
  add_client(DmaClient::Command, command, command.outputs.dma_out, command.client(), "command DMA");
  add_client(DmaClient::WqeFetch, wqe_fetch, wqe_fetch.outputs.dma_out, wqe_fetch.client(),
             "WQE DMA");
  add_client(DmaClient::Packetizer, requester, packetizer.dma_out, packetizer.client(),
             "payload reads");
  add_client(DmaClient::ReceiveWqe, responder_execute, responder_execute.outputs.receive_wqes_out,
             responder_execute.receive_wqe_client(), "receive WQE DMA");
  add_client(DmaClient::Payload, responder_execute, responder_execute.outputs.payload_out,
             responder_execute.payload_client(), "payload writes");
  add_client(DmaClient::ReadResponse, responder_execute, responder_execute.outputs.reads_out,
             responder_execute.read_client(), "READ response reads");
  add_client(DmaClient::Atomic, responder_execute, responder_execute.outputs.atomics_out,
             responder_execute.atomic_client(), "ATOMIC DMA");
  add_client(DmaClient::Response, requester, requester.outputs.responses_out,
             requester.response_data.client(), "response writes");
  add_client(DmaClient::Completion, completion, completion.outputs.dma_out, completion.client(),
             "CQE DMA");
  add_client(DmaClient::Event, event, event.outputs.dma_out, event.client(), "EQE DMA");
  if (caches) {
    add_client(DmaClient::Context, caches->cache, caches->cache.outputs.dma_out,
               caches->cache.client(), "context DMA");
    caches->cache.dma = dma.self;
  }
  packetizer.dma = wqe_fetch.dma = completion.dma = event.dma = command.dma =
      requester.response_data.dma = dma.self;
}

void Chip::replace(const StandIns& stand_ins) {
  stand_ins_ = stand_ins;
  for (unsigned i = 0; i < ports.size(); ++i) {
    const PortStandIns& own = stand_ins_.port[i];
    ports[i]->transmit.stand_ins = own.sends() ? &own : nullptr;
    ports[i]->receive.stand_ins = own.receives() ? &own : nullptr;
    ports[i]->responder_check.stand_in = own.responder_check;
  }
  requester.psns.stand_in = stand_ins_.requester_psn;
  completion.stand_in = stand_ins_.completion;
}

std::string Chip::standstill(u32 qpn, u32 rung) const {
  if (!contexts.find_qp(qpn)) return "";
  const std::string sends = send_standstill(contexts.qps[qpn], contexts.send_of(qpn), rung,
                                            qp_scheduler.hold(qpn), requester.hold(qpn));
  const std::string receives = receive_standstill(responder_execute.hold(qpn));
  return sends + (sends.empty() || receives.empty() ? "" : "\n") + receives;
}
}  // namespace hca::blocks
