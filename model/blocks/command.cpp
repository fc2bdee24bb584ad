// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/command.h"

#include <algorithm>

namespace hca::blocks {
using namespace proto;

void Command::tick() {
  for (FaultLink& link : faults_in)
    if (link.can_pop()) take_fault(link);
  for (unsigned port = 0; port < port_faults_in.count(); ++port)
    if (port_faults_in[port].can_pop()) take_fault(port_faults_in[port]);
  if (blocks_in.can_pop() && ports.events_out->can_push()) blocks_in.pop(), execute();
  if (busy_ || now() < written_ || !bells_in.can_pop()) return;
  start(bells_in.pop().address);  // one at a time: dma_out has room
}

void Command::take_fault(FaultLink& link) {
  const Fault& f = link.front();
  if (f.invalidate) {
    contexts_.invalidate(*f.invalidate);
    ++counters.invalidations;
    return link.drop();
  }
  const QpConfig* qp = contexts_.find_qp(f.qpn);
  const bool fails = f.fails && qp && qp->state != QpState::Error && qp->state != QpState::Reset;
  if (f.raise && fails == f.fails) {
    if (!ports.events_out->can_push()) return;
    ports.events_out->push(EventNote{kAsyncEq, {f.event, f.qpn}});
  }
  if (fails) {
    contexts_.qps[f.qpn].state = QpState::Error;
    ReceiveState& r = contexts_.receive[f.qpn];
    // What was judged behind it does not count.
    if (f.refused) r.epsn = f.psn, r.msn = f.msn, r.nak_sent = false, r.refused = true;
    ++counters.faults;
    requester_.enter_error(f.qpn);
    execute_.enter_error(f.qpn);
  }
  link.pop();
}

void Command::start(u64 address) {
  busy_ = true, address_ = address;
  ports.dma_out->start().set_read(address, block_.data(), kCommandBytes, nullptr);
}

void Command::execute() {
  const CommandEffect effect = execute_command(contexts_, block_.data());
  const auto header = decode<CommandHeader>(block_.data());
  ++counters.commands, counters.refused += header.status != CommandStatus::Ok;
  if (effect.flush) requester_.enter_error(effect.qpn), execute_.enter_error(effect.qpn);
  if (effect.clear) requester_.clear(effect.qpn), execute_.clear(effect.qpn);
  if (effect.drain) requester_.drain(effect.qpn);
  if (effect.resume) requester_.resume(effect.qpn);
  if (effect.message) ports.events_out->push(EventNote{.message = true, .vector = effect.vector});
  ports.dma_out->start().set_write(address_, block_.data(), kCommandBytes, nullptr, false,
                                   now() + 1, now() + 1);
  probe.event(now(), Step::Passed, header.object, u64(header.opcode), u64(header.status));
}

Dma::Client Command::client() {
  return {this,
          [](void* owner, const DmaRequest&, Cycle, Cycle last) {
            auto& x = *static_cast<Command*>(owner);
            const Cycle seen = std::max(last, x.dma.now()) + x.config_.latency;
            x.blocks_in.push(1u, 1, seen - x.dma.now() - 1);
          },
          [](void* owner, const DmaRequest&) {
            auto& x = *static_cast<Command*>(owner);
            x.busy_ = false;
            x.written_ = x.dma.now() + x.config_.interval;
            x.self.wake(x.written_);
          }};
}
}  // namespace hca::blocks
