// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/responder_reply.h"

#include "model/proto/reply_rules.h"

namespace hca::blocks {
using namespace proto;

namespace {
bool is_ack(const Reply& r) {
  return !r.cnp && !r.packet && syndrome_kind(r.syndrome) == SyndromeKind::Ack;
}
}  // namespace

void ResponderReply::tick() {
  take();
  send_next();
  if (has_room() && (replies_in.can_pop() || cnps_in.can_pop())) wake_at(now() + 1);
}

void ResponderReply::take() {
  if (!has_room()) return;
  if (replies_in.can_pop())
    queue(replies_in.pop());
  else if (cnps_in.can_pop())
    queue(cnps_in.pop());
}

void ResponderReply::send_next() {
  if (waiting_.empty()) return;
  if (now() < next_) return wake_at(next_);
  if (!ports.packets_out->can_push()) return;
  send(waiting_.pop());
  if (!waiting_.empty()) wake_at(next_);
}

void ResponderReply::queue(const Reply& reply) {
  if (!waiting_.empty() && is_ack(reply)) {
    Reply& last = waiting_.at(waiting_.size() - 1);
    if (last.qpn == reply.qpn && is_ack(last)) return ++counters.coalesced, void(last = reply);
  }
  waiting_.push(reply);
}

void ResponderReply::send(const Reply& reply) {
  next_ = now() + config_.interval;
  const QpConfig* qp = contexts_.find_qp(reply.qpn);
  if (!qp || qp->state == QpState::Reset || qp->state == QpState::Init) return drop(reply);
  Packet* p = reply.packet;
  if (p)
    ++counters.responses;
  else
    p = build(reply, *qp);
  ports.packets_out->push(p, 1, config_.latency - 1);
  probe.event(now() + config_.latency, Step::Passed, reply.qpn, reply.psn, reply.syndrome);
}

void ResponderReply::drop(const Reply& reply) {
  if (!reply.packet) return;
  if (reply.packet->buffers) reply.packet->buffers->give(now() + 1);
  PacketPool::give_back(reply.packet);
}

Packet* ResponderReply::build(const Reply& reply, const QpConfig& qp) {
  Packet* p = pool_.take();
  p->qpn = reply.qpn, p->psn = reply.psn, p->is_request = false, p->buffers = nullptr;
  if (reply.cnp)
    build_cnp(*p, qp);
  else
    build_ack(*p, qp, reply);
  return p;
}

void ResponderReply::build_ack(Packet& p, const QpConfig& qp, const Reply& reply) {
  const OpcodeRow& row = reply_row(qp.service, Operation::Acknowledge);
  ExtHeaders ext;
  ext.aeth = {reply.syndrome, reply.msn};
  write_headers(qp.path, row, reply_bth(qp, reply.psn), ext, 0, p.frame());
  p.shape = shape_of(qp.path, row, 0);
  const SyndromeKind kind = syndrome_kind(reply.syndrome);
  ++(kind == SyndromeKind::Ack   ? counters.acks
     : kind == SyndromeKind::Nak ? counters.naks
                                 : counters.rnr_naks);
}

// G26.2: DestQP is the peer, BECN is set, PSN 0, 16 bytes of zeros.
void ResponderReply::build_cnp(Packet& p, const QpConfig& qp) {
  const OpcodeRow& row = *opcode_row(0x81);
  Bth bth{};
  bth.pkey = qp.pkey, bth.dest_qp = qp.dest_qpn, bth.becn = true;
  write_headers(qp.path, row, bth, {}, 0, p.frame());
  p.shape = shape_of(qp.path, row, 0);
  ++counters.cnps;
}
}  // namespace hca::blocks
