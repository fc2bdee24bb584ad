// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>

#include "model/blocks/chip_config.h"
#include "model/blocks/command.h"
#include "model/blocks/completion/completion.h"
#include "model/blocks/completion/event.h"
#include "model/blocks/memory/context_gate.h"
#include "model/blocks/memory/dma.h"
#include "model/blocks/port/port.h"
#include "model/blocks/receive/congestion.h"
#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/blocks/receive/responder_reply.h"
#include "model/blocks/send/doorbell.h"
#include "model/blocks/send/qp_scheduler.h"
#include "model/blocks/send/requester/requester.h"
#include "model/blocks/send/wqe_fetch.h"

namespace hca::blocks {
// The blocks that only one port's stream passes.
struct ChipPort {
  ChipPort(const ChipConfig& config, unsigned port, QpContext& context, device::Contexts& contexts,
           Protection& protection, Outside& outside);
  PortTransmit transmit;
  Congestion congestion;
  ResponderCheck responder_check;
  ResponseCheck response_check;
  PortReceive receive;
  std::unique_ptr<LinkControl> link;  // nullptr: the receive buffers are unlimited
};

// The caches of contexts, and the gates before the blocks that use contexts.
struct ChipContexts {
  ChipContexts(const ChipConfig& config, const device::Contexts& contexts);
  ContextCache cache;
  LinkGate<TurnLink, Turn*> turns;       // wait for the queue pair, before their WQEs are read
  LinkGate<FetchedLink, Turn*> fetched;  // wait for the memory of their WQEs
  LinkGate<ReceiveBatchLink, ReceiveBatch*> batches;
  std::deque<LinkGate<CompletedLink, Completed>> completions;
  std::deque<PacketGate> packets;  // one per port
  // One per port: wait for the WQEs of READs and ATOMICs, before their responses are used.
  std::deque<LinkGate<AckLink, Acknowledgement>> responses;
};

// One HCA without its SystemC shell: all blocks and the links between them, in one domain. This is
// the block diagram in code; class Hca puts it into SystemC.
class Chip {
 public:
  Chip(const ChipConfig& config, engine::Domain::Options options, HostTiming& timing,
       Outside& outside);
  Chip(const Chip&) = delete;

  const ChipConfig config;
  engine::Domain domain;
  engine::ProbeHub probes;

  device::Contexts contexts;
  QpContext qp_context;
  Protection protection;
  Accesses accesses;
  Doorbell doorbell;
  QpScheduler qp_scheduler;
  WqeFetch wqe_fetch;
  Packetizer packetizer;
  Requester requester;
  std::vector<std::unique_ptr<ChipPort>> ports;
  ResponderExecute responder_execute;
  ResponderReply responder_reply;
  Completion completion;
  Event event;
  std::unique_ptr<ChipContexts> caches;  // nullptr: the chip holds all contexts
  Dma dma;
  Command command;  // ticks last

  // Replaces units by other implementations. Call it before the first cycle.
  void replace(const StandIns& stand_ins);

  // The earliest transport timer; kNever: none runs. All earlier activity of the domain is work in
  // progress.
  Cycle next_timer() const { return std::min(requester.next_timer(), completion.next_timer()); }
  Cycle timer_of(u32 qpn) const { return requester.timer_of(qpn); }

  // Says why the two sides of a queue pair stand still: a line each, beginning with the block. A
  // side that has nothing to do or waits for its peer has no line. `rung`: the producer index of
  // its last doorbell.
  std::string standstill(u32 qpn, u32 rung) const;

  // Calls fn(name, counters) for each block.
  template <class Fn>
  void for_each_counters(Fn&& fn) const {
    const auto shared = [&](const auto&... counters) { (fn(name_of(counters), counters), ...); };
    shared(doorbell.counters, command.counters, qp_scheduler.counters, wqe_fetch.counters);
    shared(qp_context.counters, protection.counters, requester.counters, packetizer.counters);
    for (unsigned i = 0; i < ports.size(); ++i) {
      const auto own = [&](const auto&... counters) {
        (fn(port_block_name(unsigned(ports.size()), i, name_of(counters)), counters), ...);
      };
      const ChipPort& port = *ports[i];
      own(port.receive.counters, port.responder_check.counters, port.response_check.counters,
          port.congestion.counters);
      if (port.link) own(port.link->counters);
    }
    shared(responder_execute.counters, responder_reply.counters, completion.counters);
    shared(event.counters, dma.counters);
    if (caches) caches->cache.for_each_counters(shared);
  }
  // Calls fn(name, look-ups, interval) for each client of qp_context and protection; each has its
  // own read port.
  template <class Fn>
  void for_each_look_up(Fn&& fn) const {
    const auto of = [&](const char* block, const char* client, unsigned port, const ReadPort& way,
                        Cycle interval) {
      const std::string name =
          port_block_name(unsigned(ports.size()), port, std::string(block) + ", " + client);
      fn(name, way.looked_up, interval);
    };
    const Cycle context = config.qp_context.interval, key = config.protection.interval;
    of("qp_context", "requester", 0, qp_context.requester, context);
    of("protection", "requester", 0, protection.requester, key);
    of("protection", "responder_execute", 0, protection.execute, key);
    for (unsigned i = 0; i < ports.size(); ++i) {
      of("qp_context", "responder_check", i, qp_context.responder[i], context);
      of("qp_context", "response_check", i, qp_context.response[i], context);
      of("protection", "responder_check", i, protection.responder[i], key);
    }
  }
  // Calls fn(name, engines) for each block whose engines limit it.
  template <class Fn>
  void for_each_engines(Fn&& fn) const {
    if (requester.engines().limit()) fn("requester", requester.engines());
    if (responder_execute.engines().limit()) fn("responder_execute", responder_execute.engines());
  }

 private:
  template <class C>
  static std::string_view name_of(const C&) {
    return engine::Counters<C>::block;
  }
  // The block's name with its port number; it lives as long as the chip.
  const char* block_name(unsigned port, const char* name);
  const char* link_name(unsigned port, const char* name);
  template <class B>
  void add(B& block, const char* name);
  template <class L>
  void connect(engine::Block& writer, L*& out, engine::Block& reader, L& in, const char* name);
  void add_blocks();
  void connect_requester();
  void connect_responder();
  void connect_port(unsigned number);
  void connect_link(unsigned number);
  void connect_completion();
  void connect_dma();
  void make_room_for_stages();
  template <class L, class G>
  void connect_through(engine::Block& writer, L*& out, G* gate, engine::Block& reader, L& in,
                       const char* name);
  void add_caches();
  template <class G>
  void connect_gate(G& gate);
  void add_probes();
  void add_port_probes(unsigned number);

  std::deque<std::string> names_;
  StandIns stand_ins_;
};
}  // namespace hca::blocks
