// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/command.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;

namespace {
// The cycles in which `count` commands took effect and were written back. They are rung in cycle 0;
// the host has a message to post as well, far too late to matter, so that time goes on.
struct CommandRun {
  CommandRun(const CommandConfig& command, u32 count) {
    PairConfig config;
    config.chip.command = command;
    Pair pair(config);
    engine::RecordingSink sink;
    pair.a.chip.probes.attach(sink);
    for (u32 i = 0; i < count; ++i)
      pair.a.host.command(i, proto::CommandOpcode::QueryQp, 1, proto::QpAttributes{});
    pair.a.chip.domain.run_until(5000);
    for (const engine::Event& e : sink.events)
      if (pair.a.chip.probes.name(e.block) == "command") effects.push_back(e.at);
    written = pair.a.writes_to(kCommands, 16 * proto::kCommandBytes);
  }
  std::vector<Cycle> effects, written;
};
using Cycles = std::vector<Cycle>;
}  // namespace

// Rung in 0, at the BAR in 20, 4 cycles through doorbell: seen in 24, asked for in 25 (dma). 60
// cycles to memory and 60 back: the first of its 8 beats of 64 bytes is back in 145, the last in
// 152. Its effect comes `latency` cycles later, in 172; dma sees the write in 173, its 8th beat
// leaves in 180 and is in memory in 240.
TEST_CASE("a command takes effect its latency after its block is read and is then written back",
          "[command]") {
  const CommandRun run({.latency = 20, .interval = 1}, 1);
  CHECK(run.effects == Cycles{172});
  CHECK(run.written == Cycles{240});
}

// The second doorbell waits since 25: it is blocked in 240 and taken in 240 + interval; then all is
// as for the first one, which was taken in 24: 148 cycles to its effect, 216 until it is written.
TEST_CASE("the next command is blocked until `interval` cycles after the one before is written",
          "[command]") {
  const CommandRun next({.latency = 20, .interval = 1}, 2),
      later({.latency = 20, .interval = 7}, 2);
  CHECK(next.effects == Cycles{172, 241 + 148});
  CHECK(next.written == Cycles{240, 241 + 216});
  CHECK(later.effects == Cycles{172, 247 + 148});
  CHECK(later.written == Cycles{240, 247 + 216});
}

// One event goes each cycle, so the fault stays in front for the second one.
TEST_CASE("of a fault of an SRQ the queue pair enters Error a cycle later", "[command][SRQ-11]") {
  Pair pair(PairConfig{});
  Chip& chip = pair.a.chip;
  device::Contexts& contexts = chip.contexts;
  contexts.srqs.resize(2);
  contexts.srqs[1].allocated = true, contexts.qps[1].srqn = 1;
  chip.domain.run_until(2000);  // the host has nothing to do
  chip.responder_execute.outputs.faults_out->push(
      Fault{.qpn = 1,
            .event = proto::EventType::QpFatal,
            .failed_queue = contexts.held_queue_of(contexts.qps[1])});
  Cycle failed = 0, error = 0;
  for (Cycle at = 2000; at < 2100; ++at) {
    chip.domain.run_until(at + 1);
    if (!failed && contexts.srqs[1].failed) failed = at;
    if (!error && contexts.qps[1].state == proto::QpState::Error) error = at;
  }
  CHECK(failed != 0);
  CHECK(error == failed + 1);
}
