// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace hca::testbench::malice::overlap {
namespace {
constexpr std::array kNames{"WRITE",          "PUT",
                            "READ",           "GET",
                            "FetchAdd",       "CmpSwap",
                            "SEND",           "SEND with Invalidate",
                            "data of a READ", "Local Invalidate",
                            "DeregisterMr",   "write of the host"};

// Words in host memory are little-endian; any machine has the same here.
u64 word_at(const State& state, u32 at) {
  u64 word = 0;
  for (u32 i = 8; i--;) word = word << 8 | state.memory[at + i];
  return word;
}
void set_word(State& state, u32 at, u64 word) {
  for (u32 i = 0; i < 8; ++i, word >>= 8) state.memory[at + i] = u8(word);
}
void change_word(const Operation& op, State& state) {
  const u64 found = word_at(state, op.at);
  if (op.what == What::FetchAdd)
    set_word(state, op.at, found + op.operand);
  else if (found == op.compare)
    set_word(state, op.at, op.operand);
}

struct Choice {
  u8 actor;
  What what;
  u32 weight;
};
constexpr std::array kChoices{
    Choice{kPeer0, What::Write, 13},       Choice{kPeer0, What::Put, 7},
    Choice{kPeer0, What::Read, 10},        Choice{kPeer0, What::Get, 5},
    Choice{kPeer0, What::FetchAdd, 15},    Choice{kPeer0, What::CompareSwap, 8},
    Choice{kPeer0, What::Send, 12},        Choice{kPeer0, What::SendInvalidate, 8},
    Choice{kReader, What::ReadData, 12},   Choice{kLocal, What::LocalInvalidate, 5},
    Choice{kCommand, What::Deregister, 5},
};
const Choice& choose(engine::Random& random) {
  u32 all = 0;
  for (const Choice& c : kChoices) all += c.weight;
  u64 left = random.below(all);
  for (const Choice& c : kChoices) {
    if (left < c.weight) return c;
    left -= c.weight;
  }
  return kChoices[0];
}

Operation random_operation(engine::Random& random, u8 fill) {
  const Choice& choice = choose(random);
  Operation op;
  op.what = choice.what, op.actor = choice.actor;
  if (op.actor == kPeer0) op.actor = u8(kPeer0 + random.below(kPeers));
  op.key = u8(random.below(kKeys.size()));
  op.second = random.chance(1, 2);
  // RD has no SEND with Invalidate.
  if (op.actor == kPeer2 && op.what == What::SendInvalidate) op.what = What::Send;
  // What is local names its memory by key 0.
  if (is_receive(op.what) || op.what == What::ReadData) op.key = 0;
  if (takes_key(op.what)) op.key = u8(1 + random.below(2));
  const Span span = is_receive(op.what) ? kKeys[0] : kKeys[op.key];
  const bool is_atomic = op.what == What::FetchAdd || op.what == What::CompareSwap;
  if (is_atomic) {
    op.bytes = 8, op.at = span.begin + 8 * u32(random.below((kAtomicBytes - span.begin) / 8));
  } else if (op.what != What::LocalInvalidate && op.what != What::Deregister) {
    const u32 most = is_receive(op.what) ? 16 : span.end - span.begin;
    op.bytes = is_receive(op.what) ? u32(random.below(most + 1)) : 1 + u32(random.below(most));
    op.at = span.begin + u32(random.below(span.end - span.begin - op.bytes + 1));
  }
  op.fill = fill;
  op.operand = 1 + random.below(1u << 20), op.compare = random.chance(1, 2) ? 0 : random.below(4);
  op.reuses = random.chance(1, 2);
  // Back to back, within a packet's way through the chip, or after it.
  static constexpr std::array<u32, 4> kGaps{0, 0, 200, 2000};
  if (const u32 most = kGaps[random.below(kGaps.size())]) op.gap = u32(random.below(most));
  return op;
}
}  // namespace

Burst random_burst(engine::Random& random) {
  constexpr u32 kMostOfActor = 4;  // a queue pair has room for as many READs
  Burst burst;
  std::array<u32, kActors> of_actor{};
  std::array<bool, kKeys.size()> deregistered{};
  const u64 operations = 3 + random.below(12);
  for (u64 n = 0; n < operations; ++n) {
    const Operation op = random_operation(random, u8(n + 1));
    if (++of_actor[op.actor] > kMostOfActor) continue;
    if (op.what == What::Deregister && std::exchange(deregistered[op.key], true)) continue;
    burst.push_back(op);
  }
  return burst;
}

std::string text_of(const Operation& op) {
  std::string text = fmt::format("after {} ns, actor {}: {}, key {}", op.gap, op.actor,
                                 kNames[std::size_t(op.what)], op.key);
  if (op.bytes) text += fmt::format(", bytes {} to {} of {:02x}", op.at, op.at + op.bytes, op.fill);
  if (op.what == What::FetchAdd) text += fmt::format(", adds {:#x}", op.operand);
  if (op.what == What::CompareSwap)
    text += fmt::format(", {:#x} for {:#x}", op.operand, op.compare);
  if (op.actor == kPeer2) text += op.second ? ", second queue pair" : ", first queue pair";
  if (op.reuses) text += ", then reused by the host";
  return text;
}

// G22.2: a key that is not Valid gives no access. INV-8, INV-10: the bytes of a SEND with
// Invalidate are there, whether its key can be taken away or not; INV-19: a Free one stays so.
bool apply(const Operation& op, State& state, std::vector<u8>& data) {
  Key& key = state.keys[op.key];
  if (uses_key(op.what) && key < Key::Leaving) return false;
  const auto begin = state.memory.begin() + op.at, end = begin + op.bytes;
  switch (op.what) {
    case What::Read:
    case What::Get:
      data.assign(begin, end);
      return true;
    case What::FetchAdd:
    case What::CompareSwap:
      data.assign(begin, end), change_word(op, state);
      return true;
    case What::Deregister:
      key = Key::Gone;
      return true;
    case What::BeginTaking:
      if (key == Key::Gone) return false;
      key = std::min(key, Key::Leaving);
      return true;
    case What::EndTaking:
      key = std::min(key, Key::Free);
      return true;
    default:
      std::fill(begin, end, op.fill);
  }
  if (!takes_key(op.what)) return true;
  if (key == Key::Gone) return false;
  key = Key::Free;
  return true;
}
}  // namespace hca::testbench::malice::overlap
