// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/set_store.h"

#include <catch2/catch.hpp>
#include <set>

using namespace hca;
using namespace hca::blocks;

namespace {
// Touches numbers one after the other, as a cache does; returns which of them were not here.
std::vector<u64> missed(SetStore& store, const std::vector<u64>& numbers) {
  std::vector<u64> misses;
  for (const u64 n : numbers) {
    if (store.find(n) != SetStore::kNone) continue;
    misses.push_back(n);
    const u32 slot = store.choose(n);
    store.put(slot, n);
  }
  return misses;
}
}  // namespace

TEST_CASE("of a full set the entry goes that was not used for the longest time", "[set_store]") {
  SetStore lru(2, 2, Replacement::Lru);
  // 1 2 | 1 is used again | 3 takes the place of 2 | 1 is here, 2 is not
  CHECK(missed(lru, {1, 2, 1, 3, 1, 2}) == std::vector<u64>{1, 2, 3, 2});
}

TEST_CASE("first in, first out does not look at uses", "[set_store]") {
  SetStore fifo(2, 2, Replacement::Fifo);
  // 3 takes the place of 1, which came first; 1 that of 2
  CHECK(missed(fifo, {1, 2, 1, 3, 1, 2}) == std::vector<u64>{1, 2, 3, 1, 2});
}

TEST_CASE("numbers of one set do not touch the others", "[set_store]") {
  SetStore store(4, 1, Replacement::Lru);  // 4 sets of one: number modulo 4
  CHECK(missed(store, {0, 1, 2, 3, 4, 1, 2, 3, 0}) == std::vector<u64>{0, 1, 2, 3, 4, 0});
}

TEST_CASE("what is on its way keeps its place", "[set_store]") {
  for (const Replacement policy : {Replacement::Lru, Replacement::Fifo, Replacement::Random}) {
    SetStore store(2, 2, policy);
    const u32 first = store.choose(1);
    store.put(first, 1, true);
    const u32 second = store.choose(2);
    CHECK(second != first);
    store.put(second, 2, true);
    CHECK(store.choose(3) == SetStore::kNone);
    store[first].coming = false;
    CHECK(store.choose(3) == first);
  }
}

TEST_CASE("by chance any entry of the set goes", "[set_store]") {
  SetStore store(8, 4, Replacement::Random);
  missed(store, {0, 2, 4, 6});  // all four of set 0
  std::set<u32> seen;
  for (int i = 0; i < 100; ++i) seen.insert(store.choose(8));
  CHECK(seen == std::set<u32>{0, 1, 2, 3});
}
