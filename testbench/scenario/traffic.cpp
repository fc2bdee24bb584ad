// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/traffic.h"

#include <algorithm>

#include "model/engine/random.h"

namespace hca::testbench {
namespace {
// The entry of a weighted list that a random number chooses.
template <class List, class Weight>
const auto& chosen(const List& list, u64 random, Weight&& weight) {
  u64 sum = 0;
  for (const auto& entry : list) sum += weight(entry);
  u64 at = u64(engine::u128{random} * sum >> 64);
  for (const auto& entry : list) {
    if (at < weight(entry)) return entry;
    at -= weight(entry);
  }
  return list.back();
}
}  // namespace

Message Traffic::message(u32 qp, u64 k) const {
  Message m{operation, bytes};
  if (!mix.empty() || !sizes.empty()) {
    u64 state = seed ^ (u64{qp} << 40 | k) * 0xd1342543de82ef95;
    engine::split_mix(state);
    const u64 first = engine::split_mix(state), second = engine::split_mix(state);
    if (!mix.empty())
      m.operation = chosen(mix, first, [](const auto& e) { return e.second; }).first;
    if (!sizes.empty())
      m.bytes = chosen(sizes, second, [](const SizeWeight& e) { return e.weight; }).bytes;
  }
  if (const u32 exact = m.row().work().exact_bytes) m.bytes = exact;
  return m;
}

Traffic Traffic::answers() const {
  Traffic t = *this;
  t.is_answer = true;
  t.bytes = response;
  t.sizes.clear();
  t.list = 1;
  t.batches = false;
  t.bits_per_second = t.messages_per_second = 0;
  return t;
}

bool Traffic::has(bool (*fits)(const OperationRow&)) const {
  if (mix.empty()) return fits(row_of(operation));
  return std::any_of(mix.begin(), mix.end(),
                     [&](const auto& e) { return e.second && fits(row_of(e.first)); });
}

u64 Traffic::count(u32 qp, bool (*fits)(const Message&)) const {
  if (mix.empty() && sizes.empty()) return fits(message(qp, 0)) ? messages_on(qp) : 0;
  u64 found = 0;
  for (u64 k = 0; k < messages_on(qp); ++k) found += fits(message(qp, k));
  return found;
}
}  // namespace hca::testbench
