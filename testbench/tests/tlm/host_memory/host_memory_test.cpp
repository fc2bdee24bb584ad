// SPDX-License-Identifier: Apache-2.0
#include "tlm/host_memory/host_memory.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <stdexcept>

#include "model/engine/random.h"
#include "testbench/testbed/fresh_kernel.h"
#include "tlm/host_memory/memory_target.h"

namespace hca::tlm_ {
TEST_CASE("untouched memory reads as zeros and takes no page", "[host_memory]") {
  HostMemory memory;
  std::vector<u8> bytes(200'000, 0xee);
  memory.read(HostMemory::kBytes - bytes.size(), bytes.data(), bytes.size());
  CHECK(bytes == std::vector<u8>(bytes.size()));
  memory.fill(0x123, 0, 1 << 20);
  CHECK(memory.view(5, 10)[9] == 0);
  CHECK(memory.pages() == 0);
}

TEST_CASE("what was written is read, across pages and far apart", "[host_memory]") {
  HostMemory memory;
  std::vector<u8> in(3 * HostMemory::kPageBytes), out(in.size());
  std::iota(in.begin(), in.end(), u8(7));
  for (const u64 at : {u64{0x1fff}, u64{1} << 40, HostMemory::kBytes - in.size()}) {
    memory.write(at, in);
    memory.read(at, out.data(), out.size());
    CHECK(out == in);
  }
  CHECK(memory.pages() == 4 + 3 + 3);  // the first range does not start on a page
  u8 before = 1;
  memory.read(0x1ffe, &before, 1);
  CHECK(before == 0);
}

TEST_CASE("what is copied in pieces is all there and nothing beside it", "[host_memory]") {
  const u64 bytes = GENERATE(2047, 2048, 2049, 4095, 4096, 4097, 6145);
  const u64 at = GENERATE(1, 63, 64);
  HostMemory memory;
  memory.fill(0, 0xee, 8192);
  std::vector<u8> in(bytes), out(bytes + 2, 0xdd);
  engine::Random random(bytes);
  for (u8& byte : in) byte = u8(random());
  memory.write(at, in);
  const auto there = memory.view(0, 8192);
  CHECK(std::equal(in.begin(), in.end(), there.begin() + std::ptrdiff_t(at)));
  CHECK(there[at - 1] == 0xee);
  CHECK(there[at + bytes] == 0xee);
  memory.read(at, out.data() + 1, bytes);
  CHECK(std::equal(in.begin(), in.end(), out.begin() + 1));
  CHECK(out.front() == 0xdd);
  CHECK(out.back() == 0xdd);
}

TEST_CASE("a message of 2^31 bytes touches only what was written of it", "[host_memory]") {
  HostMemory memory;
  const u8 byte = 9;
  memory.write(u64{1} << 31, &byte, 1);
  memory.write(u64{1} << 32, &byte, 1);
  CHECK(memory.pages() == 2);
}

TEST_CASE("an access beyond the memory is refused as a whole", "[host_memory]") {
  HostMemory memory;
  u8 bytes[16] = {};
  CHECK_THROWS_AS(memory.write(HostMemory::kBytes - 8, bytes, 16), std::out_of_range);
  CHECK_THROWS_AS(memory.read(~u64{0} - 4, bytes, 16), std::out_of_range);
  CHECK(memory.pages() == 0);
}

TEST_CASE("a watcher hears of each write that touches its range", "[host_memory]") {
  HostMemory memory;
  std::vector<std::pair<u64, u64>> heard;
  const u32 number =
      memory.watch(0x1000, 64, [&](u64 address, u64 bytes) { heard.emplace_back(address, bytes); });
  const std::array<u8, 32> data{1};
  memory.write(0x0fe0, data);  // ends where the range begins
  memory.write(0x1040, data);  // begins where it ends
  CHECK(heard.empty());
  memory.write(0x0fe1, data);
  memory.write(0x103f, data);
  CHECK(heard == std::vector<std::pair<u64, u64>>{{0x0fe1, 32}, {0x103f, 32}});
  memory.unwatch(number);
  memory.write(0x1000, data);
  CHECK(heard.size() == 2);
}

TEST_CASE("a watch on a page that was used before is heard", "[host_memory]") {
  HostMemory memory;
  const std::array<u8, 32> data{1};
  memory.write(0x1000, data);
  int heard = 0;
  memory.watch(0x1000, 1, [&](u64, u64) { ++heard; });
  memory.write(0x1000, data);
  CHECK(heard == 1);
}

namespace {
struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
  int answers = 0;
  explicit Initiator(sc_core::sc_module_name name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &Initiator::answered);
  }
  tlm::tlm_sync_enum answered(tlm::tlm_generic_payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    answers += phase == tlm::BEGIN_RESP;
    return tlm::TLM_COMPLETED;
  }
  static void set(tlm::tlm_generic_payload& payload, tlm::tlm_command command, u64 address,
                  std::span<u8> data) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(unsigned(data.size()));
    payload.set_streaming_width(unsigned(data.size()));
  }
  tlm::tlm_response_status move(tlm::tlm_command command, u64 address, std::span<u8> data) {
    tlm::tlm_generic_payload payload;
    set(payload, command, address, data);
    sc_core::sc_time delay(5, sc_core::SC_NS);
    socket->b_transport(payload, delay);
    CHECK(delay == sc_core::sc_time(5, sc_core::SC_NS));
    return payload.get_response_status();
  }
};

