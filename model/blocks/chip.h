// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/chip_config.h"

namespace hca::blocks {
// One HCA without its shell: every block, the links between them, one domain. This is the block
// diagram in code; class Hca puts it into SystemC.
class Chip {
 public:
  Chip(const ChipConfig& config, engine::Domain::Options options, HostTiming& timing,
       Outside& outside);
  Chip(const Chip&) = delete;

  const ChipConfig config;
  engine::Domain domain;
  engine::ProbeHub probes;

  QpContext qp_context;
  Protection protection;
  Doorbell doorbell;
  QpScheduler qp_scheduler;
  WqeFetch wqe_fetch;
  Packetizer packetizer;
  Requester requester;
  PortTransmit port_transmit;
  Congestion congestion;
  ResponderCheck responder_check;
  ResponseCheck response_check;
  PortReceive port_receive;
  ResponderExecute responder_execute;
  ResponderReply responder_reply;
  Completion completion;
  Event event;
  Dma dma;
  Command command;  // ticks last

  // The earliest transport timer; kNever: none runs. Whatever the domain has to do before it is
  // work in progress.
  Cycle next_timer() const { return requester.next_timer(); }

  // Calls fn(counters of one block) for each block.
  template <class Fn>
  void for_each_counters(Fn&& fn) const {
    fn(doorbell.counters), fn(command.counters), fn(qp_scheduler.counters), fn(wqe_fetch.counters);
    fn(qp_context.counters), fn(protection.counters), fn(requester.counters),
        fn(packetizer.counters);
    fn(port_receive.counters), fn(responder_check.counters), fn(responder_execute.counters);
    fn(responder_reply.counters), fn(response_check.counters), fn(completion.counters);
    fn(event.counters), fn(congestion.counters), fn(dma.counters);
  }

 private:
  template <class B>
  void add(B& block, const char* name);
  template <class T, unsigned N>
  void connect(engine::Block& writer, engine::Link<T, N>*& out, engine::Block& reader,
               engine::Link<T, N>& in, const char* name);
  void add_blocks();
  void connect_requester();
  void connect_responder();
  void connect_completion();
  void connect_dma();
  void add_probes();
};
}  // namespace hca::blocks
