// SPDX-License-Identifier: Apache-2.0
// Where the payload of a request goes, in pieces, and requests that find no place for theirs.
#include <algorithm>
#include <utility>

#include "model/blocks/receive/responder_execute/responder_execute.h"

namespace hca::blocks {
using namespace proto;

Fault ResponderExecute::fault_of(const Packet& p, bool raise, EventType event) {
  const bool is_datagram = p.parsed.opcode && p.parsed.has(Ext::Deth);
  return {.qpn = p.qpn,
          .raise = raise,
          .event = event,
          .wqe_index = names_receive_wqe(p.verdict.cause) ? u16(p.effect.receive_wqe) : u16{0},
          .refused = !is_datagram,  // whose PSN has no meaning
          .psn = p.psn,
          .msn = p.effect.msn};
}

// Whether the next `bytes` fit the receive WQE's scatter list, and its keys allow them (T10-16,
// T10-1).
WcStatus ResponderExecute::judge_scatter(u32 qpn, const Queue& q, u32 bytes) {
  const QpConfig& qp = contexts_.qps[qpn];
  Scatter s = q.scatter;
  while (bytes) {
    if (s.index == s.count) return WcStatus::LocLenErr;
    const auto sge = decode<Sge>(s.sges + s.index * kSgeBytes);
    const u32 here = std::min(bytes, sge.bytes - s.offset);
    if (here && !protection_.local(sge, receiver_of(qp), qp, receive_right()))
      return WcStatus::LocProtErr;
    bytes -= here, s.offset = 0, ++s.index;
  }
  return WcStatus::Success;
}

// An error found while a request is executed: class A or C, the queue pair fails; or, without
// answers, the message ends.
void ResponderExecute::refuse(Packet* p, const RequestVerdict& verdict) {
  Queue& q = queues_[p->qpn];
  const bool counted =
      p->effect.completes_message ||
      (p->verdict.action == RequestAction::Execute && p->parsed.opcode->traits().is_saved());
  p->verdict = on_service(verdict, contexts_.qps[p->qpn].service);
  if (is_silent(p->verdict.action)) {
    const bool takes = request::takes_receive_wqe(*p->parsed.opcode);
    if (p->receive_queue.is_shared()) {
      if (takes || q.wqe_open) end_shared(*p, q, status_of_abandoned(verdict.cause));
    } else if (takes) {
      q.next_wqe = p->effect.receive_wqe, q.wqe_open = false;
    }
    return abandon(p, q);
  }
  ++counters.failed;
  counts_.add(contexts_.qps[p->qpn], verdict.cause);
  const bool answers = p->verdict.action == RequestAction::NakAndFail;
  // The NAKed message does not count (G5.3).
  if (answers) p->effect.msn = psn_sub(p->effect.msn, counted);
  q.failed = true;
  const FailureRow failure = failure_of(verdict.cause);
  Outcome& outcome = retire(*p);
  outcome.replies = answers, outcome.fails = true;
  outcome.completes = std::exchange(q.wqe_open, false) ||
                      (p->parsed.opcode->has(Ext::ImmDt) && verdict.cause == RequestCause::BadRkey);
  outcome.completed.cqe.opcode = CqeOpcode::Receive;
  outcome.completed.cqe.status = failure.status;
  outcome.fault = fault_of(*p, !outcome.completes, failure.event);
  if (p->effect.takes_shared && verdict.cause == RequestCause::UnreadableReceiveWqe)
    outcome.fault.failed_queue = p->receive_queue;
  PacketPool::give_back(p);
}

// All of it is where its keys say now, in whatever cycle it is asked for.
void ResponderExecute::begin_scattered(Packet* p, Scatter& s) {
  runs_.clear();
  protection_.add_runs(s.sges, s.index, s.offset, p->parsed.payload_bytes, runs_);
  plain_ = false, run_ = 0;
  begin_pieces(p);
}

[[gnu::cold]] void ResponderExecute::begin_paged(Packet* p, const Region& region) {
  const RequestEffect& e = p->effect;
  runs_.clear();
  for (u32 done = 0; done < p->parsed.payload_bytes; done += runs_.back().bytes)
    runs_.push_back(run_of(&region, e.rkey, e.va + done, p->parsed.payload_bytes - done));
  plain_ = false, run_ = 0;
  begin_pieces(p);
}

}  // namespace hca::blocks
