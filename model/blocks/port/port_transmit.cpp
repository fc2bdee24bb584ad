// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/blocks/port/port.h"
#include "model/blocks/send/read_order.h"
#include "model/proto/transport/reply_rules.h"

namespace hca::blocks {
namespace {
// Prefetches the fields of the next packet that are used first: they have left the first-level
// cache while its payload was read.
void fetch_ahead(const Packet& p) {
  __builtin_prefetch(&p);
  __builtin_prefetch(&p.shape);
}
}  // namespace

[[gnu::hot]] void PortTransmit::tick() {
  if (not_read_) [[unlikely]]
    return send_next_of_both();
  const bool replies = replies_in.can_pop(), requests = requests_in.can_pop();
  if (!replies && !requests) return;
  if (busy_until_) count_wait(kNever);
  const bool reply = replies && (replies_next_ || !requests);
  send(reply ? replies_in : requests_in, reply ? requests_in : replies_in);
}

// The same of three links; the third one is held here.
void PortTransmit::send_next_of_both() {
  if (now() < next_) return not_read_in.hold_until(next_);
  const bool is_third_read = is_next(not_read_in, requests_in);
  PacketLink& requests = is_third_read ? not_read_in : requests_in;
  PacketLink& third = is_third_read ? requests_in : not_read_in;
  const bool replies = replies_in.can_pop();
  if (!replies && !requests.can_pop()) return;
  if (busy_until_) count_wait(not_read_in.front_from());
  const bool reply = replies && (replies_next_ || !requests.can_pop());
  send(reply ? replies_in : requests, reply ? requests : replies_in);
  if (now() < next_) third.hold_until(next_);
  not_read_ = !not_read_in.empty();
}

namespace {
inline bool is_to_group(const Packet& p) {
  constexpr u32 kSecondWord = 4;  // of the BTH
  const u32 word = proto::load_be<4>(p.frame() + p.shape.transport_offset + kSecondWord);
  return (word & proto::kMulticastQp) == proto::kMulticastQp;
}
}  // namespace

// A response of a READ or ATOMIC whose queue pair has left the states that answer.
inline bool PortTransmit::stopped(const Packet& p) const {
  const bool response = !p.is_request && p.buffers;
  return response && contexts &&
         !proto::may_respond(contexts->qps[p.qpn], contexts->receive_of(p.qpn));
}

// The cycle of the first bit on the wire, less the latencies, of a packet that enters icrc_unit
// now.
[[gnu::cold]] Cycle PortTransmit::first_bit(const Packet& p) {
  const Cycle beats = icrc_.beats(p.frame_bytes), bits = pacer_.rate().cycles_for(p.frame_bytes);
  return std::max(now() + (beats > bits ? beats - bits : 0), link_free_);
}

// The next packet may start: when the link is free from `link_free` on, and all else.
inline Cycle PortTransmit::next_start(Cycle link_free) {
  const Cycle next = std::max({link_free, now() + config_.interval, icrc_.free_from()});
  busy_since_ = now() + 1;
  busy_until_ = link_free == next ? next : 0;
  return next_ = next;
}

// The first of the packets that are here has waited for the link.
inline void PortTransmit::count_wait(Cycle first) {
  const Cycle from = std::min({first, requests_in.front_from(), replies_in.front_from()});
  counters->waits_link += busy_until_ - std::clamp(from, busy_since_, busy_until_);
  busy_until_ = 0;
}

inline u32 PortTransmit::finish(Packet& p) {
  if (stand_ins) [[unlikely]]
    return finish_by(*stand_ins, p);
  if (!p.has_icrc) p.insert_icrc(network_crcs_);
  return p.end_frame();
}

// A port with link control, or of a core that is slower than its link, has more to do.
template <bool kSpecial>
[[gnu::always_inline]] inline void PortTransmit::send_as(PacketLink& from, PacketLink& other) {
  Packet* p = from.front();
  if (kSpecial && p->is_control) return send_control(from, other);
  if (stopped(*p)) [[unlikely]] {
    if (kSpecial && is_controlled) count_blocks(*p);
    from.drop();
    p->give_buffer(now() + 1);
    if (other.can_pop()) wake_at(now() + 1);
    return PacketPool::give_back(p);
  }
  if (p->tells_sent) [[unlikely]] {
    if (!sent_out->can_push()) return;
    sent_out->push(SentPacket{p->qpn, proto::psn_add(p->psn, 1), p->life});
    p->tells_sent = false;
  }
  if (kSpecial && is_controlled) count_blocks(*p);
  p->frame_bytes = finish(*p);
  const u32 on_wire = proto::bytes_on_link(p->frame_bytes, p->shape.framing);
  const Cycle through = icrc_.pass(now(), p->frame_bytes);
  const Cycle late = kSpecial && slow_ ? first_bit(*p) - now() : 0,
              at = through + config_.latency + late;
  const Cycle free = pacer_.next(now() + late, on_wire);
  if (kSpecial && slow_) link_free_ = free;
  const Cycle next = next_start(free - late);
  from.pop(next - now());
  other.hold_until(next);
  if (!from.empty()) fetch_ahead(*from.front());
  replies_next_ = p->is_request || (kSpecial && is_controlled);
  if (p->buffers) p->give_buffer(next);
  if (attributes && !may_send(*attributes, p->qpn)) [[unlikely]]
    return PacketPool::give_back(p);
  ++counters->tx_packets;
  counters->tx_bytes += p->frame_bytes;
  icrc_probe.event(through, Step::Passed, p->qpn, p->psn, p->is_request);
  probe.event(at, Step::Passed, p->qpn, p->psn, p->is_request);
  if (turns && is_to_group(*p)) [[unlikely]]
    turns->turn(*p, at);
  if (own && names_port(*attributes, p->frame(), p->shape)) [[unlikely]]
    return own->arrive(p, at);
  outside_.transmit(p, at);
}

[[gnu::noinline]] void PortTransmit::send_special(PacketLink& from, PacketLink& other) {
  send_as<true>(from, other);
}
[[gnu::hot]] void PortTransmit::send(PacketLink& from, PacketLink& other) {
  if (slow_ || is_controlled) [[unlikely]]
    return send_special(from, other);
  send_as<false>(from, other);
}

// FCTBS counts packets taken from the queue, also those that are no longer sent: the receiver's
// count follows with the next flow control packet.
[[gnu::cold]] void PortTransmit::count_blocks(const Packet& p) {
  if (!proto::is_native(p.shape.framing)) return;
  const u32 bytes = p.shape.icrc_offset + proto::kIcrcBytes + proto::kVcrcBytes;
  blocks_sent_[proto::lane_of(p.frame())] += u16(proto::credit_blocks(bytes));
}

// A frame of link_control passes no ICRC unit, but waits as long as one that does.
[[gnu::cold]] void PortTransmit::send_control(PacketLink& from, PacketLink& other) {
  Packet* p = from.front();
  if (const auto credit = proto::read_credit_packet(p->bytes()))
    proto::set_blocks_sent(p->frame(), blocks_sent_[credit->lane] & proto::kCreditMask);
  const Cycle start = std::max(now(), link_free_);
  const Cycle free = pacer_.next(start, proto::bytes_on_link(p->frame_bytes, p->shape.framing));
  if (slow_) link_free_ = free;
  const Cycle next = next_start(free - (start - now()));
  from.pop(next - now());
  other.hold_until(next);
  replies_next_ = false;
  probe.event(start + icrc_latency_ + config_.latency, Step::Passed);
  outside_.transmit(p, start + icrc_latency_ + config_.latency);
}
}  // namespace hca::blocks
