// SPDX-License-Identifier: Apache-2.0
// What takes a key or a queue pair away completes when the accesses judged before have drained:
// whoever sees the completion may use the memory for something else. Tried in each moment of a
// packet's way.
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

namespace hca::test::taking_away {
using engine::Cycle;
using proto::CommandOpcode;
using proto::WorkOpcode;

constexpr u32 kOther = 0x207, kWindow = 0x309;  // keys of the memory that is taken away
constexpr u64 kOtherAt = kData + 0x100000, kOtherBytes = 0x100000;
constexpr u64 kRead = kOtherAt + 0x40000, kAtomic = kOtherAt + 0x80000;  // written before them
enum class Client : u8 { Write, Read, Atomic };

proto::Region& add_region(Pair::Side& side, u32 key) {
  auto& regions = side.chip.contexts.regions;
  const u32 index = proto::key_index(key);
  if (regions.size() <= index) regions.resize(index + 1);
  proto::Region& r = regions[index] = regions[1];
  r.key = key, r.access = 0x0f | proto::kLocalRead | proto::kFastRegister;
  r.start = r.origin = r.physical = kOtherAt, r.bytes = kOtherBytes;
  return r;
}

// How it is taken away: by its peer, its own send queue, a command of its host.
struct Way {
  const char* name;
  u32 key;  // of the accesses
  void (*begin)(Pair&);
  bool by_cqe;  // reported by a CQE, else by the command block
  u32 qpn = 0;  // a queue pair is taken away, whose accesses alone end
};
void post(Pair::Side& side, Message m) { side.host.plan.push_back(m), side.host.start(5); }
template <class T>
void command(Pair& pair, CommandOpcode opcode, u32 object, const T& body) {
  pair.b.host.command(0, opcode, object, body);
}
proto::QpAttributes reset() {
  proto::QpAttributes a{};
  a.mask = proto::kQpState, a.state = proto::QpState::Reset;
  return a;
}
const Way kWays[] = {
    {"SEND with Invalidate", kOther,
     [](Pair& p) {
       post(p.a, {.opcode = WorkOpcode::SendInvalidate, .qpn = 4, .bytes = 8, .immediate = kOther});
     },
     true},
    {"Local Invalidate", kOther,
     [](Pair& p) {
       post(p.b, {.opcode = WorkOpcode::LocalInvalidate, .qpn = 5, .sges = 0, .immediate = kOther});
     },
     true},
    {"DeregisterMr", kOther,
     [](Pair& p) { command(p, CommandOpcode::DeregisterMr, kOther, proto::QpAttributes{}); },
     false},
    {"ReregisterMr", kOther,
     [](Pair& p) {
       command(p, CommandOpcode::ReregisterMr, kOther,
               proto::MrAttributes{kOtherAt + kOtherBytes, kOtherBytes, kOtherAt + kOtherBytes, 1,
                                   kOther, 0x0f});
     },
     false},
    {"DeallocMw", kWindow,
     [](Pair& p) { command(p, CommandOpcode::DeallocMw, kWindow, proto::QpAttributes{}); }, false},
    {"ModifyQp to Reset, WRITEs", kOther,
     [](Pair& p) { command(p, CommandOpcode::ModifyQp, 1, reset()); }, false, 1},
    {"ModifyQp to Reset, READs", kOther,
     [](Pair& p) { command(p, CommandOpcode::ModifyQp, 2, reset()); }, false, 2},
    {"DestroyQp, WRITEs", kOther,
     [](Pair& p) { command(p, CommandOpcode::DestroyQp, 1, proto::QpAttributes{}); }, false, 1},
    {"DestroyQp, ATOMICs", kOther,
     [](Pair& p) { command(p, CommandOpcode::DestroyQp, 3, proto::QpAttributes{}); }, false, 3},
};
Client client_at(u64 address) {
  return address < kRead ? Client::Write : address < kAtomic ? Client::Read : Client::Atomic;
}

// Accesses to the memory that come in the cycle of the completion or later; and before.
struct Seen {
  u32 late = 0, early = 0;
  bool completed = false;
  Cycle waited = 0;  // of the completion, after the last access before it
};
// `each`: WRITEs, READs and ATOMICs of the peer that are under way, of each kind.
Seen take_away(const Way& way, Cycle at, u32 each = 40) {
  PairConfig config;
  config.qps = 5, config.timeout = 0;
  Pair pair{config};
  proto::Region& region = add_region(pair.b, kOther);
  add_region(pair.b, kWindow).kind = proto::KeyKind::Window1;
  region.links = 0;
  pair.b.chip.contexts.regions[proto::key_index(kWindow)].links = proto::key_index(kKey);
  ++pair.b.chip.contexts.regions[1].links;
  pair.b.host.post_receives(4, 2, 64);
  for (u32 i = 0; i < each; ++i) {
    const u64 offset = kOtherAt - kData + i * 4096;
    pair.a.host.plan.push_back({.remote = offset, .bytes = 4096, .rkey = way.key});
    pair.a.host.plan.push_back({.opcode = WorkOpcode::RdmaRead,
                                .qpn = 2,
                                .local = 0x10000,
                                .remote = kRead - kData + i * 4096,
                                .bytes = 4096,
                                .rkey = way.key});
    pair.a.host.plan.push_back({.opcode = WorkOpcode::FetchAdd,
                                .qpn = 3,
                                .local = 0x20000,
                                .remote = kAtomic - kData,
                                .bytes = 8,
                                .operand = 1,
                                .rkey = way.key});
  }
  pair.a.host.window = 200;
  std::vector<std::pair<Cycle, u64>> accesses;
  Cycle told = engine::kNever;
  const u64 from = way.by_cqe ? kCqs : kCommands, end = way.by_cqe ? kData : kCqs;
  pair.b.sees = [&](u64 address, u32 bytes, bool write, Cycle cycle) {
    if (address >= kOtherAt && address < kOtherAt + kOtherBytes && bytes)
      accesses.push_back({cycle, address});
    if (write && address >= from && address < end && told == engine::kNever) told = cycle;
  };
  pair.a.host.start(5), pair.b.host.start(5);
  pair.advance(at);
  way.begin(pair);
  pair.advance(6000);
  Seen seen;
  seen.completed = told != engine::kNever;
  Cycle last = at;
  for (const auto& [cycle, address] : accesses) {
    if (way.qpn && unsigned(client_at(address)) != way.qpn - 1) continue;
    ++(cycle < told ? seen.early : seen.late);
    if (cycle < told) last = std::max(last, cycle);
  }
  seen.waited = told - last;
  return seen;
}

TEST_CASE("the page list of a region that is gone goes when no access needs it any more",
          "[chip][MR-9]") {
  Pair pair{PairConfig{}};
  device::Contexts& contexts = pair.b.chip.contexts;
  pair.b.host.start(1);
  for (u32 i = 0; i < 5; ++i) {
    proto::Region& region = add_region(pair.b, kOther);
    ++contexts.pds[1].uses;
    contexts.page_lists[proto::key_index(kOther)] = {kOtherAt};
    region.pages = contexts.page_lists[proto::key_index(kOther)].data();
    command(pair, CommandOpcode::DeregisterMr, kOther, proto::QpAttributes{});
    pair.advance(1000);
    CHECK_FALSE(region.exists());
  }
  CHECK(contexts.page_lists.empty());
  CHECK(contexts.left_page_lists.empty());
}

TEST_CASE("no access comes after the completion that rules it out",
          "[chip][moments][MW-20][MR-9][INV-7][T13]") {
  const Way& way = kWays[GENERATE(range(0, int(std::size(kWays))))];
  bool any = false;
  for (Cycle at = 600; at < 640; ++at) {
    const Seen seen = take_away(way, at);
    INFO(way.name << " in cycle " << at);
    CHECK(seen.completed);
    CHECK(seen.late == 0);
    any |= seen.early > 0;
  }
  INFO(way.name);
  CHECK(any);
}

#if defined(__SANITIZE_ADDRESS__)
constexpr Cycle kBetweenMoments = 60;  // a chip costs more
#else
constexpr Cycle kBetweenMoments = 4;
#endif
// Nothing else happens that could wake a waiting block.
TEST_CASE("what takes a key away completes soon after the last access before it",
          "[chip][moments][MW-20][MR-9]") {
  constexpr Cycle kSoon = 600;  // the way of a doorbell, a WQE or command block and a completion
  for (const Way& way : kWays)
    for (Cycle at = 60; at < 560; at += kBetweenMoments) {
      const Seen seen = take_away(way, at, 1);
      INFO(way.name << " in cycle " << at);
      CHECK(seen.completed);
      CHECK(seen.waited < kSoon);
    }
}
}  // namespace hca::test::taking_away
