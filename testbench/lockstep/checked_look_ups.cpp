// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/checked_look_ups.h"

#include <algorithm>

namespace hca::testbench {
using namespace proto;

namespace {
// The path of a queue pair's packets, as its context has it. Datagrams have no fixed path, and a
// queue pair that takes no requests may not have a peer yet.
AddressVector address_of(const QpConfig& qp) {
  if (qp.service == Service::Ud || !takes_requests(qp.state)) return {};
  const Path& path = qp.path;
  const FrameShape shape{path.framing, path.network_offset, path.bytes, path.bytes, 0, 0};
  return address_vector(path.framing, addressing_of(path.head.data(), shape));
}

// Returns the rule of a verdict, by its statement.
std::string_view statement_of(Service service, RequestAction action, RequestCause cause,
                              NakCode nak) {
  const auto rule =
      std::find_if(kRequestRules.begin(), kRequestRules.end(), [&](const RequestRule& r) {
        return includes(r.services, service) && r.action == action && r.cause == cause &&
               r.nak == nak;
      });
  return rule == kRequestRules.end() ? std::string_view() : rule->statement;
}
}  // namespace

rtl::CheckedConfig checked_config(const QpConfig& qp, const AddressVector& path) {
  rtl::CheckedConfig c{};
  static_cast<Capabilities&>(c) = qp.options;
  c.own_gid = path.source_gid;
  c.peer_gid = path.destination_gid;
  c.own_lid = path.source_lid;
  c.peer_lid = path.destination_lid;
  c.framing = u8(path.framing);
  c.pd = qp.pd;
  c.qkey = qp.qkey;
  c.shared = uses_srq(qp) || qp.side == QpSide::EeContext;
  c.pkey = qp.pkey;
  c.path_mtu = u16(qp.path_mtu);
  c.access = qp.access;
  c.max_reads = qp.max_dest_rd_atomic;
  c.min_rnr_timer = qp.min_rnr_timer;
  c.service = u8(qp.service);
  c.qp_state = u8(qp.state);
  c.credits = qp.options.credits;
  c.drop_after_rnr = qp.options.gap_after_rnr == GapAfterRnr::Drop;
  c.congestion_control = qp.options.congestion_control;
  c.domain = qp.service == Service::Rd ? qp.rdd : qp.xrcd;
  c.initiator = !has_responder(qp);
  c.keys_of_queue = qp.options.xrc_pd == XrcPd::Srq;
  c.keeps_queue = qp.options.xrc_srq_change == XrcSrqChange::Ignore;
  c.takes_get_offset = qp.options.new_get_offset == NewGetOffset::Take;
  c.refuses_put_response = qp.options.put_response_length == PutResponseLength::Refuse;
  c.keeps_put = qp.options.put_change == PutChange::Ignore;
  c.resync_needs_queue = qp.options.rd_resync_queue == RdResyncQueue::Valid;
  c.completes_at_resync = qp.options.rd_abort == RdAbort::Complete;
  c.completes_at_error = qp.options.rd_error_class == RdErrorClass::F;
  return c;
}

void show_queue(rtl::CheckedConfig& c, u32 srqn, const SharedQueue* shared) {
  if (!shared) return;
  c.srqn = srqn;
  c.queue_domain = shared->xrcd;
  c.queue_pd = shared->pd;
}

void show_queue_pair(rtl::CheckedConfig& c, u32 served, const QpConfig* named) {
  c.srqn = served;
  if (!named) return;
  c.has_queue = true;
  c.queue_service = u8(named->service);
  c.queue_state = u8(named->state);
  c.queue_domain = named->rdd;
}

rtl::CheckedState checked_state(const ReceiveState& s, u32 rq_consumed, u32 rq_limit,
                                u32 owner_consumed) {
  rtl::CheckedState out{};
  out.write_va = s.write_va;
  out.write_rkey = s.write_rkey;
  out.write_left = s.write_left;
  out.write_bytes = s.write_bytes;
  out.reads_accepted = s.reads_accepted;
  out.shared_wqe = s.shared_wqe;
  out.shared_taken = s.shared_taken;
  out.rq_consumed = rq_consumed;
  out.rq_limit = rq_limit;
  out.epsn = s.epsn;
  out.msn = s.msn;
  out.xrc_srqn = s.xrc_srqn;
  out.owner = s.owner;
  out.owner_consumed = owner_consumed;
  out.held_wqe = s.held_wqe;
  out.message = u8(s.message);
  out.nak_sent = s.nak_sent;
  out.failing = s.failing;
  return out;
}

rtl::CheckedRegion checked_region(const Region& r) {
  return {r.start, r.bytes, r.key, r.pd, r.qpn, r.access, u8(r.state), true};
}

rtl::CheckedContext checked_context(const blocks::ResponderCheckItem& item) {
  const SharedQueue* const shared = item.shared;
  const ReceiveState& s = *item.state;
  rtl::CheckedContext c{
      checked_config(*item.qp, address_of(*item.qp)),
      checked_state(s, shared ? shared->taken : s.rq_consumed, shared ? shared->limit : 0)};
  show_queue(c, item.srqn, shared);
  if (item.of_ee()) {
    show_queue_pair(c, item.qp->served, item.queue_pair);
    c.state.rq_consumed = item.queues->consumed(item.qp->served);
    c.state.owner_consumed = item.queues->consumed(s.owner);
  }
  c.reads_finished = item.reads_finished;
  c.rq_posted = item.rq_posted;
  c.rq_failed = item.rq_failed;
  return c;
}

void take_judged(const rtl::Judged& j, const blocks::ResponderCheckItem& item) {
  ReceiveState& s = *item.state;
  const rtl::CheckedState& left = j.state;
  s.write_va = left.write_va;
  s.write_rkey = left.write_rkey;
  s.write_left = left.write_left;
  s.write_bytes = left.write_bytes;
  s.reads_accepted = left.reads_accepted;
  s.shared_wqe = left.shared_wqe;
  s.shared_taken = left.shared_taken;
  s.epsn = left.epsn;
  s.msn = left.msn;
  s.xrc_srqn = left.xrc_srqn;
  s.owner = left.owner;
  s.held_wqe = left.held_wqe;
  s.message = InMessage(left.message);
  s.nak_sent = left.nak_sent;
  s.failing = left.failing;
  if (item.of_ee()) {
    s.rq_posted = item.rq_posted;  // as it saw the queue
    s.rq_consumed = item.rq_posted - j.free_receives;
    if (j.srqn) item.queues->of(j.srqn).rq_consumed = left.rq_consumed;
  } else if (item.shared) {
    item.shared->taken = left.rq_consumed;
    item.shared->limit = left.rq_limit;
    s.rq_posted = s.rq_consumed = 0;  // there is no receive queue of its own
  } else {
    s.rq_consumed = left.rq_consumed;
  }
  blocks::CheckedRequest& c = *item.checked;
  const auto action = RequestAction(j.action);
  const auto cause = RequestCause(j.cause);
  const auto nak = NakCode(j.nak);
  c.verdict = {action, cause, nak, statement_of(item.qp->service, action, cause, nak)};
  c.effect = {};
  RequestEffect& e = c.effect;
  e.va = j.va;
  e.rkey = j.rkey;
  e.receive_wqe = j.receive_wqe;
  e.byte_len = j.byte_len;
  e.ack_psn = j.ack_psn;
  e.msn = j.msn;
  e.packets = j.packets;
  e.free_receives = j.free_receives;
  e.takes_shared = j.takes_shared;
  e.completes_message = j.completes_message;
  e.congested = j.congested;
  e.unreliable = !item.qp->reliable;
  e.rq_posted = e.unreliable ? item.rq_posted : 0;
  c.syndrome = j.syndrome;
  c.below_limit = j.below_limit;
  c.keeps_wqe = j.keeps_wqe;
  c.state = s;
  if (item.shared) c.shared = *item.shared;
}
}  // namespace hca::testbench
