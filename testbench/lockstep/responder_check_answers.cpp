// SPDX-License-Identifier: Apache-2.0
// The answers of the look-ups for a request, and requests from captures and vectors.
#include <utility>

#include "model/proto/transport/ee_context.h"
#include "testbench/lockstep/checked_look_ups.h"
#include "testbench/lockstep/parsed_side_band.h"
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
using namespace proto;

blocks::ResponderCheckItem ResponderCheckPacket::item() {
  blocks::ResponderCheckItem item;
  item.frame = frame;
  if (!judged) return item;
  item.packet = &parsed;
  item.qp = &qp;
  item.port = port.get();
  item.region = has_region ? &region : nullptr;
  item.state = &of->twin;
  item.srqn = srq ? srq->srqn : 0;
  item.shared = srq ? &srq->twin : nullptr;
  item.rq_posted = rq_posted;
  item.reads_finished = reads_finished;
  item.rq_failed = rq_failed;
  item.context_late = context_late;
  item.region_late = region_late;
  item.checked = &checked;
  item.queue_pair = named.get();
  item.queues = queues.get();
  return item;
}

// A given request gets a matching queue pair if its number is not used again too soon: the
// addresses, keys and PSN of the frame, WQEs, and a region exactly as large as the request needs.
void ResponderCheckStimulus::take_given(Packet& p) {
  const GivenFrame& given = given_.of(p.number);
  p.frame = given.bytes;
  p.link = given.link;
  p.what = given.source;
  ParsedPacket& in = p.parsed;
  const PacketVerdict v = parse(p.frame, p.link, in);
  if (v == PacketVerdict::ReservedOpcode) {
    in.opcode = nullptr;
    in.payload_bytes = 0;
  }
  if (v != PacketVerdict::Good && v != PacketVerdict::ReservedOpcode) return;
  const bool rd = is_of_rd(in);
  if (rd) read_rd_headers(in, p.frame);
  const u32 qpn =
      rd ? device::receiver_number(device::ee_number(in.rdeth.ee_context)) : in.bth.dest_qp;
  std::shared_ptr<CheckedQp>& qp = given_qps_[device::context_number(qpn)];
  if (!qp || qp->last + kRequestsFarApart < made_) {
    qp = std::make_shared<CheckedQp>();
    QpConfig& c = qp->config;
    const auto service = Service(in.bth.opcode >> 5);
    c.allocated = true;
    c.qpn = qpn;
    c.service = includes(kExecuted, service) ? service : Service::Rc;
    c.side = rd ? QpSide::EeContext : QpSide::Both;
    c.reliable = is_reliable(c.service);
    c.access = kEveryRight;
    c.state = QpState::Rts;
    c.max_dest_rd_atomic = 16;
    c.pkey = u16(in.bth.pkey | 0x8000);
    c.pd = 1;
    c.xrcd = c.service == Service::Xrc;
    if (in.opcode && in.has(Ext::Deth)) c.qkey = in.deth.qkey;
    const Addressing a = addressing_of(p.frame.data(), in);
    AddressVector& av = qp->address;
    av.framing = in.framing;
    av.source_gid = a.destination_gid;
    av.destination_gid = a.source_gid;
    av.source_lid = a.dlid;
    av.destination_lid = a.slid;
    c.path = make_path(av);
    qp->ahead.epsn = in.bth.psn;
    qp->twin = qp->ahead;
  }
  p.of = qp;
  p.qp = qp->config;
  if (rd) take_given_rd(p, *qp);
  const bool names_srq = p.qp.service == Service::Xrc && in.opcode && in.has(Ext::XrcEth);
  if (names_srq && in.xrc_eth.xrc_srq) {  // of its domain; no SRQ has the number 0
    p.named_srq = in.xrc_eth.xrc_srq;
    std::shared_ptr<CheckedSrq>& srq = given_srqs_[p.named_srq];
    if (!srq) srq = new_srq(p.named_srq, 1);
    p.srq = srq;
  }
  const u32 payload = in.payload_bytes;
  const bool full = in.opcode && !ends_message(in.opcode->position);
  if (full && payload >= 256 && payload <= 4096 && std::has_single_bit(payload))
    p.qp.path_mtu = payload;
  if (in.opcode && remote_key(in)) {
    const bool atomic = in.opcode->traits().is_atomic();
    p.has_region = true;
    p.region.start = atomic ? in.atomic_eth.va : in.reth.va;
    p.region.bytes = atomic ? kAtomicBytes : in.reth.dma_len;
    p.region.key = remote_key(in);
    p.region.pd = remote_accessor(p.qp, p.srq ? &p.srq->ahead : nullptr).pd;
    p.region.access = kEveryRight;
    p.region.state = KeyState::Valid;
  }
  p.rq_posted = 5 + (p.srq  ? p.srq->ahead.taken
                     : p.rd ? p.rd->ahead.rq_consumed
                            : qp->ahead.rq_consumed);
  p.reads_finished = qp->ahead.reads_accepted;
}

