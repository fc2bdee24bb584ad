// SPDX-License-Identifier: Apache-2.0
// What `hca serve` takes from a scenario, and what it lets fail.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <memory>

#include "testbench/programs/server/failures.h"
#include "testbench/programs/server/numbers.h"
#include "testbench/programs/server/serve_rules.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/scenario/scenario_knobs.h"
#include "tlm/wire/fault_script.h"

using namespace hca;
using namespace hca::attach;

namespace {
testbench::Scenario parsed(const std::string& text) {
  return testbench::parse_scenario(text, "s.yaml");
}
std::string mistake(const std::string& text) {
  try {
    parsed(text);
  } catch (const testbench::ScenarioError& error) {
    return error.what();
  }
  return "";
}
std::vector<u8> cqe(u32 qpn, proto::CqeOpcode opcode) {
  proto::Cqe entry{};
  entry.qpn = qpn, entry.opcode = opcode, entry.phase = true;
  std::vector<u8> bytes(proto::kCqeBytes);
  proto::encode(entry, bytes.data());
  return bytes;
}
proto::WcStatus status_after(Failures& failures, u32 qpn,
                             proto::CqeOpcode opcode = proto::CqeOpcode::Send) {
  std::vector<u8> bytes = cqe(qpn, opcode);
  failures.change(bytes);
  const auto changed = proto::decode<proto::Cqe>(bytes.data());
  CHECK(changed.phase);
  CHECK(changed.qpn == qpn);
  return changed.status;
}
FailConfig entry(FailVerb verb, u64 nth, std::string_view status, u64 times = 1) {
  return {verb, nth, times, fail_status(status)};
}
}  // namespace

TEST_CASE("an entry of fail may stand alone or in a list", "[serve][scenario]") {
  const auto one = parsed("fail: {verb: post_send, nth: 3, status: EIO}\n").fail;
  REQUIRE(one.size() == 1);
  CHECK(one[0].verb == FailVerb::PostSend);
  CHECK(one[0].nth == 3);
  CHECK(one[0].row().error == EIO);
  const auto two = parsed(
                       "fail:\n  - {verb: poll_cq, status: RETRY_EXC_ERR}\n"
                       "  - {verb: reg_mr, times: 2}\n")
                       .fail;
  REQUIRE(two.size() == 2);
  CHECK(two[0].row().status == proto::WcStatus::RetryExcErr);
  CHECK(two[1].row().error == ENOMEM);
  CHECK(parsed("fail: []\n").fail.empty());
}

TEST_CASE("a wrong entry of fail is told with line and key", "[serve][scenario]") {
  CHECK_THAT(mistake("run.seed: 2\nfail: {verb: post_sent}\n"),
             Catch::StartsWith("s.yaml:2: fail.verb: "));
  CHECK_THAT(mistake("fail:\n  - {verb: create_qp}\n  - {verb: create_qp, status: REM_OP_ERR}\n"),
             Catch::StartsWith("s.yaml:3: fail[1].status: is REM_OP_ERR of create_qp"));
  CHECK_THAT(mistake("fail: {nth: 0}\n"), Catch::Contains("allowed: 1 .. "));
  std::string many = "fail:\n";
  for (int i = 0; i < 33; ++i) many += "  - {verb: post_send}\n";
  CHECK_THAT(mistake(many), Catch::StartsWith("s.yaml:34: fail[32]: is one too many; allowed: 32"));
}

