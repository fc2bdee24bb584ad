// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_reply.h"

#include "model/proto/transport/congestion_rules.h"
#include "model/proto/transport/reply_rules.h"

namespace hca::blocks {
using namespace proto;

namespace {
bool is_ack(const Reply& r) {
  return !r.cnp && !r.packet && syndrome_kind(r.syndrome) == SyndromeKind::Ack;
}
}  // namespace

void ResponderReply::tick() {
  if (port_count_ > 1) [[unlikely]]
    return tick_several();
  Port& only = ports[0];
  take(only);
  if (send(only) && !only.waiting.empty()) wake_at(next_);
  if (takes_more(only)) wake_at(now() + 1);
}

void ResponderReply::tick_several() {
  for (Port& port : ports) take(port);
  const bool sent = serve_in_turn(port_count_, turn_, [&](unsigned i) { return send(ports[i]); });
  if (sent && !(ports[0].waiting.empty() && ports[1].waiting.empty())) wake_at(next_);
  if (takes_more(ports[0]) || takes_more(ports[1])) wake_at(now() + 1);
}

void ResponderReply::take(Port& port) {
  if (!has_room(port)) return;
  ReplyLink& from = port.replies_in.can_pop() ? port.replies_in : port.cnps_in;
  if (!from.can_pop()) return;
  queue(port.waiting, from.front());
  from.drop();
}

// False: there is nothing, or no room for it, or the last one was less than an interval ago.
bool ResponderReply::send(Port& port) {
  if (port.waiting.empty()) return false;
  if (now() < next_) {
    wake_at(next_);
    return false;
  }
  if (!port.packets_out->can_push()) return false;
  send(port, port.waiting.front());
  port.waiting.drop();
  return true;
}

void ResponderReply::queue(Ring<Reply>& waiting, const Reply& reply) {
  if (!waiting.empty() && is_ack(reply)) {
    Reply& last = waiting.at(waiting.size() - 1);
    if (last.qpn == reply.qpn && is_ack(last)) {
      const bool becn = last.becn;
      ++counters.coalesced;
      last = reply;
      last.becn |= becn;
      return;
    }
  }
  waiting.add() = reply;
}

void ResponderReply::send(Port& port, const Reply& reply) {
  next_ = now() + config_.interval;
  const QpConfig* qp = contexts_.find_number(reply.qpn);
  const bool moved = qp && has_left(port, *qp);
  if (!qp || qp->state == QpState::Reset || qp->state == QpState::Init ||
      (moved && !qp->has_moved) || !names_partition(*qp))
    return drop(reply);
  // After a migration an answer leaves by the new port; a response is complete and stays.
  if (moved && !reply.packet) [[unlikely]]
    return queue(ports[port_of(*qp)].waiting, Reply(reply));
  Packet* p = reply.packet;
  if (p)
    ++(reply.cnp ? counters.cnps : counters.responses);
  else
    p = build(reply, *qp);
  p->port = u8(&port == &ports[0] ? 0 : 1);
  port.packets_out->push(p, 1, config_.latency - 1);
  probe.event(now() + config_.latency, Step::Passed, reply.qpn, reply.psn, reply.syndrome);
}

void ResponderReply::drop(const Reply& reply) {
  if (!reply.packet) return;
  if (reply.packet->buffers) reply.packet->give_buffer(now() + 1);
  PacketPool::give_back(reply.packet);
}

Packet* ResponderReply::build(const Reply& reply, const QpConfig& qp) {
  Packet* p = pool_.take();
  p->qpn = reply.qpn;
  p->psn = reply.psn;
  p->is_request = false;
  p->buffers = nullptr;
  if (reply.cnp)
    build_cnp(*p, qp, reply.native);
  else
    build_ack(*p, qp, reply);
  return p;
}

void ResponderReply::build_ack(Packet& p, const QpConfig& qp, const Reply& reply) {
  RepeatedHeaders& repeated = acks_[reply.qpn];
  const Aeth aeth{reply.syndrome, reply.msn};
  const bool of_ee = device::is_ee(reply.qpn);
  if (repeated.hold(contexts_.version) && !reply.becn && !of_ee) [[likely]] {
    p.shape = repeated.shape();
    repeated.write(p.frame(), reply.psn);
    encode(aeth, p.frame() + p.shape.payload_offset - bytes_of<Aeth>());
  } else {
    const OpcodeRow& row = reply_row(qp.service, Operation::Acknowledge);
    ExtHeaders ext;
    ext.aeth = aeth;
    ext.rdeth = {qp.remote_eecn};
    Bth bth = reply_bth(qp, reply.psn, reply.becn);
    if (of_ee) bth.dest_qp = reply.dest_qpn, bth.pkey = reply.pkey;
    write_headers(qp.path, row, bth, ext, 0, p.frame());
    p.shape = shape_of(qp.path, row, 0);
    if (!reply.becn && !of_ee) repeated.keep(p.frame(), p.shape, contexts_.version);
  }
  const SyndromeKind kind = syndrome_kind(reply.syndrome);
  ++(kind == SyndromeKind::Ack   ? counters.acks
     : kind == SyndromeKind::Nak ? counters.naks
                                 : counters.rnr_naks);
}

void ResponderReply::build_cnp(Packet& p, const QpConfig& qp, bool native) {
  const OpcodeRow& row = *opcode_row(native ? kCnOpcode : kCnpOpcode);
  Bth bth = cnp_bth(qp);
  bth.mig_req = native && sends_migrated(qp);
  write_headers(qp.path, row, bth, {}, 0, p.frame());
  p.shape = shape_of(qp.path, row, 0);
  ++counters.cnps;
}
}  // namespace hca::blocks
