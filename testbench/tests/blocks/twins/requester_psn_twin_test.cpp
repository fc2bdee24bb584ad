// SPDX-License-Identifier: Apache-2.0
// Compares the PSNs of blocks::Requester in the chip with blocks::RequesterPsnUnit, the twin of the
// RTL.
#include "model/blocks/send/requester/requester.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::requester_psn_twin {
namespace {
// A step that the requester made, and the cycle in which it did.
struct Step {
  Cycle at = 0;
  u32 qpn = 0, path_mtu = 0;
  PsnRequest request{};
  proto::SendPsns before{};
  PsnAnswer answer{};
};
// Does as the unit, and keeps the steps.
struct Recorder : StandIn<RequesterPsnItem>, engine::ProbeSink {
  void process(RequesterPsnItem& item) override {
    Step s{chip->domain.now(), item.qpn, item.path_mtu, item.request, *item.psns, {}};
    item.process();
    s.answer = *item.answer;
    steps.push_back(s);
  }
  void event(const engine::Event& e) override {
    if (chip->probes.name(e.block) == "requester" && e.kind == u16(blocks::Step::Passed))
      entered.push_back({e.at, u32(e.b)});
  }
  Chip* chip = nullptr;
  std::vector<Step> steps;
  std::vector<std::pair<Cycle, u32>> entered;  // the packetizer: when, and PSN
};

// Messages of all kinds, with frames that are lost.
struct Traffic {
  explicit Traffic(u64 seed) {
    engine::Random random(seed);
    PairConfig config;
    config.path_mtu = 256 << random.below(3), config.qps = 1 + u32(random.below(4));
    config.timeout = 2;
    requester = config.chip.requester;
    look_ups = config.chip.qp_context.latency + config.chip.protection.latency;
    Pair pair(config);
    recorder.chip = &pair.a.chip;
    pair.a.chip.probes.attach(recorder);
    StandIns stand_ins;
    stand_ins.requester_psn = &recorder;
    pair.a.chip.replace(stand_ins);
    plan_all_operations(pair, config.qps);
    const u64 losses = 10 + random.below(20);
    pair.a.loses = [losses, random](const Packet&) mutable { return random.chance(1, losses); };
    finish(pair);
  }
  RequesterConfig requester;
  Cycle look_ups = 0;
  Recorder recorder;
};
using Run = UnitRun<RequesterPsnUnit, RequesterPsnItem>;

// The steps for the unit: each in the cycle in which the requester made it, or `late`.
struct Steps {
  Steps(const Traffic& t, engine::Random* late) : answers(t.recorder.steps.size()) {
    for (const Step& s : t.recorder.steps) {
      RequesterPsnItem item;
      item.qpn = s.qpn, item.path_mtu = s.path_mtu, item.request = s.request;
      item.psns = &psns.try_emplace(s.qpn, s.before).first->second;
      item.answer = &answers[plan.size()];
      if (late && late->chance(1, 5)) item.context_late = late->below(20);
      plan.push_back({s.at, item});
    }
  }
  std::map<u32, proto::SendPsns> psns;
  std::vector<PsnAnswer> answers;
  Plan<RequesterPsnItem> plan;
};

std::array<u32, 9> numbers(const PsnAnswer& a) {
  return {u32(a.result),    u32(a.repeated),     u32(a.progress),  a.psns.first,    a.psns.count,
          a.after.next_psn, a.after.unacked_psn, a.after.sent_psn, a.after.send_psn};
}
void check_answers(const Traffic& t, const Steps& steps) {
  REQUIRE(steps.answers.size() > 100);
  for (std::size_t i = 0; i < steps.answers.size(); ++i)
    CHECK(numbers(steps.answers[i]) == numbers(t.recorder.steps[i].answer));
}
}  // namespace

TEST_CASE("late contexts and stalls change no answer of the PSN unit to the requester's steps",
          "[requester_psn_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, 10));
  CAPTURE(seed);
  const Traffic t(seed);
  engine::Random random(seed);
  Steps steps(t, &random);
  const Cycles waits = random_waits(random, unsigned(steps.plan.size()));
  const Run unit({}, steps.plan, 1 + unsigned(random.below(8)), waits);
  check_answers(t, steps);
}

// The requester makes a step in the cycle in which it cuts a packet, begins its message or takes an
// answer, several in one cycle, and never stalls: it requests room before. The unit takes one a
// cycle, and its answer comes a look-up, a cycle and its latency later: in the cycle in which the
// packet would enter the packetizer without the look-up of its key.
TEST_CASE("the PSN unit answers before the packet of the step enters the packetizer",
          "[requester_psn_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, 10));
  CAPTURE(seed);
  const Traffic t(seed);
  Steps steps(t, nullptr);
  const Run unit({}, steps.plan, 8, {});
  check_answers(t, steps);
  constexpr Cycle kLookUp = 2;  // of the unit
  constexpr Cycle kAnswers = kLookUp + 1 + RequesterPsnItem::kLatency;
  CHECK(t.requester.latency == 1 + RequesterPsnItem::kLatency);
  const std::vector<Step>& made = t.recorder.steps;
  Cycles answered;
  std::size_t packet = 0, several = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    answered.push_back(made[i].at + kAnswers);
    if (i) answered[i] = std::max(answered[i], answered[i - 1] + 1);
    several += answered[i] > made[i].at + kAnswers;
    if (made[i].request.step != PsnStep::Packet) continue;
    REQUIRE(packet < t.recorder.entered.size());
    const auto [at, psn] = t.recorder.entered[packet++];
    CHECK(psn == made[i].answer.psns.first);
    CHECK(at == made[i].at + t.look_ups + t.requester.latency);
  }
  CHECK(packet == t.recorder.entered.size());
  CHECK(several > 0);
  CHECK(unit.leaves() == answered);
}
}  // namespace hca::test::requester_psn_twin