TEST_CASE("what a server cannot do is refused where it stands", "[serve][scenario]") {
  const auto lines = [](const std::string& text, bool records = false) {
    return serve_mistakes(parsed(text), records);
  };
  CHECK(lines("connection: {framing: ib_local, path_mtu: 2048}\nhost.poll: 3 ns\n").empty());
  CHECK(lines("preset: connectx5\n").empty());
  testbench::ConnectionConfig plain;
  engine::for_each_knob(plain, [&](const auto& knob) {
    const bool taken = knob.info.name == "framing" || knob.info.name == "path_mtu";
    INFO(knob.info.name);
    CHECK(lines(fmt::format("connection.{}: {}\n", knob.info.name, knob.text())).empty() == taken);
  });
  const auto two = lines("connection: {framing: ib_local,\n  qps: 4}\nhost0.wait: event\n");
  REQUIRE(two.size() == 2);
  CHECK_THAT(two[0], Catch::StartsWith("s.yaml:2: connection.qps: "));
  CHECK_THAT(two[1], Catch::StartsWith("s.yaml:3: host0.wait: "));
  const auto work = lines("workload:\n  - {operation: write, size: 64 B}\n");
  REQUIRE(work.size() == 1);
  CHECK_THAT(work[0], Catch::StartsWith("s.yaml:2: workload: "));
  CHECK(lines("run.vcd: false\n").empty());
  CHECK(lines("run.vcd: true\n").size() == 1);
  CHECK(lines("run.pcap: true\n").size() == 1);
  CHECK(lines("run.pcap: true\n", true).empty());
}

TEST_CASE("the n-th call fails, and as many as are wanted", "[serve][faults]") {
  const auto control = std::make_unique<SharedControl>();
  Failures failures(*control);
  CHECK(failure_of(*control, FailVerb::PostSend) == 0);
  failures.set({entry(FailVerb::PostSend, 2, "ENOMEM", 2), entry(FailVerb::PostSend, 3, "EIO")});
  std::vector<int> errors;
  for (int i = 0; i < 5; ++i) errors.push_back(failure_of(*control, FailVerb::PostSend));
  CHECK(errors == std::vector<int>{0, ENOMEM, ENOMEM, 0, 0});  // the first entry that fires wins
  CHECK(failure_of(*control, FailVerb::PostRecv) == 0);
  std::vector<EntryUse> uses(2);
  failures.add_uses(uses);
  CHECK(uses[0].seen == 5);
  CHECK(uses[0].done == 2);
  CHECK(uses[1].done == 0);
  // One more entry counts from now, the others go on.
  failures.set({entry(FailVerb::PostSend, 2, "ENOMEM", 2), entry(FailVerb::PostSend, 3, "EIO"),
                entry(FailVerb::PostSend, 1, "EINVAL")});
  CHECK(failure_of(*control, FailVerb::PostSend) == EINVAL);
  CHECK(failure_of(*control, FailVerb::PostSend) == 0);
  failures.set({});
  CHECK(failure_of(*control, FailVerb::PostSend) == 0);
}

TEST_CASE("a call counts for no completion, and a completion for no call", "[serve][faults]") {
  using proto::WcStatus;
  const auto control = std::make_unique<SharedControl>();
  Failures failures(*control);
  failures.set({entry(FailVerb::PollCq, 1, "EIO"), entry(FailVerb::PollCq, 1, "REM_OP_ERR")});
  CHECK(status_after(failures, 20) == WcStatus::RemOpErr);
  CHECK(failure_of(*control, FailVerb::PollCq) == EIO);
}

TEST_CASE("a completion is counted by all entries that it is of", "[serve][faults]") {
  using proto::WcStatus;
  const auto control = std::make_unique<SharedControl>();
  Failures failures(*control);
  failures.set({entry(FailVerb::PostSend, 2, "REM_OP_ERR"),
                entry(FailVerb::PostRecv, 1, "LOC_LEN_ERR"),
                entry(FailVerb::PollCq, 1, "RETRY_EXC_ERR", 2)});
  CHECK(status_after(failures, 20) == WcStatus::RetryExcErr);
  CHECK(status_after(failures, 21) == WcStatus::RemOpErr);  // the first entry that fires wins
  std::vector<EntryUse> uses(3);
  failures.add_uses(uses);
  CHECK(uses[0].seen == 2);
  CHECK(uses[1].seen == 0);  // of receives
  CHECK(uses[2].seen == 2);
  CHECK(uses[2].done == 1);
  failures.set({});
  CHECK(status_after(failures, 22) == WcStatus::Success);
  CHECK(status_after(failures, 21) == WcStatus::WrFlushErr);  // it stays in Error
}

