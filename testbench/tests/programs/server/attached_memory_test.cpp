// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/attached_memory.h"

#include <catch2/catch.hpp>
#include <stdexcept>

namespace hca::attach {
namespace {
constexpr u64 kAt = kRingsOffset + 64;
// What the HCA writes there for the program of this number.
bool write_ring(AttachedMemory& memory, u32 number, u8 byte) {
  return memory.write(bus_address(number, kSharedBit | kAt), &byte, 1);
}
}  // namespace

TEST_CASE("programs that come and go have numbers without end, none that of one that stays",
          "[attach]") {
  AttachedMemory memory;
  const SharedMemory of_one_that_stays, of_others;
  const u32 stays = memory.attach(of_one_that_stays, -1);
  REQUIRE(write_ring(memory, stays, 7));
  u32 last = stays;
  for (u32 i = 0; i < 70'000; ++i) {
    const u32 number = memory.attach(of_others, -1);
    REQUIRE(number != stays);
    REQUIRE(number != last);  // what is under way to one that is gone reaches nobody
    REQUIRE(write_ring(memory, number, 9));
    memory.detach(number);
    REQUIRE_FALSE(write_ring(memory, number, 9));
    last = number;
  }
  CHECK(of_one_that_stays.data()[kAt] == 7);
}

TEST_CASE("as many programs as there are numbers are attached at a time", "[attach]") {
  AttachedMemory memory;
  const SharedMemory shared;
  for (u32 i = 1; i < 1 << 16; ++i) REQUIRE(memory.attach(shared, -1) == i);
  CHECK_THROWS_AS(memory.attach(shared, -1), std::runtime_error);
  memory.detach(99);
  CHECK(memory.attach(shared, -1) == 99);
}
}  // namespace hca::attach
