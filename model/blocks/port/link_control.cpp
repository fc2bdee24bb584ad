// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/link_control.h"

#include <algorithm>

#include "model/blocks/port/link_headroom.h"
#include "model/blocks/send/read_order.h"

namespace hca::blocks {
using namespace proto;

namespace {
constexpr unsigned kManagement = kLanes;  // the place of lane 15
}  // namespace

void check_link_control(const LinkControlConfig& c) {
  engine::check_knobs(c);
  const auto wrong = [](const char* knob, u32 value, const std::string& allowed,
                        const char* problem) {
    throw engine::ConfigError(std::string("link_control.") + knob, std::to_string(value) + " B",
                              allowed, "", problem);
  };
  if (c.mode == FlowControl::Credits && c.buffer < kLargestFrame)
    wrong("buffer", c.buffer, std::to_string(kLargestFrame) + " B or more",
          "holds no packet of 4096 B with its headers");
  if (!c.xoff && c.xon)
    wrong("xon", c.xon, "0 B without link_control.xoff", "has no level to be below");
  if (c.stops() && c.xoff && !(c.xon < c.xoff && c.xoff <= c.buffer + c.shared))
    wrong("xoff", c.xoff,
          "above xon, " + std::to_string(c.xon) + " B, up to buffer and shared, " +
              std::to_string(c.buffer + c.shared) + " B",
          "is no level between them");
  if (c.mode == FlowControl::Credits && c.shared)
    wrong("shared", c.shared, "0 B with credits", "cannot be promised to a lane");
  if (c.shared && !c.any())
    wrong("shared", c.shared, "0 B with link_control.mode endless", "is beyond unlimited buffers");
  u32 of_tables = 0;
  for (const LaneArbiter::Entries& table : {c.high_entries(), c.low_entries()})
    for (const LaneArbiter::Entry& e : table) of_tables |= u32{e.weight != 0} << e.lane;
  for (u32 lane = 0; lane < c.lanes; ++lane)
    if (c.any() && !(of_tables >> lane & 1))
      throw engine::ConfigError(
          "link_control.lanes", std::to_string(c.lanes),
          "an entry with a weight for each of them in vl_arbitration", "",
          "has VL " + std::to_string(lane) + ", which is in no table and would never send");
  const std::array<u32, 16> lanes = c.lane_of_sl();
  for (u32 sl = 0; sl < lanes.size(); ++sl)
    if (lanes[sl] >= c.lanes)
      throw engine::ConfigError("link_control.sl_" + std::to_string(sl), std::to_string(lanes[sl]),
                                "0 .. " + std::to_string(c.lanes - 1), "",
                                "is no lane: link_control.lanes is " + std::to_string(c.lanes));
}

LinkControl::LinkControl(const LinkControlConfig& config, u64 link_rate, u64 clock_hz,
                         const PortAttributes& attributes, unsigned port)
    : config_(config),
      attributes_(attributes),
      port_(u8(port)),
      rate_(link_rate, clock_hz),
      arbiter_(config.high_entries(), config.low_entries(), config.high_limit),
      lane_of_sl_(config.lane_of_sl()),
      stall_limit_(engine::cycles_from_picoseconds(config.stall_limit, clock_hz)) {
  check_link_control(config);
  if (is(FlowControl::Auto) || (config.stops() && !config.xoff))
    throw engine::ConfigError(config.stops() ? "link_control.xoff" : "link_control.mode",
                              config.stops() ? "0 B" : "auto",
                              config.stops() ? "a level" : "another one", "",
                              "is for a scenario, which knows the framing and the cable");
  if (is(FlowControl::Credits)) changed_ = (1u << config.lanes) - 1;
}

void LinkControl::tick() {
  if (frames_in.can_pop()) {
    const ArrivingFrame frame = frames_in.pop();
    take(frame.packet, frame.taken);
  }
  if (freed_in.can_pop()) release(freed_in.pop());
  queue();
  if (waiting_) send();
  if (remind_at_ <= now()) remind();
  if (changed_) tell();
  if (stall_limit_ && (stalls_ || held_since_ != kNever)) [[unlikely]]
    watch_stall();
}

u32 LinkControl::room_of(const Packet& p) const {
  return is(FlowControl::Credits) ? credit_blocks(p.frame_bytes) * kCreditBlock : p.frame_bytes;
}

unsigned LinkControl::lane_of_received(const Packet& p) const {
  if (is(FlowControl::Pfc)) return priority_of(p.bytes());
  if (!is(FlowControl::Credits)) return 0;
  const u8 lane = proto::lane_of(p.frame());
  return lane == kManagementLane ? kManagement : lane % kLanes;
}

// A native packet gets its lane, but for that of management.
unsigned LinkControl::lane_of_sent(Packet& p) const {
  if (!is_native(p.shape.framing))
    return priority_of({p.frame(), std::min(p.held, p.shape.icrc_offset)});
  if (proto::lane_of(p.frame()) == kManagementLane) return kManagement;
  const unsigned lane = lane_of_sl_[service_level_of(p.frame())];
  if (is(FlowControl::Credits)) set_lane(p.frame(), u8(lane));
  return lane;
}

bool LinkControl::has_room(const Lane& lane, u32 room) const {
  const u32 of_lane = shared_of(lane.used), more = shared_of(lane.used + room) - of_lane;
  if (!more) return true;
  const u64 free = config_.shared - shared_used_;
  return more <= free && u64{of_lane} * 8 < free * config_.alpha;
}

// A frame's first byte is here.
void LinkControl::take(Packet* p, Cycle taken) {
  if (is_link_frame(p->bytes(), framing_row(Framing(attributes_.framing)).link)) {
    hear(*p);
    return PacketPool::give_back(p);
  }
  p->lane = u8(lane_of_received(*p));
  Lane& lane = lanes_[p->lane];
  const u32 room = room_of(*p);
  if (p->lane != kManagement) {
    if (!has_room(lane, room)) {
      ++counters.no_room;
      return PacketPool::give_back(p);
    }
    shared_used_ += shared_of(lane.used + room) - shared_of(lane.used);
    counters.most_shared = std::max<u64>(counters.most_shared, shared_used_);
    lane.used += room;
    used_ += room;
    lane.received += room / kCreditBlock;
    counters.most_bytes = std::max<u64>(counters.most_bytes, lane.used);
    watch(p->lane);
  }
  outputs.frames_out->deliver(std::max(taken, now() + 1), arrivals_++, p);
}

void LinkControl::release(const FreedRoom& freed) {
  if (freed.lane == kManagement) return;
  const u32 blocks = credit_blocks(freed.bytes) * kCreditBlock;
  Lane& lane = lanes_[freed.lane];
  const u32 room = is(FlowControl::Credits) ? blocks : freed.bytes;
  shared_used_ -= shared_of(lane.used) - shared_of(lane.used - room);
  lane.used -= room;
  used_ -= room;
  freed_at_ = now();
  watch(freed.lane);
}

// Sets the notification that the sender needs for a lane whose buffer has changed.
void LinkControl::watch(unsigned i) {
  Lane& lane = lanes_[i];
  const u32 bit = 1u << i;
  if (is(FlowControl::Credits)) {
    const u32 limit = credit_limit(lane.received, (config_.buffer - lane.used) / kCreditBlock);
    const u32 more = (limit - lane.told) & kCreditMask;
    if (more && (more * kCreditBlock >= config_.credit_update || !lane.used)) changed_ |= bit;
  } else if (!is(FlowControl::Lossy)) {
    const bool stopped = stopped_ & bit;
    if (stopped ? lane.used > config_.xon : lane.used < config_.xoff) return;
    stopped_ ^= bit;
    changed_ |= bit;
  }
}

void LinkControl::queue() {
  const auto add = [&](PacketLink& from, bool reply) {
    if (!from.can_pop()) return;
    const unsigned i = lane_of_sent(*from.front());
    Lane& lane = lanes_[i];
    if (reply && lane.replies.size() == kMostReplies) return;  // send() makes room
    (reply ? lane.replies : lane.requests).push(from.pop());
    waiting_ |= 1u << i;
  };
  add(next_of(not_read_in, requests_in), false);
  add(replies_in, true);
  if (shows(not_read_in) || requests_in.can_pop()) wake_at(now() + 1);
}

bool LinkControl::may_send(Lane& lane) {
  if (lane.from > now()) {
    wake_at(lane.from);
    return false;
  }
  if (!is(FlowControl::Credits) || &lane == &lanes_[kManagement]) return true;
  const Packet& p = *lane.next().front();
  const u32 bytes = p.shape.icrc_offset + kIcrcBytes + kVcrcBytes;
  return may_send_blocks(lane.sent, credit_blocks(bytes), lane.limit);
}

void LinkControl::hold(bool held) {
  u64& waits = is(FlowControl::Credits) ? counters.waits_credits : counters.waits_pause;
  if (!held) waits += now() - held_since_;
  held_since_ = held ? now() : kNever;
}

void LinkControl::send() {
  u32 ready = 0;
  for (unsigned i = 0; i < kAllLanes; ++i)
    if (waiting_ >> i & 1 && may_send(lanes_[i])) ready |= 1u << i;
  if (!ready == (held_since_ == kNever)) hold(!ready);
  if (!ready || !outputs.packets_out->can_push()) return;
  const bool management = ready >> kManagement & 1;
  const unsigned i = management ? kManagement : arbiter_.pick(ready);
  Lane& lane = lanes_[i];
  Ring<Packet*>& from = lane.next();
  if (&from == &lane.replies && from.size() == kMostReplies) wake_at(now() + 1);
  Packet* p = from.pop();
  lane.replies_next = &from == &lane.requests;
  const u32 crcs = is_native(p->shape.framing) ? kIcrcBytes + kVcrcBytes : kIcrcBytes;
  const u32 bytes = p->shape.icrc_offset + crcs;
  if (!management) arbiter_.count(bytes);
  lane.sent += credit_blocks(bytes);
  if (is(FlowControl::Credits) && remind_at_ == kNever) {
    remind_at_ = now() + rate_.cycles_for(kCreditSymbols * 4);
    wake_at(remind_at_);
  }
  if (!lane.waits()) waiting_ &= ~(1u << i);
  outputs.packets_out->push(p);
  if (waiting_) outputs.packets_out->wake_when_free();
}

void LinkControl::hear(const Packet& p) {
  const std::span<const u8> frame = p.bytes();
  if (const auto credit = read_credit_packet(frame); credit && is(FlowControl::Credits)) {
    if (credit->lane >= config_.lanes) return;
    Lane& lane = lanes_[credit->lane];
    lane.limit = credit->limit;
    lane.received = credit->sent;
    ++counters.heard;
    watch(credit->lane);
    return;
  }
  const auto control = read_mac_control(frame);
  if (!control || is(FlowControl::Credits) || is(FlowControl::Lossy)) return;
  ++counters.heard;
  const bool all = control->opcode == MacControlOpcode::Pause;
  for (unsigned i = 0; i < kLanes; ++i)
    if (all || control->parameter >> i & 1)
      lanes_[i].from = now() + rate_.cycles_for(u64{all ? control->parameter : control->times[i]} *
                                                kQuantumBits / 8);
}

// Nothing may be sent, and nothing leaves the receive buffer: requests of the peer may wait for
// answers of this port, which wait for the peer. Until something may be sent again, requests
// without room go: the responses after them arrive, and the peer may send. Senders repeat them.
[[gnu::cold]] void LinkControl::watch_stall() {
  const bool stands = held_since_ != kNever && used_;
  if (!stalls_) {
    if (!stands) return;
    const Cycle due = std::max(held_since_, freed_at_) + stall_limit_;
    if (now() < due) return wake_at(due);
    ++counters.stalls;
  } else if (stands) {
    return;
  }
  stalls_ = stands;
  outputs.stalls_out->deliver(now() + 1, 0, stalls_);
}

std::string LinkControl::standstill() const {
  if (held_since_ == kNever) return "";
  return "link_control: packets to be sent wait for " +
         std::string(is(FlowControl::Credits) ? "credits of the peer" : "the end of a pause") +
         " since cycle " + std::to_string(held_since_) + "; its receive buffer holds " +
         std::to_string(used_) + " B";
}

// Half of the advertised time is over, or a packet of each lane is due.
void LinkControl::remind() {
  remind_at_ = kNever;
  if (!is(FlowControl::Credits)) return void(changed_ |= stopped_);
  for (unsigned i = 0; i < config_.lanes; ++i)
    if (lanes_[i].sent != lanes_[i].sent_told) changed_ |= 1u << i;
}

// One frame, when port_transmit has room for it.
void LinkControl::tell() {
  if (!outputs.control_out->can_push()) return;
  Packet* p = pool_.take();
  p->is_control = true;
  p->is_request = p->tells_sent = false;
  p->buffers = nullptr;
  p->port = port_;
  p->qpn = 0;
  p->psn = 0;
  p->shape.framing = Framing(attributes_.framing);
  p->frame_bytes = write(p->frame());
  ++counters.told;
  probe.event(now(), Step::Passed, 0, stopped_, counters.told);
  outputs.control_out->push(p);
  if (changed_) outputs.control_out->wake_when_free();
  if (stopped_ && remind_at_ == kNever) {
    remind_at_ = now() + rate_.cycles_for(u64{config_.quanta} * kQuantumBits / 8 / 2);
    wake_at(remind_at_);
  }
}

// FCTBS is port_transmit's: it counts in the order of the wire.
u32 LinkControl::write(u8* frame) {
  if (is(FlowControl::Credits)) {
    const unsigned i = unsigned(std::countr_zero(changed_));
    Lane& lane = lanes_[i];
    lane.told = credit_limit(lane.received, (config_.buffer - lane.used) / kCreditBlock);
    lane.sent_told = lane.sent;
    changed_ &= changed_ - 1;
    const bool init = !up_;
    up_ |= !changed_;
    return write_credit_packet({init, 0, u16(lane.told), u8(i)}, frame);
  }
  MacControl control{.source = attributes_.mac};
  const u16 time = u16(config_.quanta);
  if (is(FlowControl::Pause)) {
    control.parameter = stopped_ ? time : 0;
  } else {
    control.opcode = MacControlOpcode::PriorityPause;
    control.parameter = u16(changed_);
    for (unsigned i = 0; i < kLanes; ++i) control.times[i] = stopped_ >> i & 1 ? time : 0;
  }
  changed_ = 0;
  return write_mac_control(control, frame);
}
}  // namespace hca::blocks
