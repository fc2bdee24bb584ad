// SPDX-License-Identifier: Apache-2.0
// Compares blocks::ResponderCheck of the chip with blocks::ResponderCheckUnit, the twin of the RTL.
#include "model/blocks/receive/responder_check.h"
#include "model/proto/transport/work_rules.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::responder_check_twin {
namespace {
constexpr unsigned kItems = 300;
constexpr u32 kQps = 24, kSrqn = 1;
constexpr Cycle kLookUp = 2;  // of the unit: an answer comes one cycle after its request

// These take their receive WQEs from the SRQ.
constexpr bool is_shared(u32 qpn) { return qpn % 3 == 0; }

struct Judged {
  explicit Judged(const CheckedRequest& c, const proto::QpConfig& qp)
      : verdict(c.verdict), effect(c.effect), state(c.state), shared_taken(c.shared.taken) {
    // The chip's block requests less when a READ is repeated.
    if (verdict.action == proto::RequestAction::Repeat)
      proto::limit_repeated_read(effect, qp, state.epsn);
  }
  Judged(const Packet& p, const proto::ReceiveState& s, u32 taken)
      : verdict(p.verdict), effect(p.effect), state(s), shared_taken(taken) {}
  auto numbers() const {
    const auto& [v, e, s] = std::tie(verdict, effect, state);
    return std::array<u64, 24>{u64(v.action),
                               u64(v.cause),
                               u64(v.nak),
                               e.va,
                               e.rkey,
                               e.receive_wqe,
                               e.byte_len,
                               e.ack_psn,
                               e.msn,
                               e.packets,
                               e.free_receives,
                               u64(e.takes_shared),
                               u64(e.completes_message),
                               s.epsn,
                               s.msn,
                               s.rq_consumed,
                               s.write_va,
                               s.write_left,
                               s.write_bytes,
                               s.reads_accepted,
                               u64(s.message),
                               u64(s.nak_sent),
                               u64(s.shared_taken),
                               shared_taken};
  }
  bool operator==(const Judged& other) const { return numbers() == other.numbers(); }
  proto::RequestVerdict verdict;
  proto::RequestEffect effect;
  proto::ReceiveState state;
  u32 shared_taken;
};

// Receive WQEs that are posted, READs that are finished, before a request comes.
struct Request {
  Packet* packet = nullptr;
  u32 posted = 0, finished = 0;
};

struct CheckBlock {
  CheckBlock(const ResponderCheckConfig& c, Cycle context_late, Cycle region_late)
      : config(c),
        context({.latency = kLookUp + context_late, .interval = 1}, contexts),
        protection({.latency = kLookUp + region_late, .interval = 1}, contexts) {
    set_up(contexts, kQps, true);
    contexts.srqs.resize(kSrqn + 1);
    contexts.srqs[kSrqn].allocated = true;
    for (u32 qpn = 1; qpn <= kQps; ++qpn)
      if (is_shared(qpn)) contexts.qps[qpn].srqn = kSrqn;
    block.reads_finished = &finished;
  }
  Cycle check(const Request& r, Cycle at) {
    Packet& p = *r.packet;
    if (is_shared(p.qpn))
      block.post_shared(kSrqn, u16(r.posted));
    else
      block.post(p.qpn, u16(r.posted));
    while (finished[p.qpn].seen(kNever) < r.finished) finished[p.qpn].add(0);
    const Cycle out = block.check(p, at, at);
    judged.emplace_back(p, contexts.receive_of(p.qpn), contexts.srqs[kSrqn].taken);
    if (!is_shared(p.qpn)) judged.back().shared_taken = 0;
    return out;
  }
  ResponderCheckConfig config;
  device::Contexts contexts;
  QpContext context;
  Protection protection;
  ByQp<Delayed> finished;
  ResponderCheck block{config, context, contexts, protection};
  std::vector<Judged> judged;
};

// Requests that fit the state of their queue pair, or with a mistake.
class Traffic {
 public:
  // `with_region`: each names one.
  Traffic(u64 seed, bool with_region) : checked(kItems), random_(seed), with_region_(with_region) {
    set_up(peer_, kQps);
    CheckBlock first({}, 0, 0);  // gives the next request
    shared_ = first.contexts.srqs[kSrqn];
    for (u32 qpn = 1; qpn <= kQps; ++qpn)
      states_[qpn] = first.contexts.receive_of(qpn), qps_[qpn] = first.contexts.qps[qpn];
    region_ = *first.protection.find(kKey), port_ = first.contexts.ports[0];
    for (unsigned i = 0; i < kItems; ++i) {
      const u32 qpn = queue_pair(first.contexts);
      requests.push_back(request(first.contexts.receive_of(qpn), qpn));
      first.check(requests.back(), 10 + 10 * i);
    }
  }
  // Contexts and regions come late: by so many cycles, or by less than `at_random`.
  Plan<ResponderCheckItem> plan(Cycle context_late, Cycle region_late, Cycle at_random = 0) {
    Plan<ResponderCheckItem> plan;
    const Cycles arrivals = random_arrivals(random_, kItems, 12);
    for (unsigned i = 0; i < kItems; ++i) {
      const Packet& p = *requests[i].packet;
      ResponderCheckItem item;
      item.packet = &p.parsed, item.frame = {p.frame(), p.frame_bytes};
      item.qp = &qps_[p.qpn], item.state = &states_[p.qpn], item.port = &port_;
      item.region = key_of(i) == kKey ? &region_ : nullptr;
      item.shared = is_shared(p.qpn) ? &shared_ : nullptr, item.checked = &checked[i];
      item.rq_posted = requests[i].posted, item.reads_finished = requests[i].finished;
      item.context_late = context_late, item.region_late = region_late;
      if (at_random && random_.chance(1, 5)) item.context_late += random_.below(at_random);
      if (at_random && random_.chance(1, 5)) item.region_late += random_.below(at_random);
      plan.push_back({arrivals[i], item});
    }
    return plan;
  }
  u32 key_of(unsigned i) const { return proto::remote_key(requests[i].packet->parsed); }
  std::vector<Judged> judged() const {
    std::vector<Judged> all;
    for (unsigned i = 0; i < kItems; ++i)
      all.emplace_back(checked[i], qps_[requests[i].packet->qpn]);
    return all;
  }
  std::vector<Request> requests;
  std::vector<CheckedRequest> checked;

