// SPDX-License-Identifier: Apache-2.0
// RD, requester side: queue pairs ask an EE context for service, and it sends one message at a time
// (G13). As a sender it is like a queue pair whose send queue has one entry.
#include <algorithm>

#include "model/functional/functional_hca.h"
#include "model/proto/transport/timeout.h"

namespace hca::functional {
using namespace proto;

// The oldest work request asks its EE context for service.
void FunctionalHca::ask(u32 qpn) {
  Progress& p = progress(qpn);
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = contexts_.send_of(qpn);
  while (!p.asks && !s.waits_rnr && sends(qp.state) && s.completed != p.posted) {
    const u32 index = s.completed;
    if (s.started == index && starts_nothing(qp, s)) return;
    fetch_send(qp, index);
    if (work_.unreadable) return fail_unread(qpn);
    const bool is_local = work_.status == WcStatus::Success && row_of(work_.wqe).is_local();
    if (is_local) {
      begin_message(sent_.message(connection_of(qpn), index), s, work_.wqe, work_.operands, index,
                    work_.bytes, qp.path_mtu, qp.signal_all);
      if (!execute_local(qp, index)) return;
      continue;
    }
    const device::EeContext* const context = contexts_.find_ee_context(work_.rd.eecn);
    const u32 number = device::ee_number(work_.rd.eecn);
    if (work_.status == WcStatus::Success)
      work_.status = check_ee_context(qp, context ? &contexts_.qps[number] : nullptr);
    if (work_.status != WcStatus::Success) return fail_send(qpn, work_.status);
    p.asks = number;
    progress(*p.asks).asking.push_back(qpn);
    return pump(*p.asks);
  }
}

void FunctionalHca::serve_next(u32 ee) {
  Progress& p = progress(ee);
  QpConfig& context = contexts_.qps[ee];
  if (!may_serve_next(context, p.serves, !p.asking.empty())) return;
  const u32 qpn = p.asking.front();
  p.asking.pop_front();
  serve(context, contexts_.qps[qpn]);
  SendState& queue = contexts_.send_of(qpn);
  fetch_send(context, queue.completed);
  p.address = work_.rd;
  context.dest_qpn = p.address.dest_qpn;
  p.serves = true;
  p.posted = contexts_.send_of(ee).completed + 1;
  queue.started = queue.completed + 1;
  const bool goes_on = std::exchange(progress(qpn).suspended, false) &&
                       context.options.rd_rnr_count == RdRnrCount::Message;
  contexts_.send_of(ee).rnr_retries_left = goes_on ? queue.rnr_retries_left : context.rnr_retry;
}

bool FunctionalHca::send_resync(u32 ee) {
  const QpConfig& context = sender(ee);
  SendState& s = contexts_.send_of(ee);
  const PacketPlan plan = plan_resync(s.send_psn);
  s.send(plan.psns);
  ExtHeaders ext;
  ext.deth = deth_of(context, progress(ee).address);
  transmit(context, *plan.row, request_bth(context, plan), ext, 0);
  return true;
}

// G13.3: the message in progress ends at the responder too.
void FunctionalHca::start_resync(u32 ee, Resync end) {
  SendState& s = contexts_.send_of(ee);
  progress(ee).resync = end;
  stop_timer(ee);
  begin_resync(sent_.message(connection_of(ee), s.completed), s, sender(ee));
  pump(ee);
}

// The message is acknowledged to its end, or the RESYNC is.
void FunctionalHca::end_message(u32 ee) {
  const u32 qpn = sender(ee).served;
  Progress& p = progress(ee);
  SendState& queue = contexts_.send_of(qpn);
  const SentMessage m = sent_.message(connection_of(ee), contexts_.send_of(ee).completed);
  const Resync end = p.resync;
  const WcStatus status = p.status;
  const u32 cqn = sender(ee).send_cq;
  free_context(ee);
  if (end != Resync::Leaves) progress(qpn).asks.reset();
  if (end == Resync::None) {
    Cqe cqe{};
    cqe.qpn = qpn;
    cqe.wqe_index = u16(queue.completed++);
    cqe.byte_len = m.bytes;
    cqe.opcode = kWorkRows[std::size_t(m.opcode)].completion;
    if (m.signaled) complete(cqn, cqe);
    raise_if_drained(qpn);
  }
  if (end == Resync::Fails) fail_send(qpn, status);
  if (end != Resync::Leaves) ask(qpn);
  pump(ee);
}

// The EE context is free for the next message.
void FunctionalHca::free_context(u32 ee) {
  Progress& p = progress(ee);
  SendState& s = contexts_.send_of(ee);
  p.serves = false;
  p.resync = Resync::None;
  s.waits_rnr = false;
  if (s.completed == s.started) ++s.started;
  p.posted = ++s.completed;
  stop_timer(ee);
}

// Class B, after a RESYNC if packets of the message have left; class D.
void FunctionalHca::fail_message(u32 ee, WcStatus status) {
  Progress& p = progress(ee);
  const SendState& s = contexts_.send_of(ee);
  const bool resyncs = p.resync != Resync::None;
  if (resyncs && p.resync == Resync::Fails) status = p.status;
  if (resyncs || stops_ee_context(sender(ee), status)) {
    contexts_.qps[ee].state = QpState::Error;
    return end_context(ee, status, WcStatus::InvEecStateErr);
  }
  if (s.started != s.completed) {
    p.status = status;
    return start_resync(ee, Resync::Fails);
  }
  const u32 qpn = sender(ee).served;
  free_context(ee);
  progress(qpn).asks.reset();
  fail_send(qpn, status);
  pump(ee);
}

// G13.4: an RNR NAK suspends the message of its queue pair; afterwards it begins anew.
void FunctionalHca::suspend(u32 ee, u8 rnr_code) {
  const u32 qpn = sender(ee).served;
  SendState& queue = contexts_.send_of(qpn);
  queue.rnr_retries_left = contexts_.send_of(ee).rnr_retries_left;
  queue.waits_rnr = true;
  progress(qpn).suspended = true;
  set_timer(qpn, rnr_delay_ns(rnr_code));
  start_resync(ee, Resync::Suspends);
}

// A queue pair is flushed, reset or destroyed.
void FunctionalHca::leave(u32 qpn) {
  Progress& p = progress(qpn);
  if (is_rd_queue(qpn)) {
    stop_timer(qpn);
    contexts_.send_of(qpn).waits_rnr = p.suspended = false;
  }
  if (!p.asks) return;
  const u32 ee = *std::exchange(p.asks, std::nullopt);
  Progress& context = progress(ee);
  std::erase(context.asking, qpn);
  if (!context.serves || sender(ee).served != qpn) return;
  if (context.resync != Resync::None) return void(context.resync = Resync::Leaves);
  const SendState& s = contexts_.send_of(ee);
  if (s.started != s.completed) return start_resync(ee, Resync::Leaves);
  free_context(ee);
  pump(ee);
}

// o9-156, ERR-39: the EE context has entered Error, or is reset or destroyed. Its message ends with
// the status `served`, the work requests of all others that ask for it with the status `asking`.
void FunctionalHca::end_context(u32 ee, WcStatus served, WcStatus asking) {
  Progress& p = progress(ee);
  ReceiveState& r = contexts_.receive_of(ee);
  const bool is_used = p.serves || r.message != InMessage::None;
  const bool holds = r.message == InMessage::Send;
  const bool blames = p.serves && p.resync != Resync::Leaves;
  const u32 qpn = sender(ee).served;
  stop_timer(ee);
  abort_received(ee, WcStatus::LocEecOpErr);
  if (p.serves) free_context(ee);
  const std::deque<u32> others = std::exchange(p.asking, {});
  if (blames) {
    progress(qpn).asks.reset();
    fail_send(qpn, served);
  }
  for (const u32 other : others) {
    progress(other).asks.reset();
    fail_send(other, asking);
  }
  if (sender(ee).state == QpState::Error) {
    if (is_used && !holds && !blames) raise(EventType::EecFatal, device::eecn_of(ee));
    return;
  }
  progress(ee) = {};  // reset or destroyed
  contexts_.send_of(ee) = {};
}
}  // namespace hca::functional
