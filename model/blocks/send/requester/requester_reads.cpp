// SPDX-License-Identifier: Apache-2.0
// READ and ATOMIC at the requester: their responses are judged and their data go to host memory.
#include <algorithm>

#include "model/blocks/send/requester/requester.h"

namespace hca::blocks {
using namespace proto;

// What the response of a READ or ATOMIC will need of its WQE, whose buffer goes back before.
void Requester::keep_buffers(u32 index, Lane& lane) {
  AwaitedWork& work = lane.awaited.add();
  const u32 bytes = lane.cursor.count * kSgeBytes;
  work.index = index;
  std::copy_n(lane.cursor.segments, bytes, work.segments.data());
  work.cursor = {work.segments.data(), lane.cursor.count};
}

// The oldest READ or ATOMIC that is not answered.
const SentMessage* Requester::awaited(u32 qpn) {
  const SendState& s = send_[connection_of(qpn)];
  return response::awaits_response(s) ? &sent_.message(connection_of(qpn), s.awaited) : nullptr;
}

// A READ response or an ATOMIC Acknowledge.
void Requester::take_response(const Acknowledgement& a, const QpConfig& qp) {
  SendState& s = send_[connection_of(a.qpn)];
  Lane& lane = lanes_[a.qpn];
  Packet* p = a.packet;
  ResponseVerdict v = judge_response(s, qp, awaited(a.qpn), p->parsed);
  const bool atomic = p->parsed.opcode->operation == Operation::AtomicAcknowledge;
  const u32 bytes = atomic ? kAtomicBytes : p->parsed.payload_bytes;
  if (v.places && !may_place(lane.awaited.front(), qp, bytes))
    v = {response::fail(a.psn, WcStatus::LocProtErr, "T9-15")};
  if (!v.places) {
    PacketPool::give_back(p);
    return act(a.qpn, v);
  }
  if (p->parsed.has(Ext::Aeth)) take_credits(s, a.msn, a.syndrome);
  ++counters.responses;
  if (v.completes)
    answer_awaited(
        s, [&](u32 i) -> const SentMessage& { return sent_.message(connection_of(a.qpn), i); });
  if (!bytes) {
    mark_placed(a.qpn, lane.awaited.pop().index);
    PacketPool::give_back(p);
    return act(a.qpn, v);
  }
  // The ICRC is checked: an ATOMIC's value takes the place of the headers, in the host's order.
  if (atomic) store_le8(p->frame(), p->parsed.atomic_ack_eth.original);
  p->life = lane.life;
  begin_placing(p, lane.awaited.front(), p->frame() + (atomic ? 0 : p->parsed.payload_offset),
                bytes, v.completes);
  act(a.qpn, v);
  place();
}

// Its keys still allow it; they did when the message began.
bool Requester::may_place(const AwaitedWork& work, const QpConfig& qp, u32 bytes) {
  GatherCursor at = work.cursor;
  while (bytes) {
    const auto sge = decode<Sge>(at.segments + at.index * kSgeBytes);
    const u32 here = std::min(bytes, sge.bytes - at.offset);
    if (here && !protection_.local(sge, accessor_of(qp), qp, kLocalWrite)) return false;
    bytes -= here, ++at.index, at.offset = 0;
  }
  return true;
}

// All data of a response packet go where the keys say now, in whatever cycle they are asked for.
void Requester::begin_placing(Packet* p, AwaitedWork& work, const u8* from, u32 bytes,
                              bool completes) {
  GatherCursor& at = work.cursor;
  placing_.packet = p, placing_.from = from, placing_.left = bytes;
  placing_.completes = completes;
  placing_.runs.clear(), placing_.run = 0;
  placing_.era = accesses_.begin();
  protection_.add_runs(at.segments, at.index, at.offset, bytes, placing_.runs);
  if (!completes) return;
  p->psn = work.index;  // what the notice names
  lanes_[p->qpn].awaited.drop();
}

void Requester::end_placing() {
  placing_.packet = nullptr;
  accesses_.end(placing_.era);
}

// Asks for the next piece of the response that is being placed; true when none is left.
bool Requester::place() {
  const Run run = placing_.runs[placing_.run++];
  const bool last = placing_.left == run.bytes;
  ports.responses_out->start().set_write(run.address, placing_.from, run.there ? run.bytes : 0,
                                         last ? placing_.packet : nullptr,
                                         last && placing_.completes, now() + 1, now() + 1);
  placing_.from += run.bytes, placing_.left -= run.bytes;
  if (last) end_placing();
  return last;
}

// The data of a READ or ATOMIC are ordered before all that follows.
void Requester::take_placed() {
  const Placed placed = placed_in.pop();
  Lane& lane = lanes_[placed.qpn];
  if (placed.life != lane.life) return;
  mark_placed(placed.qpn, placed.index);
  queue_completion(placed.qpn, lane);
  activate(placed.qpn, lane);
}

void Requester::mark_placed(u32 qpn, u32 index) {
  sent_.message(connection_of(qpn), index).placed = true;
  ++send_[connection_of(qpn)].reads_placed;
}

Dma::Client Requester::response_client() {
  return {this,
          [](void* owner, const DmaRequest& r, Cycle ordered, Cycle) {
            auto& x = *static_cast<Requester*>(owner);
            const Packet& p = *static_cast<Packet*>(r.context);
            x.placed_in.push(Placed{p.qpn, p.psn, p.life}, 1, ordered - x.dma.now() - 1);
          },
          [](void*, const DmaRequest& r) {
            if (r.context) PacketPool::give_back(static_cast<Packet*>(r.context));
          }};
}
}  // namespace hca::blocks