namespace {
// Of a packet of a reserved opcode of RD.
void put_rd_headers(ResponderCheckPacket& p) {
  read_rd_headers(p.parsed, p.frame);
  p.headers.rdeth = p.parsed.rdeth;
  p.headers.deth = p.parsed.deth;
}
}  // namespace

// Sets the side band of its beats, and the answers of the look-ups.
void ResponderCheckStimulus::answer(Packet& p) {
  clear_headers(p.headers);
  PacketVerdict v = parse(p.frame, p.link, p.parsed);
  if (v == PacketVerdict::Good || v == PacketVerdict::ReservedOpcode) {
    put_transport(p.parsed, addressing_of(p.frame.data(), p.parsed), p.headers);
    if (v == PacketVerdict::Good) {
      put_ext(*p.parsed.opcode, p.parsed, p.headers);
      p.headers.payload_bytes = u16(p.parsed.payload_bytes);
    } else {
      p.parsed.opcode = nullptr;
      p.parsed.payload_bytes = 0;
      if (is_of_rd(p.parsed)) put_rd_headers(p);
    }
    p.judged = v == PacketVerdict::ReservedOpcode || p.parsed.opcode->is_request;
    if (!given_.any() && random_.chance(1, 40)) {
      v = PacketVerdict::BadIcrc;
      p.judged = false;
    }
  }
  p.headers.verdict = v;
  if (!p.judged) return;

  const QpConfig& qp = p.qp;
  CheckedSrq* const srq = p.srq.get();
  p.config = checked_config(qp, p.of->address);
  if (srq) show_queue(p.config, srq->srqn, &srq->ahead);
  if (p.of_ee()) show_queue_pair(p.config, qp.served, p.named.get());
  if (p.of_ee() && !p.named) {  // what a queue pair has left behind that is gone
    p.config.queue_service = u8(Service::Rd);
    p.config.queue_state = u8(QpState::Rts);
    p.config.queue_domain = p.config.domain;
  }
  p.config.reads_finished = p.reads_finished;
  p.config.rq_posted = p.rq_posted;
  p.config.rq_failed = p.rq_failed;
  if (p.has_region) p.answered_region = checked_region(p.region);
  if (!p.of->packets++) p.fresh = checked_state(p.of->ahead, p.of->ahead.rq_consumed, 0);
  if (p.rd && std::exchange(p.rd->fresh, false)) p.fresh_rd = {p.rd->ahead.rq_consumed, 0};
  if (srq && std::exchange(srq->fresh, false)) p.fresh_srq = {srq->ahead.taken, srq->ahead.limit};
}

// Judges the request before the twin does, to determine the next state.
void ResponderCheckStimulus::judge_ahead(Packet& p) {
  CheckedQp& qp = *p.of;
  p.before = qp.ahead;
  CheckedSrq* const srq = p.srq.get();
  blocks::CheckedRequest checked;
  blocks::ResponderCheckItem item = p.item();
  item.state = &qp.ahead;
  item.shared = srq ? &srq->ahead : nullptr;
  item.checked = &checked;
  item.queues = &ahead_;
  const u32 taken = p.rd ? p.rd->ahead.rq_consumed : 0;
  item.process();
  if (qp.last) {
    p.distance = u32(made_ + 1 - qp.last);
    p.action_before = qp.last_action;
  }
  qp.last = made_ + 1;
  qp.last_action = checked.verdict.action;
  if (p.rd) {
    CheckedRdQueue& queue = *p.rd;
    if (queue.last_taken && queue.last_taker != qp.config.qpn)
      p.rd_distance = u32(made_ + 1 - queue.last_taken);
    if (queue.ahead.rq_consumed != taken) {
      queue.last_taken = made_ + 1;
      queue.last_taker = qp.config.qpn;
    }
  }
  if (!srq) return;
  if (srq->last_taken && srq->last_taker != qp.config.qpn)
    p.shared_distance = u32(made_ + 1 - srq->last_taken);
  if (checked.effect.takes_shared) {
    srq->last_taken = made_ + 1;
    srq->last_taker = qp.config.qpn;
  }
}
}  // namespace hca::testbench
