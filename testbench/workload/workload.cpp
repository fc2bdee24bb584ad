// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/workload.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
constexpr u64 pattern_of(u32 qp, u64 k) { return u64{qp} << 40 | k; }
}  // namespace

void Checker::fill(tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const {
  write_pattern(memory, address, traffic_.held_of(traffic_.message(qp, k).bytes), seed(false),
                pattern_of(qp, k));
}

void Checker::fill_served(tlm_::HostMemory& memory, u64 address,
                          const ServedPlaces::Content& what) const {
  write_pattern(memory, address, traffic_.held_of(traffic_.bytes), seed(true),
                pattern_of(what.qp, what.place));
}

bool Checker::has(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const {
  return !check_pattern(memory, address, traffic_.held_of(traffic_.message(qp, k).bytes),
                        seed(false), pattern_of(qp, k));
}

void Checker::check(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) {
  compare(memory, address, qp, k, seed(false), pattern_of(qp, k));
}

void Checker::check_served(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k,
                           const ServedPlaces::Content& what) {
  compare(memory, address, qp, k, seed(true), pattern_of(what.qp, what.place));
}

void Checker::compare(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k, u64 seed,
                      u64 pattern) {
  const Message m = traffic_.message(qp, k);
  const u32 bytes = traffic_.held_of(m.bytes);
  ++messages_;
  bytes_ += bytes;
  if (const auto wrong = check_pattern(memory, address, bytes, seed, pattern))
    fail(m.operation,
         fmt::format("{} of {} bytes: byte {} is {:#04x}, sent was {:#04x}", name(qp, k), m.bytes,
                     wrong->offset, wrong->found, wrong->expected));
}

bool Checker::check(const Wc& wc, std::string_view what) {
  if (wc.status == proto::WcStatus::Success) return true;
  fail(fmt::format("{} {}: completed with status {}, QP {:#x}", what, wc.wr_id,
                   proto::name_of(wc.status), wc.qp_num));
  return false;
}

void Checker::check(bool good, u32 qp, u64 k, const std::string& sentence) {
  const Message m = traffic_.message(qp, k);
  ++messages_;
  bytes_ += m.row().flushes ? 0 : m.bytes;
  if (!good) fail(m.operation, sentence);
}

std::string Checker::name(u32 qp, u64 k) const {
  return traffic_.qps == 1 ? fmt::format("message {}", k)
                           : fmt::format("message {} of queue pair {}", k, qp);
}

void Checker::fail(Operation operation, const std::string& sentence) {
  failed_ = true;
  if (failures_.size() < kKept)
    failures_.push_back(fmt::format("{}, {}: {}", where_, name_of(operation), sentence));
}

WriteWatch::WriteWatch(const Endpoint& end, const Traffic& traffic, Checker& checker)
    : end_(end), traffic_(traffic), buffers_(end_, traffic), checker_(checker), next_(traffic.qps) {
  if (traffic_.may_lose)
    for (u32 qp = 0; qp < traffic_.qps; ++qp) seen_.emplace_back(traffic_.messages_on(qp));
  watch_ = end_.verbs->memory().watch(buffers_.targets(), buffers_.target_bytes(),
                                      [this](u64 address, u64 bytes) { written(address, bytes); });
}
WriteWatch::~WriteWatch() { end_.verbs->memory().unwatch(watch_); }

void WriteWatch::written(u64 address, u64 bytes) {
  const FlightPlaces& flights = buffers_.flights();
  const u64 place = flights.places().place_at(address - buffers_.targets());
  if (place >= flights.places().count()) return;
  const u32 qp = flights.qp_of(place);
  if (traffic_.may_lose) return written_unreliably(qp, place, address + bytes);
  u64& k = next_[qp];
  Message m = traffic_.message(qp, k);
  while (!m.lands()) m = traffic_.message(qp, ++k);
  const u64 slot = address_of(qp, k);
  if (address < slot || address + bytes > slot + m.bytes)
    return checker_.fail(m.operation, fmt::format("{} bytes written at {:#x}, {} belongs at {:#x}",
                                                  bytes, address, checker_.name(qp, k), slot));
  if (address + bytes == slot + m.bytes) arrive(qp, k);
}

void WriteWatch::arrive(u32 qp, u64 k) {
  checker_.check(end_.verbs->memory(), address_of(qp, k), qp, k);
  next_[qp] = k + 1;
  arrived_ += !traffic_.message(qp, k).row().takes_receive;
  end_.cpu->notice();
}

// If a message of one byte was lost, another one of its slot may have been taken for it: the
// immediate data distinguish them, and its byte is there.
bool WriteWatch::is_there(u32 qp, u64 k) const {
  return checker_.has(end_.verbs->memory(), address_of(qp, k), qp, k);
}

// The message that is complete with the byte before `end`, if there is one: the next of this place
// that has not come, or one that has.
void WriteWatch::written_unreliably(u32 qp, u64 place, u64 end) {
  constexpr u64 kFarthest = 256;  // messages that are looked at
  const FlightPlaces& flights = buffers_.flights();
  const u64 slot = buffers_.targets() + flights.places().offset(place), period = flights.period();
  const auto is_complete = [&](u64 k) {
    const Message m = traffic_.message(qp, k);
    return m.lands() && flights.of(qp, k) == place && slot + m.bytes == end &&
           checker_.has(end_.verbs->memory(), slot, qp, k);
  };
  const u64 next = next_[qp], behind = next % period;
  const u64 from = next + (flights.begin(place) + period - behind) % period;
  for (u64 k = from; k < std::min(seen_[qp].size(), from + kFarthest * period); k += period)
    if (!seen_[qp][k] && is_complete(k)) {
      seen_[qp][k] = true;
      return arrive(qp, k);
    }
  for (u64 k = from; k >= period && from - k < kFarthest * period;) {
    k -= period;
    if (!is_complete(k)) continue;
    if (seen_[qp][k]) return void(++duplicates_);
    return seen_[qp][k] = true, arrive(qp, k);
  }
}

Pieces::Pieces(const SgeList& whole, u32 count)
    : count_(std::clamp(whole.length, 1u, std::min(count, kMaxSges))) {
  const u32 each = whole.length / count_;
  for (u32 i = 0; i < count_; ++i)
    list_[i] = {whole.addr + u64{i} * each, i + 1 == count_ ? whole.length - i * each : each,
                whole.lkey};
}
Pieces pieces_of(const SgeList& whole, const Traffic& t) { return {whole, t.sges}; }

void check_no_more(Cq& cq, const Endpoint& end, Checker& checker) {
  std::array<Wc, 1> wc;
  if (end.verbs->poll_cq(cq, wc))
    checker.fail(fmt::format("a completion too many: work request {} of QP {:#x}", wc[0].wr_id,
                             wc[0].qp_num));
}

bool waits_by_events(const Endpoint& end, const Traffic& t) {
  return end.events && t.by_events.value_or(end.cpu->by_events);
}
Cycle found_nothing(const Endpoint& end, const Traffic& t, Cq& cq) {
  if (!waits_by_events(end, t)) return 0;
  if (end.verbs->take_interrupt(*end.events)) {
    while (end.verbs->get_cq_event(*end.events)) {
    }
    return end.cpu->pay(HostCost::Event, end.cpu->event);
  }
  const bool solicited = t.solicited && &cq == end.recv_cq;
  // Another workload may have armed it, only for solicited events.
  if (cq.armed == proto::Arm::Next || (solicited && cq.armed == proto::Arm::Solicited)) return 0;
  end.verbs->req_notify_cq(cq, solicited);
  return end.cpu->pay(HostCost::Arm, end.cpu->arm);
}

SendWr work_request(const Endpoint& end, const Buffers& peer, const Traffic& t, u32 qp, u64 k,
                    std::span<const SgeList> list) {
  const Message m = t.message(qp, k);
  SendWr wr;
  wr.wr_id = k;
  wr.sg_list = list;
  wr.opcode = m.row().opcode;
  wr.send_flags = (k + 1) % t.signal_every == 0 || k + 1 == t.messages_on(qp) ? u32(kSignaled) : 0;
  wr.push = t.push;
  if (t.receive_header) wr.ah = end.to_peer[qp];
  if (!end.targets.empty()) wr.remote_srqn = end.peer->srqs[end.peer->srq_for(qp, k)]->srqn;
  if (!end.rd_to_peer.empty()) wr.rd = end.rd_to_peer[qp];
  if (t.fence) wr.send_flags |= kFence;
  if (t.solicited && m.takes_receive()) wr.send_flags |= kSolicited;
  if (m.row().work().may_be_inline() && m.bytes < t.inline_below) wr.send_flags |= kInline;
  if (m.row().immediate) wr.imm_data = u32(k);
  if (m.row().invalidates) wr.imm_data = end.peer_taken.rkey;
  if (m.row().writes || m.row().flushes) {
    const Buffer target = peer.target(qp, k);
    wr.remote_addr = target.addr;
    wr.rkey = target.rkey;
  }
  if (m.row().flushes)
    wr.operands.set(proto::FlushOperands{proto::kPlaceGlobal, proto::kFlushRange, m.bytes});
  if (m.row().is_read()) {
    const Buffer served = peer.served(qp, k);
    wr.remote_addr = served.addr;
    wr.rkey = served.rkey;
  }
  return wr;
}

ReceivePoster::ReceivePoster(const Endpoint& end, const Traffic& traffic)
    : end_(end),
      traffic_(traffic),
      buffers_(end, traffic),
      uses_(traffic.working_set ? u64{traffic.qps} * traffic.receive_depth : 0),
      late_(end.srqs.size()) {}

SgeList ReceivePoster::buffer(u32 qp, u64 slot) const {
  const u64 number = number_of(qp, slot);
  const Buffer buffer = buffers_.received(number, uses_.empty() ? 0 : uses_[number]);
  return {buffer.addr, traffic_.bytes + traffic_.receive_header, buffer.lkey};
}

void ReceivePoster::post(u32 qp, u64 slot) {
  if (!uses_.empty()) ++uses_[number_of(qp, slot)];
  if (end_.shares_receives()) return post_late(slot);
  const Pieces pieces = pieces_of(buffer(qp, slot), traffic_);
  end_.verbs->post_recv(*end_.qps[qp], {slot, pieces.list()});
}

void ReceivePoster::post_late(u64 slot) {
  late_[slot % late_.size()].push_back(slot);
  post_late();
}

void ReceivePoster::post_late() {
  for (std::deque<u64>& slots : late_)
    for (; !slots.empty(); slots.pop_front()) {
      const u64 slot = slots.front();
      const Pieces pieces = pieces_of(buffer(0, slot), traffic_);
      if (end_.verbs->post_srq_recv(end_.srq_of(slot), {slot, pieces.list()}) != Error::None) break;
    }
}

namespace {
u64 receives_on(const Traffic& t, u32 qp) {
  return t.count(qp, [](const Message& m) { return m.takes_receive(); });
}
// The receive WQEs that all messages take of each SRQ.
std::vector<u64> receives_of_srqs(const Endpoint& end, const Traffic& t) {
  std::vector<u64> all(end.srqs.size());
  for (u32 qp = 0; qp < t.qps; ++qp) {
    if (all.size() == 1) all[0] += receives_on(t, qp);
    for (u64 k = 0; all.size() > 1 && k < t.messages_on(qp); ++k)
      all[end.srq_for(qp, k)] += t.message(qp, k).takes_receive();
  }
  return all;
}
}  // namespace

SharedReceives::SharedReceives(const Endpoint& end, const Traffic& t)
    : in_use(u64{t.qps} * t.receive_depth), left(receives_of_srqs(end, t)) {
  for (u64 slot = 0; slot < in_use.size(); ++slot) in_use[slot] = take_left(slot);
}

void ReceivePoster::post_first() {
  if (end_.shares_receives()) {
    const SharedReceives first(end_, traffic_);
    for (u64 slot = 0; slot < first.in_use.size(); ++slot)
      if (first.in_use[slot]) post_late(slot);
    return;
  }
  for (u32 qp = 0; qp < traffic_.qps; ++qp) {
    const u64 count = std::min<u64>(traffic_.receive_depth, receives_on(traffic_, qp));
    if (!count) continue;
    std::vector<Pieces> sges;
    std::vector<RecvWr> list;
    for (u64 i = 0; i < count; ++i) sges.push_back(pieces_of(buffer(qp, i), traffic_));
    for (u64 i = 0; i < count; ++i) list.push_back({i, sges[i].list()});
    end_.verbs->post_recv(*end_.qps[qp], list);
  }
}
}  // namespace hca::testbench