 private:
  // Seldom one that has failed.
  u32 queue_pair(const device::Contexts& contexts) {
    u32 qpn = 0;
    do qpn = 1 + u32(random_.below(kQps));
    while (contexts.receive_of(qpn).failing && !random_.chance(1, 30));
    return qpn;
  }
  // Mostly one that begins a message or goes on with it.
  const proto::OpcodeRow& opcode(proto::InMessage in) {
    constexpr std::array<u8, 10> kAll{0x00, 0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x0a, 0x0c, 0x14};
    constexpr unsigned kNoRegion = 7;  // of one packet the others
    const unsigned first = with_region_ ? kNoRegion : 0;
    const bool any = random_.chance(1, 30);
    for (;;) {
      const auto& row = *proto::opcode_row(kAll[first + random_.below(kAll.size() - first)]);
      const bool begins = proto::begins_message(row.position);
      const bool fits =
          in == proto::InMessage::None ? begins : !begins && row.traits().message == in;
      if (fits || any) return row;
    }
  }
  // With the length of a WRITE that it begins.
  std::pair<u32, u32> lengths(const proto::OpcodeRow& row, const proto::ReceiveState& s, u32 mtu) {
    const u32 some = 1 + u32(random_.below(300));
    if (random_.chance(1, 30)) return {some, u32(random_.below(4)) * mtu};
    if (row.payload == proto::PayloadRule::None) return {0, some * 7};
    if (!proto::ends_message(row.position)) return {mtu, mtu + some};
    const bool rest = row.traits().message == proto::InMessage::Write && s.write_left <= mtu;
    if (!proto::begins_message(row.position) && rest) return {s.write_left, 0};
    return {some, some};
  }
  Request request(const proto::ReceiveState& state, u32 qpn) {
    const proto::OpcodeRow& row = opcode(state.message);
    const proto::QpConfig& qp = peer_.qps[qpn];
    proto::Bth bth{};
    bth.opcode = row.code, bth.pkey = 0xffff, bth.dest_qp = qpn, bth.psn = state.epsn;
    if (random_.chance(1, 20)) bth.psn = proto::psn_add(state.epsn, u32(random_.below(5)));
    if (random_.chance(1, 20)) bth.psn = proto::psn_sub(state.epsn, u32(random_.below(5)));
    if (random_.chance(1, 40)) bth.pkey = 0x1234;
    const auto [payload, dma_len] = lengths(row, state, qp.path_mtu);
    proto::ExtHeaders ext{};
    ext.reth = {kData + random_.below(1000), random_.chance(1, 30) ? kKey + 1 : kKey, dma_len};
    ext.atomic_eth.va = kData + 8 * random_.below(100), ext.atomic_eth.rkey = kKey;
    Packet* p = pool_.take();
    proto::write_headers(qp.path, row, bth, ext, payload, p->frame());
    p->shape = proto::shape_of(qp.path, row, payload);
    p->frame_bytes = proto::finish_frame(p->frame(), p->shape);
    parsed(p);
    const u32 queue = is_shared(qpn) ? 0 : qpn;
    posted_[queue] += u32(random_.below(3));
    if (random_.chance(1, 2)) finished_[qpn] = state.reads_accepted;
    return {p, posted_[queue], finished_[qpn]};
  }
  engine::Random random_;
  const bool with_region_;
  device::Contexts peer_;
  PacketPool pool_;
  std::array<u32, kQps + 1> posted_{}, finished_{};
  std::array<proto::ReceiveState, kQps + 1> states_{};
  std::array<proto::QpConfig, kQps + 1> qps_{};
  proto::SharedQueue shared_{};
  proto::Region region_{};
  proto::PortAttributes port_{};
};

// With 7 cycles at most, the 8 places of the unit's link are enough for one item a cycle.
constexpr Cycle kMostLatency = 7;
using Times = TwinTimes<ResponderCheckConfig, ResponderCheckUnit::Config>;
using Run = UnitRun<ResponderCheckUnit, ResponderCheckItem>;

Cycles check(CheckBlock& block, const Traffic& t, const Cycles& at) {
  Cycles out;
  for (unsigned i = 0; i < kItems; ++i) out.push_back(block.check(t.requests[i], at[i]));
  return out;
}
}  // namespace

