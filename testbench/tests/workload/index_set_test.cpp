// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/index_set.h"

#include <catch2/catch.hpp>
#include <set>

#include "model/engine/random.h"

namespace hca::testbench {
TEST_CASE("an index set finds what a sorted set finds", "[workload]") {
  const u32 limit = GENERATE(1u, 2u, 63u, 64u, 65u, 4096u, 4097u, 300'000u);
  engine::Random random(limit);
  IndexSet all(limit);
  std::set<u32> wanted;
  const auto check = [&](u32 i) {
    auto at = wanted.lower_bound(i);
    if (at == wanted.end()) at = wanted.begin();
    CHECK(all.next(i) == (at == wanted.end() ? std::optional<u32>{} : *at));
  };
  check(0);
  for (int step = 0; step < 3000; ++step) {
    const u32 i = u32(random.below(limit));
    const bool is_in = random.below(step % 1000 < 500 ? 3 : 2);
    all.set(i, is_in);
    is_in ? void(wanted.insert(i)) : void(wanted.erase(i));
    CHECK(all.has(i) == is_in);
    check(u32(random.below(limit)));
    check(limit - 1);
  }
  while (!wanted.empty()) {
    all.set(*wanted.begin(), false);
    wanted.erase(wanted.begin());
    check(0);
  }
}
}  // namespace hca::testbench
