// SPDX-License-Identifier: Apache-2.0
// The host's memory for contexts: its command, and the entries that go there.
#include <array>
#include <catch2/catch.hpp>

#include "model/blocks/memory/context_image.h"
#include "model/device/execute_command.h"
#include "model/proto/bytes.h"
#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using namespace hca::proto;
using S = CommandStatus;

namespace {
template <class Body>
S run(device::Contexts& contexts, CommandOpcode opcode, u32 object, const Body& body) {
  u8 block[kCommandBytes] = {};
  encode(CommandHeader{opcode, {}, false, object}, block);
  encode(body, block + kCommandHeaderBytes);
  execute_command(contexts, block);
  return decode<CommandHeader>(block).status;
}
std::vector<u64> words(const device::Contexts& contexts, ContextKind kind, u64 number, u32 count) {
  std::vector<u8> bytes(row_of(kind).bytes, 0xee);
  write_image(contexts, kind, number, 21, bytes);
  std::vector<u64> all;
  for (u32 i = 0; i < count; ++i) all.push_back(load_be<8>(bytes.data() + 8 * i));
  return all;
}
}  // namespace

TEST_CASE("a device that does not hold all contexts wants memory before its first CQ",
          "[command][context_cache]") {
  device::Contexts c;
  c.needs_context_memory = true;
  const QueueAttributes cq{.address = 0x1000, .log_entries = 4};
  CHECK(run(c, CommandOpcode::CreateCq, 1, cq) == S::BadState);
  CHECK(c.cqs.empty());
  CHECK(run(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{0}) == S::BadValue);
  CHECK(run(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{0x180}) == S::BadValue);
  CHECK(c.context_memory == 0);
  CHECK(run(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{0x5300}) == S::Ok);
  CHECK(c.context_memory == 0x5300);
  CHECK(run(c, CommandOpcode::CreateCq, 1, cq) == S::Ok);
  // Entries may be there now.
  CHECK(run(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{0x100}) == S::BadState);
  CHECK(c.context_memory == 0x5300);
}

TEST_CASE("a device that holds all contexts takes no memory for them", "[command][context_cache]") {
  device::Contexts c;
  CHECK(run(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{0x100}) == S::BadState);
  for (const bool needs : {false, true}) {
    c.needs_context_memory = needs;
    u8 block[kCommandBytes] = {};
    encode(CommandHeader{CommandOpcode::QueryDevice, {}, false, 0}, block);
    execute_command(c, block);
    CHECK(decode<DeviceAttributes>(block + kCommandHeaderBytes).needs_context_memory == needs);
  }
}

// 2^24 queue pairs of 256 bytes, as many CQs and keys of 64, 2^17 + 1 lines of 64 a key.
TEST_CASE("the tables of contexts stand one behind the other", "[context_cache]") {
  constexpr u64 kGiB = u64{1} << 30;
  CHECK(context_offset(ContextKind::Qp, 3) == 3 * 256);
  CHECK(context_offset(ContextKind::Cq, 2) == 4 * kGiB + 2 * 64);
  CHECK(context_offset(ContextKind::Mpt, 1) == 5 * kGiB + 64);
  CHECK(context_offset(ContextKind::Mtt, 1) == 6 * kGiB + 64);
  CHECK(kContextMemoryBytes == 6 * kGiB + 64 * (u64{1} << 24) * ((u64{1} << 17) + 1));
}

// Of 2^17 + 1 lines each: the first lines of regions that follow each other are in different sets.
TEST_CASE("the lines of a region have numbers of their own", "[context_cache]") {
  constexpr u64 kLines = (u64{1} << 17) + 1;
  CHECK(mtt_number(0, 0) == 0);
  CHECK(mtt_number(0, kLines - 1) + 1 == mtt_number(1, 0));
  CHECK(mtt_number(7, 300) == 7 * kLines + 300);
  CHECK(mtt_number(1, 0) % 64 == 1);
  for (const u64 number : {mtt_number(0xffffff, 70000), mtt_number(5, kLines - 1)})
    CHECK(mtt_number(key_index_of_mtt(number), line_of_mtt(number)) == number);
}

TEST_CASE("an entry of the MTT has the addresses of eight pages", "[context_cache]") {
  device::Contexts c;
  set_up(c, PairConfig{}, false);
  Region& region = c.regions[1];
  constexpr u64 kPage = u64{2} << 20;
  region.start = region.origin = 0x7000'0000, region.physical = 0x1000;
  region.bytes = 9 * kPage + 1;  // ten pages
  const auto page = [&](u64 n) { return 0x1000 + n * kPage; };
  CHECK(words(c, ContextKind::Mtt, mtt_number(1, 0), 8) ==
        std::vector<u64>{page(0), page(1), page(2), page(3), page(4), page(5), page(6), page(7)});
  CHECK(words(c, ContextKind::Mtt, mtt_number(1, 1), 3) == std::vector<u64>{page(8), page(9), 0});
  const std::array<u64, 2> list{0x9000, 0x3000};
  region.pages = list.data(), region.log_page = 12, region.bytes = 2 * 4096;
  CHECK(words(c, ContextKind::Mtt, mtt_number(1, 0), 3) == std::vector<u64>{0x9000, 0x3000, 0});
  CHECK(words(c, ContextKind::Mtt, mtt_number(2, 0), 1) == std::vector<u64>{0});
}

TEST_CASE("entries of a region and of a CQ begin with where they are", "[context_cache]") {
  device::Contexts c;
  set_up(c, PairConfig{}, false);
  CHECK(words(c, ContextKind::Mpt, 1, 4) ==
        std::vector<u64>{kData, kMemoryBytes - kData, kData, kData});
  // Allocated, 2^12 entries, not overflowed, not armed, EQN 0; then the ring.
  CHECK(words(c, ContextKind::Cq, 1, 2) == std::vector<u64>{0x010c'0000'0000'0000, kCqs});
  CHECK(words(c, ContextKind::Cq, 9, 1) == std::vector<u64>{0});
}