// A request arrives at the chip's block in the cycle in which the unit requests its context. The
// unit's late answers stand for the latencies of qp_context and protection.
TEST_CASE("a request leaves responder_check in the cycle in which it leaves the unit",
          "[responder_check_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  CAPTURE(seed);
  Times times(seed, kMostLatency);
  const Cycle context = times.random.below(10), region = times.random.below(10);
  CAPTURE(times.block.latency, times.block.interval, context, region);
  Traffic t(seed, false);
  const auto plan = t.plan(context, region);
  Run unit(times.unit, plan, 8, {});
  CheckBlock block(times.block, context, region);
  CHECK(check(block, t, unit.events[u16(Run::Kind::AsksContext)]) == unit.leaves());
  CHECK(block.judged == t.judged());
  CHECK(block.block.counters.good > kItems / 4);
  CHECK(block.block.counters.good < kItems);
}

// In the chip a gate before the block holds a request until its context and its region are there.
TEST_CASE("a request whose context or region is late leaves responder_check as it leaves the unit",
          "[responder_check_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  CAPTURE(seed);
  Times times(seed, kMostLatency);
  Traffic t(seed, false);
  const auto plan = t.plan(0, 0, 30);
  Run unit(times.unit, plan, 8, {});
  Cycles at = context_answers(unit, plan);
  for (unsigned i = 0; i < kItems; ++i)
    at[i] = at[i] - 1 + (t.key_of(i) ? plan[i].second.region_late : 0);
  CheckBlock block(times.block, 0, 0);
  CHECK(check(block, t, at) == unit.leaves());
  CHECK(block.judged == t.judged());
}

// The unit stalls a request whose answers have arrived. The chip's port takes no packet without
// room after the block, which never stalls: its request comes later by the same time. Its look-ups
// follow that wait, so one with a region may be later than in the unit, by that look-up.
TEST_CASE("a request that waits for room comes to responder_check when the unit starts it",
          "[responder_check_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  const bool with_region = GENERATE(true, false);
  CAPTURE(seed, with_region);
  Times times(seed, kMostLatency);
  const unsigned depth = 1 + unsigned(times.random.below(8));
  Traffic t(seed, with_region);
  const auto plan = t.plan(0, 0, 30);
  Run unit(times.unit, plan, depth, random_waits(times.random, kItems));
  Cycles at = unit.leaves();
  for (unsigned i = 0; i < kItems; ++i)
    at[i] -= times.unit.latency + kLookUp + (t.key_of(i) ? kLookUp : 0);
  CheckBlock block(times.block, 0, 0);
  const Cycles out = check(block, t, at);
  CHECK(block.judged == t.judged());
  if (with_region) CHECK(out == unit.leaves());
  for (unsigned i = 0; i < kItems; ++i) {
    CHECK(out[i] >= unit.leaves()[i]);
    CHECK(out[i] <= unit.leaves()[i] + kLookUp);
  }
}
}  // namespace hca::test::responder_check_twin