struct Bus : testbench::FreshKernel {
  HostMemory memory;
  MemoryTarget target{"memory", memory};
  Initiator initiator{"initiator"};
  Bus() {
    initiator.socket.bind(target.dma_target);
    sc_core::sc_spawn([] {});  // something for the kernel to start
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};
}  // namespace

TEST_CASE_METHOD(Bus, "a DMA moves bytes at once and adds no delay", "[host_memory][tlm]") {
  std::array<u8, 4> in{1, 2, 3, 4}, out{};
  CHECK(initiator.move(tlm::TLM_WRITE_COMMAND, 0x8000, in) == tlm::TLM_OK_RESPONSE);
  CHECK(initiator.move(tlm::TLM_READ_COMMAND, 0x8000, out) == tlm::TLM_OK_RESPONSE);
  CHECK(out == in);
  CHECK(initiator.move(tlm::TLM_READ_COMMAND, HostMemory::kBytes - 2, out) ==
        tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(target.transactions() == 3);
}

TEST_CASE_METHOD(Bus, "the memory's socket serves the whole base protocol", "[host_memory][tlm]") {
  std::array<u8, 4> in{1, 2, 3, 4}, out{};
  tlm::tlm_generic_payload write, read;
  Initiator::set(write, tlm::TLM_WRITE_COMMAND, 0x8000, in);
  CHECK(initiator.socket->transport_dbg(write) == 4);
  CHECK(target.transactions() == 0);
  tlm::tlm_dmi dmi;
  CHECK_FALSE(initiator.socket->get_direct_mem_ptr(write, dmi));
  Initiator::set(read, tlm::TLM_READ_COMMAND, 0x8000, out);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay(5, sc_core::SC_NS);
  CHECK(initiator.socket->nb_transport_fw(read, phase, delay) == tlm::TLM_ACCEPTED);
  CHECK(initiator.answers == 0);
  sc_core::sc_start(10, sc_core::SC_NS);
  CHECK(initiator.answers == 1);
  CHECK(read.is_response_ok());
  CHECK(out == in);
  CHECK(target.transactions() == 1);
}

TEST_CASE_METHOD(Bus, "a DMA that reads what is unreadable gets an error, one beside it does not",
                 "[host_memory][tlm]") {
  memory.make_unreadable(0x8004, 2);  // bytes 0x8004 and 0x8005
  std::array<u8, 4> bytes{};
  const auto read = [&](u64 at) { return initiator.move(tlm::TLM_READ_COMMAND, at, bytes); };
  CHECK(read(0x8000) == tlm::TLM_OK_RESPONSE);
  CHECK(read(0x8001) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(read(0x8005) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(read(0x8006) == tlm::TLM_OK_RESPONSE);
  CHECK(initiator.move(tlm::TLM_WRITE_COMMAND, 0x8004, bytes) == tlm::TLM_OK_RESPONSE);
}

TEST_CASE_METHOD(Bus, "of an access with an extension the first bytes move, all are judged",
                 "[host_memory][tlm]") {
  std::vector<std::pair<u64, u64>> seen;
  memory.watch(0x8100, 1, [&](u64 address, u64 bytes) { seen.emplace_back(address, bytes); });
  memory.make_unreadable(0x9100, 1);
  memory.make_unwritable(0xa100, 1);
  std::array<u8, 4> bytes{1, 2, 3, 4};
  AccessExtension access;
  access.bytes = 0x200;
  const auto move = [&](tlm::tlm_command command, u64 address) {
    tlm::tlm_generic_payload payload;
    Initiator::set(payload, command, address, bytes);
    payload.set_extension(&access);
    sc_core::sc_time delay;
    initiator.socket->b_transport(payload, delay);
    payload.clear_extension(&access);
    return payload.get_response_status();
  };
  CHECK(move(tlm::TLM_WRITE_COMMAND, 0x8000) == tlm::TLM_OK_RESPONSE);
  CHECK(seen == std::vector<std::pair<u64, u64>>{{0x8000, 0x200}});
  CHECK(memory.view(0x8000, 6)[3] == 4);
  CHECK(memory.view(0x8000, 6)[4] == 0);
  CHECK(move(tlm::TLM_WRITE_COMMAND, 0xa000) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(move(tlm::TLM_READ_COMMAND, 0x9000) == tlm::TLM_GENERIC_ERROR_RESPONSE);
  CHECK(move(tlm::TLM_READ_COMMAND, HostMemory::kBytes - 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  access.bytes = 4;  // no more than move
  CHECK(move(tlm::TLM_READ_COMMAND, 0x9000) == tlm::TLM_OK_RESPONSE);
}

// What a memory reported to its watcher, and all that can be read of it, after so many operations.
static std::vector<u64> after_operations(HostMemory& memory, u64 seed) {
  constexpr std::array<u64, 3> kPlaces{0, u64{1} << 33, HostMemory::kBytes - (1 << 19)};
  constexpr u64 kReach = 1 << 18;  // of each place
  engine::Random random(seed);
  std::vector<u64> seen;
  std::vector<u8> bytes(kReach);
  for (u32 i = 0; i < 40; ++i) {
    const u64 at = kPlaces[random.below(kPlaces.size())] + random.below(kReach / 2);
    const u64 count = 1 + random.below(kReach / 2);
    const u8 value = u8(random.below(2) * random());
    switch (random.below(4)) {
      case 0:
        memory.fill(at, value, count);
        break;
      case 1:
        memory.span(at, count)[0] = value;
        break;
      case 2:
        memory.watch(at, count, [&seen](u64 address, u64 all) {
          seen.push_back(address), seen.push_back(all);
        });
        break;
      default:
        memory.write(at, std::vector<u8>(count, value));
    }
  }
  for (const u64 place : kPlaces) {
    memory.read(place, bytes.data(), bytes.size());
    seen.push_back(std::accumulate(bytes.begin(), bytes.end(), u64{0},
                                   [](u64 sum, u8 byte) { return sum * 31 + byte; }));
  }
  seen.push_back(memory.pages());
  return seen;
}

TEST_CASE("a memory with the pages of one that is gone is as a new one", "[host_memory]") {
  PageStore store;
  for (u64 seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    HostMemory fresh, again(&store);
    CHECK(after_operations(again, seed) == after_operations(fresh, seed));
  }
}

TEST_CASE("a page store gives the page of a memory that is gone to the next one", "[host_memory]") {
  PageStore store;
  const u8* page = nullptr;
  {
    HostMemory memory(&store);
    memory.fill(0, 7, HostMemory::kPageBytes);
    page = memory.view(0, 1).data();
  }
  HostMemory memory(&store);
  const std::span<u8> bytes = memory.span(u64{1} << 33, HostMemory::kPageBytes);
  CHECK(bytes.data() == page);
  CHECK(std::count(bytes.begin(), bytes.end(), 0) == HostMemory::kPageBytes);
}
}  // namespace hca::tlm_
