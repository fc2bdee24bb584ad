// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/doorbell.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;
using proto::BarOffset;

namespace {
struct DoorbellBench : Bench {
  explicit DoorbellBench(const DoorbellConfig& config = {}, Cycle command_from = 0)
      : doorbell(config, contexts),
        sends((add(doorbell, "doorbell"), take(doorbell.outputs.send_out, doorbell))),
        receives(take(doorbell.outputs.receive_out[0], doorbell)),
        cqs(take(doorbell.outputs.cq_out, doorbell)),
        commands(take(doorbell.outputs.command_out, doorbell, 1, command_from)) {
    doorbell.writes_in.connect(doorbell.self, "BAR");
  }
  void write(Cycle at, BarOffset offset, u64 value = 0x100000001) {
    u8 bytes[8];
    proto::store_be<8>(bytes, value);
    doorbell.write(at, u32(offset), bytes);
  }
  device::Contexts contexts;
  Doorbell doorbell;
  Taker<SendBell, 8>& sends;
  Taker<ReceiveBell, 8>& receives;
  Taker<proto::CqDoorbell, 8>& cqs;
  Taker<CommandBell, 4>& commands;
};
}  // namespace

TEST_CASE("a doorbell is seen by its block after the latency, the next one an interval later",
          "[doorbell]") {
  DoorbellBench bench({.latency = 4, .interval = 3});
  bench.write(10, BarOffset::SendDoorbell);
  bench.write(10, BarOffset::ReceiveDoorbell);
  bench.write(15, BarOffset::CqDoorbell);  // blocked until 13 + 3
  bench.write(19, BarOffset::SendDoorbell);
  bench.domain.run_until(100);
  CHECK(bench.sends.seen == Cycles{10 + 4, 19 + 4});  // ready at 16 + 3
  CHECK(bench.receives.seen == Cycles{13 + 4});
  CHECK(bench.cqs.seen == Cycles{16 + 4});
}

TEST_CASE("a doorbell without room behind stays, and all behind it", "[doorbell]") {
  // One command is on its way to a block that takes it in 50: room counts from 51 on.
  DoorbellBench bench({.latency = 4, .interval = 1}, 50);
  bench.write(10, BarOffset::CommandDoorbell);
  bench.write(11, BarOffset::CommandDoorbell);
  bench.write(12, BarOffset::SendDoorbell);
  bench.domain.run_until(100);
  CHECK(bench.commands.seen == Cycles{50, 51 + 4});
  CHECK(bench.sends.seen == Cycles{52 + 4});
}

TEST_CASE("a write that is no doorbell takes its turn and goes nowhere", "[doorbell]") {
  DoorbellBench bench({.latency = 4, .interval = 2});
  bench.write(10, BarOffset(0x700));
  bench.write(10, BarOffset::SendDoorbell);
  bench.domain.run_until(100);
  CHECK(bench.sends.seen == Cycles{12 + 4});
  CHECK(bench.doorbell.counters.bad == 1);
}

TEST_CASE("a push without its whole WQE is a send doorbell, and the rest of it does nothing",
          "[doorbell]") {
  DoorbellBench bench({.latency = 4, .interval = 1});
  // One SGE after the head of a SEND: whole or not.
  std::array<u8, 8 + proto::kSendWqeBytes + proto::kSgeBytes> push{};
  proto::store_be<8>(push.data(), 0x100000001);
  proto::SendWqe wqe{};
  wqe.opcode = proto::WorkOpcode::Send, wqe.sge_count = 1;
  proto::encode(wqe, push.data() + 8);
  const auto write = [&](Cycle at, std::size_t from, std::size_t to) {
    bench.doorbell.write(at, u32(BarOffset::PushBuffer) + u32(from),
                         std::span(push).subspan(from, to - from));
  };
  write(10, 0, push.size());
  write(20, 0, push.size() - 1);
  write(21, push.size() - 1, push.size());
  write(30, 0, 8);
  write(31, 8, push.size());
  bench.domain.run_until(100);
  CHECK(bench.sends.seen == Cycles{14, 24, 34});
  CHECK(bench.doorbell.counters.pushed == 1);
  CHECK(bench.doorbell.counters.fallbacks == 2);
  CHECK(bench.doorbell.counters.pieces == 2);
  CHECK(bench.doorbell.counters.bad == 0);
}
