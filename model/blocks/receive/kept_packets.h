// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <utility>

#include "model/blocks/lib/by_qp.h"
#include "model/blocks/packet.h"

namespace hca::blocks {
// Packets ahead of the one that their queue pair expects, by PSN modulo the largest window.
class KeptPackets {
 public:
  // Replaces an older packet in the same place: one with the same PSN, or of another window.
  void keep(Packet* p) {
    Packet*& place = at(p->qpn, p->psn);
    if (place) PacketPool::give_back(place);
    place = p;
  }
  // nullptr: it is not here.
  Packet* take(u32 qpn, proto::Psn psn) {
    Packet*& place = at(qpn, psn);
    return place && place->psn == psn ? std::exchange(place, nullptr) : nullptr;
  }
  void clear(u32 qpn) {
    for (Packet*& place : packets_[qpn])
      if (place) PacketPool::give_back(std::exchange(place, nullptr));
  }

 private:
  using Window = std::array<Packet*, proto::kMostReordered>;
  Packet*& at(u32 qpn, proto::Psn psn) { return packets_[qpn][psn % proto::kMostReordered]; }

  ByQp<Window> packets_;
};
}  // namespace hca::blocks
