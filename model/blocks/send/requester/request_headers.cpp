// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/request_headers.h"

#include "model/proto/transport/ee_context.h"

namespace hca::blocks {
using namespace proto;

void RequestHeaders::build(Packet& p, u32 qpn, SendQueue& q, CutPacket& cut) {
  const QpConfig& qp = contexts_.qps[qpn];
  SentMessage& m = *q.message;
  const SendState& s = state_of(qpn);
  PacketPlan plan = q.resyncs ? plan_resync(m.first_psn) : plan_packet(qp, q.wqe, m, q.packet);
  m.resumed |= m.answer == Answer::Read && q.packet;
  plan.ack_requested |= !q.packet && probes(s, qp, m, q.index + 1 == s.started);
  ExtHeaders ext;
  request_headers(ext, q.wqe, q.operands, m, plan);
  Bth bth = request_bth(qp, plan);
  const Path* path = &qp.path;
  if (qp.service == Service::Ud) [[unlikely]] {
    address_datagram(bth, ext, qp, datagram_.address);
    path = &datagram_.path;
  }
  const bool of_ee = device::is_ee(qpn);
  if (of_ee) [[unlikely]] {
    ext.rdeth = {qp.remote_eecn};
    ext.deth = deth_of(qp, q.rd);
  }
  write_headers(*path, *plan.row, bth, ext, plan.bytes, p.frame());
  p.set_shape(shape_of(*path, *plan.row, plan.bytes));
  if (plan.row->position == Position::Middle && !plan.row->ext_bytes)
    q.repeated.keep(p.frame(), p.shape, contexts_.version);
  if (m.packets == 1 && qp.service != Service::Ud && !of_ee) {
    LonePacket& lone = q.lone;
    lone.headers.keep(p.frame(), p.shape, contexts_.version);
    lone.plan = plan;
    lone.opcode = q.wqe.opcode;
    lone.solicited = q.wqe.solicited;
    lone.bytes = m.bytes;
    lone.request_bytes = m.request_bytes;
  }
  cut.psns.first = plan.psns.first;
  cut.psns.count = plan.psns.count;
  cut.ack_requested = plan.ack_requested;
  cut.last = plan.last;
}

// Writes the headers of a one-packet message that is like the previous one.
void RequestHeaders::repeat_lone(Packet& p, const SendQueue& q, CutPacket& cut) {
  const LonePacket& lone = q.lone;
  const SentMessage& m = *q.message;
  ExtHeaders ext;
  request_headers(ext, q.wqe, q.operands, m, lone.plan);
  lone.headers.write(p.frame(), m.first_psn);
  p.set_shape(lone.headers.shape());
  write_ext(*lone.plan.row, ext, p.frame() + p.shape.transport_offset + bytes_of<Bth>());
  cut.psns.first = m.first_psn;
  cut.psns.count = 1;
  cut.ack_requested = lone.plan.ack_requested;
  cut.last = true;
}
}  // namespace hca::blocks