TEST_CASE("a request fails by the verb that makes it", "[serve][faults]") {
  const auto control = std::make_unique<SharedControl>();
  Failures failures(*control);
  failures.set({entry(FailVerb::ResizeCq, 1, "ENOSPC"), entry(FailVerb::CreateAh, 1, "EAGAIN")});
  Request request;
  request.verb = Verb::Command, request.opcode = proto::CommandOpcode::ModifyCq;
  CHECK(failures.of(request) == 0);  // moderation
  const proto::QueueAttributes ring{.mask = proto::kCqRing};
  proto::encode(ring, request.body.data());
  CHECK(failures.of(request) == ENOSPC);
  request.verb = Verb::CreateAh;
  CHECK(failures.of(request) == EAGAIN);
  CHECK(failures.of(request) == 0);
}

TEST_CASE("a completion that fails takes its queue pair to Error", "[serve][faults]") {
  using proto::WcStatus;
  const auto control = std::make_unique<SharedControl>();
  Failures failures(*control);
  failures.set({entry(FailVerb::PostSend, 2, "REM_ACCESS_ERR")});
  CHECK(status_after(failures, 20) == WcStatus::Success);
  CHECK(status_after(failures, 20, proto::CqeOpcode::Receive) == WcStatus::Success);
  CHECK(status_after(failures, 20) == WcStatus::RemAccessErr);
  CHECK(failures.take_failed() == std::vector<u32>{20});
  CHECK_FALSE(failures.any_failed());
  CHECK(status_after(failures, 20) == WcStatus::WrFlushErr);
  CHECK(status_after(failures, 20, proto::CqeOpcode::Receive) == WcStatus::WrFlushErr);
  CHECK(status_after(failures, 21) == WcStatus::Success);
  failures.forget(20);  // in Reset
  CHECK(status_after(failures, 20) == WcStatus::Success);
}

TEST_CASE("numbers come again soon, but not at once, or after all others", "[serve]") {
  Numbers soon(16, 1 << 20), late(16, 1 << 20, Reuse::Late);
  u32 highest = 0;
  std::vector<u32> last_taken;
  for (int i = 0; i < 1000; ++i) {
    const u32 number = soon.take().value();
    const auto recent = last_taken.size() < 32 ? last_taken.begin() : last_taken.end() - 32;
    CHECK(std::find(recent, last_taken.end(), number) == last_taken.end());
    last_taken.push_back(number), highest = std::max(highest, number);
    soon.give_back(number);
    CHECK(late.take() == 16u + u32(i));
    late.give_back(16u + u32(i));
  }
  CHECK(highest < 16 + 64);
  // Nor at once where many were taken at a time.
  Numbers many(16, 1 << 20);
  for (u32 i = 0; i < 400; ++i) many.take();
  for (u32 i = 0; i < 400; ++i) many.give_back(16 + i);
  many.give_back(many.take().value());
  for (u32 i = 1; i <= 400 - 32; ++i) CHECK(many.take() == 16 + i);
  Numbers few(1, 4);
  for (u32 number = 1; number < 4; ++number) CHECK(few.take() == number);
  CHECK_FALSE(few.take());
  few.give_back(2);
  CHECK(few.take() == 2u);
}

TEST_CASE("rules of faults come and go while frames pass", "[serve][faults]") {
  const std::vector<u8> frame(64);
  const auto link = proto::LinkLayer::Ethernet;
  tlm_::FaultScript script({}, link, 1);
  CHECK(script.decide(0, frame, 0) == nullptr);
  script.add(
      {.action = tlm_::FaultAction::Drop, .direction = 0, .qpn = {}, .psn = {}, .occurrence = 2});
  CHECK(script.decide(0, frame, 0) == nullptr);
  CHECK(script.decide(1, frame, 0) == nullptr);
  const tlm_::FaultRule* const hit = script.decide(0, frame, 5);
  REQUIRE(hit);
  CHECK(hit->action == tlm_::FaultAction::Drop);
  CHECK(script.uses()[0].matches == 2);
  script.clear();
  CHECK(script.is_empty());
  CHECK(script.decide(0, frame, 0) == nullptr);
  CHECK(script.take_records().size() == 1);
  CHECK(script.records().empty());
}
