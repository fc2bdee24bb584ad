// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/response_packets.h"

namespace hca::blocks {
using namespace proto;

Packet* ResponsePackets::make(const QpConfig& qp, const Outcome& o, const OpcodeRow& row, u32 psn,
                              u32 bytes, u64 original) {
  const unsigned port = port_of(qp);
  Packet* p = pool_.take();
  p->qpn = qp.qpn;
  p->psn = psn;
  p->port = u8(port);
  p->is_request = p->unread = false;
  p->life = queues_[qp.qpn].life;
  ExtHeaders ext;
  ext.aeth = {o.reply.syndrome, o.reply.msn};
  ext.atomic_ack_eth = {original};
  ext.rdeth = {qp.remote_eecn};
  const Bth bth = reply_bth(qp, psn, takes_becn(queues_[qp.qpn].congested));
  write_headers(qp.path, row, bth, ext, bytes, p->frame());
  p->set_shape(shape_of(qp.path, row, bytes));
  p->take_buffer(buffers_of(ports_[port], qp.qpn));
  return p;
}
}  // namespace hca::blocks
