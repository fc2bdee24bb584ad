// SPDX-License-Identifier: Apache-2.0
// Multicast datagrams: one copy for each queue pair of the group (G25.2).
#include <algorithm>

#include "model/blocks/port/port.h"
#include "model/proto/transport/multicast.h"

namespace hca::blocks {
using namespace proto;

// G25.3: a copy of a datagram that leaves by this port, if a queue pair of it is to get one. The
// first bit is here in cycle `at`.
[[gnu::cold]] void PortReceive::turn(const Packet& p, Cycle at) {
  if (p.shape.framing == Framing::IbLocal) return;
  const Gid dgid = addressing_of(p.frame(), p.shape).destination_gid;
  bool any = false;
  contexts_.each_receiver(port_, dgid, p.frame(), p.shape, p.qpn, [&](u32) { any = true; });
  if (!any) return;
  Packet* copy = pool_.take();
  copy->set_frame(p.on_link());
  copy->turned = true;
  arrive(copy, at);
}

// False: the packet itself goes no further.
bool PortReceive::spread(const Packet& p, Cycle checked) {
  const auto copy_to = [&](u32 qpn) {
    Packet* copy = pool_.take();
    copy->set_frame(p.on_link());
    copy->parsed = p.parsed;
    copy->first = p.first;
    copy->last = std::max(p.last, now()) + (checked - now());
    copy->qpn = qpn;
    copy->psn = p.parsed.bth.psn;
    copies_.push({copy, checked});
    pending_ |= kCopies;
    ++counters.rx_copies;
  };
  const u32 sender = p.turned ? p.parsed.deth.src_qp : kAnyQp;
  const auto is_attached = [&](const Gid& dgid) {
    contexts_.each_receiver(port_, dgid, p.frame(), p.parsed, sender, copy_to);
    return !copies_.empty();
  };
  if (const auto dropped = multicast_drop(attributes_, p.frame(), p.parsed, is_attached))
    return drop(dropped);
  wake_at(now() + 1);
  return false;
}
}  // namespace hca::blocks
