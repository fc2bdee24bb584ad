// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/engine/probe.h"
#include "testbench/testbed.h"

namespace hca::testbench {
// One step of a message's way: it ends with a probe's stamp and begins with the one before.
struct TimePart {
  std::string name;
  u64 cycles;
};

// Where the time of one message goes, from the client's doorbell to its completion, in cycles of
// the client. Followed is the last packet of the message and its acknowledgement; of a READ or
// ATOMIC its request and the last response.
struct Breakdown {
  Operation operation{};
  u32 port = 1, bytes = 0;
  std::vector<TimePart> parts;
  u64 whole = 0;  // measured by the program that posted the message, not by probes
  u64 sum() const;
};

// Listens to the probes of both chips and to the wire of a lane's port while it exists.
class BreakdownRecorder {
 public:
  BreakdownRecorder(Testbed& testbed, std::size_t lane);
  ~BreakdownRecorder();
  BreakdownRecorder(const BreakdownRecorder&) = delete;

  // The parts of the one message that was recorded. A stamp that is missing gives
  // std::runtime_error with its name.
  std::vector<TimePart> parts(const OperationRow& operation) const;

 private:
  struct Stamp {
    std::string name;
    u64 picoseconds;
  };
  struct Frame {
    u8 sender;
    u64 picoseconds;
    u32 psn;
    bool response;
  };
  struct Find;
  u32 last_psn(unsigned chip, std::string_view block, blocks::Step kind) const;
  void frame(u8 sender, u64 picoseconds, std::span<const u8> bytes);

  const Endpoint& end(unsigned index) const { return testbed_.end(index, lane_); }
  unsigned port() const { return end(0).port - 1; }
  // Of the port's block.
  std::string own(std::string_view block) const {
    return blocks::port_block_name(testbed_.ports(), port(), block);
  }

  Testbed& testbed_;
  const std::size_t lane_;
  std::array<engine::RecordingSink, kChips> sinks_;
  std::vector<Frame> frames_;
};
}  // namespace hca::testbench
