// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/blocks/port/port.h"
#include "model/device/migration.h"
#include "model/proto/transport/ee_context.h"
#include "model/proto/transport/kept_requests.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/work_rules.h"
#include "model/proto/wire/datagram.h"

namespace hca::blocks {
using namespace proto;

[[gnu::hot]] void PortReceive::arrive(Packet* packet, Cycle at) {
  const u32 bytes = packet->frame_bytes;
  packet->first = at + config_.latency;
  packet->last = packet->first + wire_.cycles_for(bytes) - 1;
  if (control) [[unlikely]]
    return arrive_at(*control, packet);
  arrivals_out->deliver(taken_at(*packet), arrivals_++, packet);
}

// The first 128 bytes hold all headers.
inline Cycle PortReceive::taken_at(const Packet& p) const {
  return config_.rx_forward == RxForward::Store ? p.last
                                                : std::min(p.last, p.first + all_headers_ - 1);
}

// A data frame comes to its buffer with its first byte, one of the link is read when all of it is
// in.
[[gnu::cold]] void PortReceive::arrive_at(LinkControl& first, Packet* p) {
  const bool is_control = is_link_frame(p->bytes(), framing_row(Framing(attributes_.framing)).link);
  first.frames_in.deliver(is_control ? p->last : p->first, arrivals_++,
                          {p, is_control ? p->last : taken_at(*p)});
}

// A packet that is taken now: its last beat, if the core is slower than the link, and its room,
// which it leaves when its last byte is through the ICRC unit.
[[gnu::cold]] void PortReceive::prepare(Packet& p) {
  const Cycle last = std::max(p.last, now() + icrc_.beats(p.frame_bytes) - 1);
  if (slow_) p.last = last;
  if (control) control->freed_in.deliver(last + 1, taken_++, {p.lane, p.frame_bytes});
}

// Doorbells, events, copies of datagrams, kept packets, a packet held for path migration. True:
// there was one of these three, and what arrives waits.
[[gnu::noinline]] bool PortReceive::serve_beside() {
  if (bells_in.can_pop() && outputs.bells_out->can_push()) ring(bells_in.pop());
  if (!events_.empty()) push_event();
  const bool copies = !copies_.empty();
  if (copies) forward_copy();
  const bool kept = !copies && !kept_.empty();
  if (kept) forward_kept();
  const bool held = held_.packet;
  if (held && !copies && !kept) forward_held();
  pending_ = (bells_in.empty() ? 0 : kBells) | (events_.empty() ? 0 : kEvents) |
             (copies_.empty() ? 0 : kCopies) | (kept_.empty() ? 0 : kKept) |
             (held_.packet ? kHeld : 0);
  return copies || kept || held;
}

[[gnu::hot]] void PortReceive::tick() {
  if (control && stalls_in.can_pop()) [[unlikely]]
    stalls_ = stalls_in.pop();
  if (pending_ && serve_beside()) [[unlikely]]
    return;
  if (!packets_in.can_pop()) return;
  if (stalls_ && gives_up()) [[unlikely]]
    return;
  if (has_room()) take();
}

// The first packet, which has room.
inline void PortReceive::take() {
  // A stored frame went through the ICRC unit as it came, if the unit can keep up.
  const bool stored = config_.rx_forward == RxForward::Store && !slow_;
  const Cycle checked = icrc_.pass(now(), stored ? 1 : packets_in.front()->frame_bytes);
  if (slow_ || control) [[unlikely]]
    prepare(*packets_in.front());
  receive(packets_in.pop(std::max(config_.interval, icrc_.free_from() - now())), checked);
}

// The first packet waits, and both directions of the port stand still: a request is dropped, a
// response goes on if there is room for responses. True: something was done.
[[gnu::cold]] bool PortReceive::gives_up() {
  if (has_room()) return false;
  Packet* const p = packets_in.front();
  const LinkLayer link = framing_row(Framing(attributes_.framing)).link;
  const bool good =
      check_frame(p->on_link(), link, known_, network_crcs_, p->parsed) == PacketVerdict::Good;
  if (good && p->parsed.opcode && !p->parsed.opcode->is_request) {
    if (!outputs.acks_out->can_push() || !outputs.cnps_out->can_push()) return false;
    take();
    return true;
  }
  prepare(*p);
  packets_in.pop();
  ++counters.rx_given_up;
  PacketPool::give_back(p);
  return true;
}

inline void PortReceive::receive(Packet* p, Cycle checked) {
  ++counters.rx_packets;
  counters.rx_bytes += p->frame_bytes;
  probe.event(now(), Step::Arrived, 0, 0, p->frame_bytes);
  if (is_down(attributes_)) [[unlikely]] {
    drop(&DropCounters::port_down);
    return PacketPool::give_back(p);
  }
  p->qpn = 0;
  if (!frame_good(*p, checked)) [[unlikely]]
    return held_.packet == p ? void() : PacketPool::give_back(p);
  pass(p, checked);
}

inline void PortReceive::pass(Packet* p, Cycle checked) {
  if (!device::is_ee(p->qpn)) [[likely]]
    p->qpn = p->parsed.bth.dest_qp;
  p->psn = p->parsed.bth.psn;
  p->last = std::max(p->last, now()) + (checked - now());
  const OpcodeRow* opcode = p->parsed.opcode;  // none: a reserved one
  icrc_probe.event(p->last, Step::Received, p->qpn, p->psn, opcode && opcode->is_request);
  route(p, contexts_.qps[p->qpn], checked);
}

// Answers a marked packet that passed header validation.
[[gnu::cold]] void PortReceive::answer_congestion(const Packet& p, const QpConfig& qp) {
  const bool has_path = qp.service != Service::Ud;
  if (const Cycle at = has_path ? congestion_.notify(p, p.last) : kNever; at != kNever)
    outputs.cnps_out->push(Reply{.qpn = p.qpn, .cnp = true}, 1, at - now() - 1);
}

// G26.1: returns a FECN that no answer follows; the next answer owes nothing for it.
[[gnu::cold]] void PortReceive::answer_fecn(Packet& p, const QpConfig& qp) {
  Reply reply{.qpn = p.qpn, .cnp = true, .native = true};
  p.effect.congested = false;
  if (qp.service == Service::Ud) {
    const CnPlan plan = plan_cn(qp, p.frame(), p.parsed);
    const OpcodeRow& row = *opcode_row(kCnOpcode);
    Packet* const cn = reply.packet = pool_.take();
    cn->qpn = p.qpn;
    cn->psn = 0;
    cn->is_request = false;
    cn->buffers = nullptr;
    write_headers(plan.path, row, plan.bth, {}, 0, cn->frame());
    cn->shape = shape_of(plan.path, row, 0);
  }
  const Cycle at = congestion_.notify_fecn(p, p.last);
  outputs.cnps_out->push(reply, 1, at - now() - 1);
}

inline bool PortReceive::frame_good(Packet& p, Cycle checked) {
  const LinkLayer link = framing_row(Framing(attributes_.framing)).link;
  const PacketVerdict v = stand_ins
                              ? check_by(*stand_ins, p, link)
                              : check_frame(p.on_link(), link, known_, network_crcs_, p.parsed);
  u32& dest_qp = p.parsed.bth.dest_qp;
  if (v != PacketVerdict::Good) [[unlikely]]
    return drop(counter_of(v));
  if (is_of_rd(p.parsed) && has(contexts_.options, Capability::Rd)) [[unlikely]]
    return is_for_context(p);
  const QpConfig* qp = contexts_.find_qp(dest_qp);
  if (!qp && dest_qp == kMulticastQp) [[unlikely]]
    return spread(p, checked);
  const auto counter = port_drop(attributes_, port_, p.frame(), p.parsed, qp);
  if (qp && qp->path_mig != PathMigState::Migrated) [[unlikely]]
    return passes_path(p, *qp, checked, counter);
  return !counter || drop(counter);
}

// T12, steps 3 to 6: RDETH names the EE context.
[[gnu::cold]] bool PortReceive::is_for_context(Packet& p) {
  const bool are_read = stand_ins && stand_ins->rx_parser;
  if (!are_read) read_rd_headers(p.parsed, p.bytes());
  const u32 ee = device::ee_number(p.parsed.rdeth.ee_context);
  const auto counter =
      port_drop(attributes_, port_, p.frame(), p.parsed, contexts_.find_number(ee));
  if (counter)
    return drop(counter == &DropCounters::unknown_qp ? &DropCounters::bad_ee_context : counter);
  const bool response = p.parsed.opcode && !p.parsed.opcode->is_request;
  p.qpn = response ? ee : device::receiver_number(ee);
  return true;
}

bool PortReceive::drop(u64 DropCounters::*counter) {
  using D = DropCounters;
  counts_.drop(port_, counter);
  ++(counter == &D::bad_icrc || counter == &D::bad_vcrc         ? counters.rx_bad_icrc
     : counter == &D::port_down                                 ? counters.rx_port_down
     : counter == &D::not_for_port || counter == &D::wrong_vlan ? counters.rx_wrong_address
     : counter == &D::unknown_qp                                ? counters.rx_unknown_qp
     : counter == &D::wrong_port                                ? counters.rx_wrong_port
                                                                : counters.rx_bad_frame);
  return false;
}

// The packet goes on when the state of its queue pair calls for no further step.
[[gnu::cold]] void PortReceive::forward_held() {
  if (!held_.asked) return ask_step();
  wake_at(now() + 1);
  Packet* const p = held_.packet;
  const QpConfig* qp = contexts_.find_qp(p->qpn);
  if (qp &&
      path_step(device::path_step_view(contexts_, *qp, port_, p->parsed, p->frame())) == held_.step)
    return;
  if (!outputs.requests_out->can_push() || !outputs.acks_out->can_push() ||
      !outputs.cnps_out->can_push())
    return;
  held_.packet = nullptr;
  const Cycle checked = std::max(held_.checked, now());
  const auto counter = port_drop(attributes_, port_, p->frame(), p->parsed, qp);
  const bool good = qp ? passes_path(*p, *qp, checked, counter) : drop(counter);
  if (good) return pass(p, checked);
  if (held_.packet != p) PacketPool::give_back(p);
}

// Requests wait for nothing but their headers, responses for their last beat.
inline void PortReceive::route(Packet* p, const QpConfig& qp, Cycle checked) {
  const bool response = p->parsed.opcode && !p->parsed.opcode->is_request;
  if (!response) {
    const Cycle at = responder_.check(*p, now(), checked);
    if (is_kept(p->verdict)) [[unlikely]]
      return keep(p, at);
    if (draws_cnp(p->frame(), p->parsed) && may_draw_cnp(p->verdict.cause)) [[unlikely]]
      answer_congestion(*p, qp);
    else if (p->parsed.bth.fecn && draws_cn(qp, p->parsed, p->verdict)) [[unlikely]]
      answer_fecn(*p, qp);
    if (p->verdict.cause != RequestCause::Good && !is_refusal(p->verdict.action)) [[unlikely]]
      counts_.add(qp, p->verdict.cause);
    if (p->verdict.cause == RequestCause::BadQkey && is_refusal(p->verdict.action)) [[unlikely]]
      counts_.drop(port_, &DropCounters::bad_qkey);  // T10-12
    const bool silent = is_silent(p->verdict.action);
    if (silent) [[unlikely]] {
      counts_.drop(port_, counter_of(p->verdict.cause, qp, p->frame(), p->parsed));
      if (qp.service == Service::Ud) counts_.drop(port_, counter_without_place(p->verdict.cause));
      if (p->verdict.action == RequestAction::Drop) return PacketPool::give_back(p);
    }
    if (responder_.below_limit) [[unlikely]]
      tell({EventType::SrqLimitReached, std::exchange(responder_.below_limit, 0)}, now() + 1);
    if (qp.state == QpState::Rtr && responder_.take_established(p->qpn)) [[unlikely]]
      establish(p->qpn);
    // A WQE of an SRQ cannot be put back: responder_execute ends it (G9.2).
    if (silent && !uses_srq(qp)) [[unlikely]]
      return PacketPool::give_back(p);
    if (responder_.keeps(p->qpn)) [[unlikely]]
      offer_kept(p->qpn);
    return outputs.requests_out->push(p, 1, at - now() - 1);
  }
  Acknowledgement a;
  const Cycle at = response_.check(*p, p->last, a);
  if (draws_cnp(p->frame(), p->parsed) && at != kNever) [[unlikely]]
    answer_congestion(*p, qp);
  else if (p->parsed.bth.fecn && at != kNever && response_draws_cn(qp, p->parsed)) [[unlikely]]
    answer_fecn(*p, qp);
  if (at != kNever) outputs.acks_out->push(a, 1, at - now() - 1);
  if (!a.packet) PacketPool::give_back(p);
}

// A copy of a multicast datagram, when its turn has come.
[[gnu::cold]] void PortReceive::forward_copy() {
  if (!outputs.requests_out->can_push() || !outputs.acks_out->can_push()) return;
  const Copy copy = copies_.pop();
  route(copy.packet, contexts_.qps[copy.packet->qpn], std::max(copy.checked, now()));
  wake_at(now() + 1);
}

// A packet that was kept, as it is expected now.
[[gnu::cold]] void PortReceive::forward_kept() {
  if (!outputs.requests_out->can_push() || !outputs.acks_out->can_push() ||
      !outputs.cnps_out->can_push())
    return;
  Packet* const p = kept_.pop();
  p->last = std::max(p->last, now());
  route(p, contexts_.qps[p->qpn], now());
  wake_at(now() + 1);
}

[[gnu::cold]] void PortReceive::establish(u32 qpn) {
  if (device::is_ee(qpn)) return tell({EventType::EecCommEst, device::eecn_of(qpn)}, now() + 1);
  tell({EventType::CommEst, qpn}, now() + 1);
}

[[gnu::cold]] void PortReceive::tell(Event event, Cycle at) {
  events_.push(event);
  pending_ |= kEvents;
  wake_at(at);
}

// COMM_EST and SRQ_LIMIT_REACHED, by `command`.
[[gnu::cold]] void PortReceive::push_event() {
  if (!outputs.events_out->can_push()) return;
  const Event event = events_.pop();
  outputs.events_out->push(
      {.qpn = event.object, .raise = true, .event = event.type, .fails = false});
  if (!events_.empty()) outputs.events_out->wake_when_free();
}

[[gnu::noinline]] void PortReceive::ring(const ReceiveBell& bell) {
  if (bell.shared) return ring_shared(bell);
  const QpConfig* qp = contexts_.find_qp(bell.qpn);
  if (!qp || !has_receive_queue(*qp)) return;
  const bool late = qp->has_moved && !is_of_port(*qp, port_);
  outputs.bells_out->push(ReceiveBell{bell.qpn, responder_.post(bell.qpn, u16(bell.posted), late)});
}

// SRQ-10: to one that has failed, too.
void PortReceive::ring_shared(const ReceiveBell& bell) {
  if (const auto posted = responder_.post_shared(bell.qpn, u16(bell.posted)))
    outputs.bells_out->push(ReceiveBell{bell.qpn, *posted, true});
}
}  // namespace hca::blocks
