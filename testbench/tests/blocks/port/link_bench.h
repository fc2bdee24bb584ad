// SPDX-License-Identifier: Apache-2.0
// link_control between a wire and a port that are programmed.
#pragma once
#include <utility>
#include <vector>

#include "model/blocks/port/link_control.h"
#include "testbench/tests/blocks/bench.h"

namespace hca::test {
inline constexpr u64 kLink = 100'000'000'000, kCore = 400'000'000;  // 31.25 bytes a cycle

// The cycles in which link_control tells that requests have to go (1), or no longer (0).
using Stalls = std::vector<std::pair<Cycle, u32>>;

struct MailTaker : engine::Block {
  void tick() {
    if (in.can_pop()) in.pop(), seen.push_back(now());
    if (stalls.can_pop()) stalled.emplace_back(now(), stalls.pop());
  }
  engine::Mailbox<Packet*> in;
  engine::Mailbox<u32> stalls;
  Cycles seen;
  Stalls stalled;
};

// Packets of 64 bytes are frames of 138 bytes.
struct LinkBench : Bench {
  // `depth`: packets that the port has room for, and takes from cycle `from` on; it has room for
  // one control frame, if it takes none before `control_from`.
  explicit LinkBench(const LinkControlConfig& c, proto::Framing framing = proto::Framing::RoceV2Ip4,
                     unsigned depth = kMostPackets, Cycle from = 0, Cycle control_from = 0)
      : config(c), link(config, kLink, kCore, attributes, 0) {
    attributes.framing = u8(framing);
    set_up(contexts, 1);
    add(link, "link_control"), add(mail, "port_receive");
    link.frames_in.connect(link.self, "frames"), link.freed_in.connect(link.self, "freed room");
    mail.in.connect(mail.self, "wire"), link.outputs.frames_out = &mail.in;
    mail.stalls.connect(mail.self, "stalls"), link.outputs.stalls_out = &mail.stalls;
    packets = &take(link.outputs.packets_out, link, depth, from);
    control = &take(link.outputs.control_out, link, control_from ? 1 : kMostPackets, control_from,
                    "control frames");
  }
  // Those seen in these cycles.
  void send(const Plan<Packet*>& plan) {
    feed(link.requests_in, link, plan);
    fed = true;
  }
  void feed_replies(const Plan<Packet*>& plan) {
    feed(link.replies_in, link, plan);
    fed_replies = true;
  }
  void run(Cycle until) {
    if (!fed) send({});
    if (!fed_replies) feed_replies({});
    domain.run_until(until);
  }
  Packet* packet(unsigned priority) {
    Packet* p = write_packet(pool, contexts.qps[1], 100, 64);
    p->frame()[15] = u8(priority << 5);
    return p;
  }
  // The first byte of a frame in `at`; it is taken 4 cycles later.
  void arrive(Cycle at, unsigned priority) {
    link.frames_in.deliver(at, frames++, {packet(priority), at + 4});
  }
  void hear(Cycle at, const proto::MacControl& said) {
    Packet* p = pool.take();
    p->frame_bytes = proto::write_mac_control(said, p->frame());
    link.frames_in.deliver(at, frames++, {p, at});
  }
  void hear(Cycle at, const proto::CreditPacket& said) {
    Packet* p = pool.take();
    p->frame_bytes = proto::write_credit_packet(said, p->frame());
    link.frames_in.deliver(at, frames++, {p, at});
  }
  void free(Cycle at, u8 lane) { link.freed_in.deliver(at, freed++, {lane, 138}); }
  proto::MacControl told(std::size_t i) const {
    const Packet& p = *control->items.at(i);
    return proto::read_mac_control({p.frame(), p.frame_bytes}).value();
  }
  proto::CreditPacket credit(std::size_t i) const {
    const Packet& p = *control->items.at(i);
    return proto::read_credit_packet({p.frame(), p.frame_bytes}).value();
  }
  LinkControlConfig config;
  proto::PortAttributes attributes;
  device::Contexts contexts;
  PacketPool pool;
  LinkControl link;
  MailTaker mail;
  Taker<Packet*, kMostPackets>* packets = nullptr;
  Taker<Packet*, kMostPackets>* control = nullptr;
  u32 frames = 0, freed = 0;
  bool fed = false, fed_replies = false;
};
inline constexpr LinkControlConfig kPfc{
    .mode = FlowControl::Pfc, .buffer = 1000, .xoff = 300, .xon = 150, .quanta = 100};
}  // namespace hca::test
