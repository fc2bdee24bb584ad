// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/packetizer.h"

#include <algorithm>
#include <cstring>

namespace hca::blocks {
namespace {
proto::Sge sge_at(const GatherCursor& c) {
  return proto::decode<proto::Sge>(c.segments + c.index * proto::kSgeBytes);
}
}  // namespace

void GatherCursor::skip(u32 bytes) {
  if (!count) return void(inline_offset += bytes);
  while (bytes) {
    const u32 here = std::min(bytes, sge_at(*this).bytes - offset);
    offset += here;
    bytes -= here;
    if (offset == sge_at(*this).bytes) {
      ++index;
      offset = 0;
    }
  }
}

[[gnu::hot]] void Packetizer::start(Packet* packet, GatherCursor& cursor, ReadOrder& order,
                                    Cycle now, Cycle at) {
  packet->take_buffer(ports[packet->port].buffers_of(packet->lane));
  packet->abandoned = false;
  packet_ = packet;
  cursor_ = &cursor;
  left_ = packet->shape.payload_bytes;
  filled_ = 0;
  packet->first = kNever;
  enters_ = stage_.enter(at);
  ++counters.packets;
  counters.payload_bytes += left_;
  if (!cursor.count) {
    const PayloadPiece to = next_piece(left_);
    std::memcpy(to.at, cursor.segments + cursor.inline_offset, to.held);
    cursor.inline_offset += left_;
    left_ = 0;
  }
  if (!left_ && order.lets_pass(now)) return pass(packet, now);
  packet->order = &order;
  order.begin();
  gather_piece(now);
}

// Visible when an unobstructed empty read would have delivered it.
void Packetizer::pass(Packet* packet, Cycle now) {
  packet_ = nullptr;
  Port& port = ports[packet->port];
  const Cycle read = std::max(enters_, now + 1) + 1;
  packet->first = read;
  const Cycle at = port.last_not_read =
      release(*packet, read, std::max(port.last_not_read, read + 1));
  port.not_read_out->push(packet, 1, at - now - 1);
  not_read_probe.event(at, Step::Passed, packet->qpn, packet->psn);
}

bool Packetizer::gather(Cycle now) { return gather_piece(now); }

inline PayloadPiece Packetizer::next_piece(u32 bytes) {
  return packet_->piece(packet_->shape.payload_offset + filled_, bytes);
}

inline bool Packetizer::gather_piece(Cycle now) {
  // A packet without payload from memory keeps its place in its queue pair by an empty read.
  if (!left_) {
    ask(next_piece(0), 0, true, now);
    return true;
  }
  proto::Sge sge = sge_at(*cursor_);
  while (sge.bytes == cursor_->offset) {
    ++cursor_->index;
    cursor_->offset = 0;
    sge = sge_at(*cursor_);
  }
  // The key was good when the message began; a region that is gone since gives zeros.
  const proto::Run run = run_of(protection_.find(sge.lkey), sge.lkey, sge.va + cursor_->offset,
                                std::min(left_, sge.bytes - cursor_->offset));
  PayloadPiece to = next_piece(run.bytes);
  if (!run.there) {
    std::memset(to.at, 0, to.held);
    to.bytes = to.held = 0;
  }
  filled_ += run.bytes;
  left_ -= run.bytes;
  cursor_->offset += run.bytes;
  ++counters.gathers;
  ask(to, run.address, !left_, now);
  return !packet_;
}

inline void Packetizer::ask(const PayloadPiece& to, u64 address, bool complete, Cycle now) {
  const Cycle at = std::max({enters_, last_ask_ + 1, now + 1});
  last_ask_ = at;
  dma_out->start(1, at - now - 1).set_read(address, to, packet_, complete);
  if (complete) packet_ = nullptr;
}

// The cycle in which all of a packet's unit is in.
[[gnu::cold]] Cycle Packetizer::behind_unit(const Packet& p) const {
  return p.last + unit_rate_.cycles_for(p.behind_in_unit);
}

// A packet whose last byte is in goes to the port, as early as its time on the wire allows.
inline Cycle Packetizer::release(Packet& p, Cycle last, Cycle not_before) {
  p.last = last;
  Cycle at = ports[p.port].release.release(p.first, last, p.shape.payload_bytes);
  if (unit_) [[unlikely]]
    at = std::max(at, behind_unit(p));
  return std::max(at, not_before);
}

[[gnu::hot]] void Packetizer::arrived(const DmaRequest& request, Cycle first, Cycle last) {
  Packet* p = static_cast<Packet*>(request.context);
  p->first = std::min(p->first, first);
  if (!request.notify) return;
  const Cycle now = dma.now();
  if (p->abandoned) {
    p->order->end(now + 1);
    p->tells_sent = false;
    p->give_buffer(now + 1);
    return PacketPool::give_back(p);
  }
  Port& port = ports[p->port];
  const Cycle at = port.last_release = release(*p, last, std::max(port.last_release, now + 1));
  p->insert_icrc(network_crcs_);
  p->order->end(at);
  probe.event(at, Step::Passed, p->qpn, p->psn);
  port.packets_out->push(p, 1, at - now - 1);
}
}  // namespace hca::blocks
