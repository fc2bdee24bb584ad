// SPDX-License-Identifier: Apache-2.0
// Domains that are run in turns: nothing that one sends comes late to another, and what happens is
// the same in the kernel's windows and without them.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "model/engine/mailbox.h"
#include "model/systemc/sc_host.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/tests/engine/engine_fixture.h"

namespace hca::testbench {
namespace {
constexpr unsigned kRelays = 3;
constexpr Cycle kEnd = 4000;  // ns
sc_core::sc_time nanoseconds(u64 n) { return {double(n), sc_core::SC_NS}; }

struct Clocks {
  std::array<Cycle, kRelays> ahead;  // what is sent to a relay takes that many of its cycles
  std::array<Cycle, kRelays> period{1, 1, 1};  // ns
};

// An item that a relay has seen; it goes on at once, one higher: two of three to the next relay,
// one to the next one, so that answers come back.
struct Step {
  Cycle at;  // of the relay
  unsigned relay;
  u32 item;
  auto operator<=>(const Step&) const = default;
  Step next(const Clocks& clocks) const {
    const unsigned to = (relay + 1 + item % 3 % 2) % kRelays;
    const Cycle now = at * clocks.period[relay], each = clocks.period[to];
    return {(now + each - 1) / each + clocks.ahead[to], to, item + 1};
  }
  bool is_over(const Clocks& clocks) const { return at * clocks.period[relay] >= kEnd; }
};
const std::vector<Step> kFirst{{4, 1, 0}, {1, 0, 2003}, {18, 0, 1002}};

struct Relay : engine::Block {
  Relay(unsigned own_number, const Clocks& all, std::vector<Step>& list)
      : number(own_number),
        clocks(all),
        seen(list),
        host(domain, nanoseconds(all.period[own_number]), all.ahead[own_number]) {
    self = {&domain, domain.add(*this, "relay")};
    in.connect(self);
  }
  void tick() {
    if (!in.can_pop()) return;
    seen.push_back({now(), number, in.pop()});
    const Step next = seen.back().next(clocks);
    if (relays[next.relay]) relays[next.relay]->in.deliver(next.at, number, next.item);
  }
  const unsigned number;
  const Clocks& clocks;
  std::vector<Step>& seen;
  std::array<Relay*, kRelays> relays{};
  engine::Domain domain{{}};
  engine::Mailbox<u32> in;
  DomainHost host;
};

struct Result {
  std::vector<Step> seen;
  u64 activations = 0;
};
Result result_of(const Clocks& clocks, void (*pass)(const sc_core::sc_time&)) {
  FreshKernel kernel;
  Result result;
  std::array<std::unique_ptr<Relay>, kRelays> relays;
  for (unsigned i = 0; i < kRelays; ++i)
    relays[i] = std::make_unique<Relay>(i, clocks, result.seen);
  for (auto& from : relays)
    for (unsigned i = 0; i < kRelays; ++i) from->relays[i] = relays[i].get();
  for (const Step& s : kFirst) relays[s.relay]->in.deliver(s.at, kRelays, s.item);
  pass(nanoseconds(kEnd));
  for (auto& relay : relays) result.activations += relay->host.activations();
  std::erase_if(result.seen, [&](const Step& s) { return s.is_over(clocks); });
  std::ranges::sort(result.seen);
  return result;
}

std::vector<Step> worked_out(const Clocks& clocks) {
  std::vector<Step> all;
  for (const Step& first : kFirst)
    for (Step s = first; !s.is_over(clocks); s = s.next(clocks)) all.push_back(s);
  std::ranges::sort(all);
  return all;
}
bool two_at_once(const std::vector<Step>& sorted) {
  return std::ranges::adjacent_find(sorted, [](const Step& a, const Step& b) {
           return a.at == b.at && a.relay == b.relay;
         }) != sorted.end();
}
}  // namespace

TEST_CASE("domains see all in its cycle, however they are run", "[run]") {
  const Clocks clocks = GENERATE(Clocks{{40, 7, 15}}, Clocks{{7, 40, 16}}, Clocks{{31, 31, 31}},
                                 Clocks{{15, 41, 7}, {1, 2, 5}}, Clocks{{23, 23, 5}, {4, 3, 1}});
  const std::vector<Step> wanted = worked_out(clocks);
  CAPTURE(clocks.ahead, clocks.period);
  REQUIRE(wanted.size() > 100);
  REQUIRE_FALSE(two_at_once(wanted));
  const Result in_kernel =
      result_of(clocks, [](const sc_core::sc_time& time) { sc_core::sc_start(time); });
  const Result run = result_of(clocks, run_for), quiet = result_of(clocks, run_quiet_for);
  CHECK(in_kernel.seen == wanted);
  CHECK(run.seen == wanted);
  CHECK(quiet.seen == wanted);
  // Turns reach further than windows do: until an answer to what is sent in them could come.
  CHECK(quiet.activations <= run.activations);
  CHECK(run.activations * 5 <= in_kernel.activations * 4 + 5);
}

TEST_CASE("a domain that is alone runs to the end in one turn", "[run]") {
  FreshKernel kernel;
  std::vector<Step> seen;
  const Clocks clocks{{50, 50, 50}};
  Relay relay(0, clocks, seen);
  relay.in.deliver(5, kRelays, 0);
  relay.in.deliver(3000, kRelays, 1);
  run_for(nanoseconds(kEnd));
  CHECK(seen == std::vector<Step>{{5, 0, 0}, {3000, 0, 1}});
  CHECK(relay.host.activations() == 1);
}

TEST_CASE("a block that is woken from outside without its host is an error", "[run]") {
  const auto woken = [](void (engine::Waker::*wake)(Cycle) const) {
    return engine::test::last_words([wake] {
      FreshKernel kernel;
      std::vector<Step> seen;
      const Clocks clocks{{50, 50, 50}};
      Relay relay(0, clocks, seen);
      relay.self.wake_from_outside(100);
      run_for(nanoseconds(20));
      (relay.self.*wake)(60);
      run_for(nanoseconds(200));
    });
  };
  CHECK(woken(&engine::Waker::wake_from_outside) == "survived");
  CHECK_THAT(woken(&engine::Waker::wake), Catch::Matchers::Contains("without notifying the host"));
}
}  // namespace hca::testbench
