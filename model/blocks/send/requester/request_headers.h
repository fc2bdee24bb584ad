// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/message_start.h"

namespace hca::blocks {
// The facts about a packet that the requester needs once its headers are written.
struct CutPacket {
  proto::PsnRange psns{};
  bool ack_requested = false, last = false;
};

// Writes the headers of request packets: from the tables, or from those of an earlier packet with
// only the differences changed.
class RequestHeaders : RequesterPart {
 public:
  RequestHeaders(const RequesterPart& shared, const MessageStart::Datagram& datagram)
      : RequesterPart(shared), datagram_(datagram) {}

  // Writes the headers of the next packet of the message in progress.
  [[gnu::always_inline]] void write(Packet& packet, u32 qpn, SendQueue& q, CutPacket& cut);

 private:
  [[gnu::noinline]] void build(Packet& packet, u32 qpn, SendQueue& q, CutPacket& cut);
  void repeat_lone(Packet& packet, const SendQueue& q, CutPacket& cut);

  const MessageStart::Datagram& datagram_;
};

inline void RequestHeaders::write(Packet& p, u32 qpn, SendQueue& q, CutPacket& cut) {
  const proto::SentMessage& m = *q.message;
  const bool is_middle = q.packet + 1 < m.packets;
  if (is_middle && q.repeated.hold(contexts_.version)) [[likely]] {
    cut.psns.first = proto::psn_add(m.first_psn, q.packet);
    cut.psns.count = 1;
    q.repeated.write(p.frame(), cut.psns.first);
    p.set_shape(q.repeated.shape());
  } else if (q.lone.is_like(q.wqe, m, contexts_.version)) {
    repeat_lone(p, q, cut);
  } else {
    build(p, qpn, q, cut);
  }
}
}  // namespace hca::blocks
