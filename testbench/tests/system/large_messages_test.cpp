// SPDX-License-Identifier: Apache-2.0
// The largest message of RC: 2^31 bytes (C9-10, C9-16), in 2^23 packets at the smallest path MTU,
// which is the whole PSN window (T6).
#include <catch2/catch.hpp>

#include "testbench/testbed/fresh_kernel.h"
#include "testbench/testbed/testbed.h"

using namespace hca;
using namespace hca::testbench;

namespace {
constexpr u64 kBytes = u64{1} << 31, kAt = u64{1} << 40;
constexpr u8 kAccess = 0x0f;

// Posts one message and waits for its completion.
class OneMessage : public Program {
 public:
  OneMessage(const Endpoint& end, const SendWr& wr) : end_(end), wr_(wr) {}
  Cycle act(Cycle) override {
    if (!std::exchange(posted_, true))
      return failed_ = end_.verbs->post_send(*end_.qp, wr_) != Error::None, end_.cpu->post_send;
    done_ = end_.verbs->poll_cq(*end_.send_cq, {&wc, 1});
    return 0;
  }
  bool finished() const override { return done_; }
  bool failed() const override { return failed_; }
  Wc wc;

 private:
  Endpoint end_;
  SendWr wr_;
  bool posted_ = false, done_ = false, failed_ = false;
};

void move(proto::WorkOpcode opcode, PathMtu mtu) {
  FreshKernel kernel;
  Scenario scenario = default_scenario();
  scenario.connection.path_mtu = mtu;
  Testbed bed(scenario);
  bed.connect();
  const Mr near = bed.node(0).verbs.reg_mr(kAt, kBytes, kAccess);
  const Mr far = bed.node(1).verbs.reg_mr(kAt, kBytes, kAccess);
  const bool reads = opcode == proto::WorkOpcode::RdmaRead;
  tlm_::HostMemory &from = bed.node(reads).memory, &to = bed.node(!reads).memory;
  // Zeros but for its first and last bytes, and for one in the middle.
  const std::array<std::pair<u64, u8>, 3> marks{
      {{0, 0x11}, {kBytes / 2 + 12345, 0x22}, {kBytes - 1, 0x33}}};
  for (const auto& [at, byte] : marks) from.write(kAt + at, &byte, 1);
  const SgeList sge{kAt, u32(kBytes), near.lkey};
  SendWr wr;
  wr.sg_list = {&sge, 1}, wr.send_flags = kSignaled, wr.opcode = opcode;
  wr.remote_addr = kAt, wr.rkey = far.rkey;
  OneMessage program(bed.end(0), wr);
  bed.node(0).run(&program);
  for (int ms = 0; ms < 500 && !program.finished(); ++ms) sc_core::sc_start(1, sc_core::SC_MS);
  REQUIRE(program.finished());
  CHECK(program.wc.status == proto::WcStatus::Success);
  CHECK(program.wc.byte_len == kBytes);
  for (const auto& [at, byte] : marks) {
    u8 moved = 0;
    to.read(kAt + at, &moved, 1);
    CHECK(moved == byte);
  }
}
}  // namespace

TEST_CASE("2^31 bytes are one message", "[system][C9-10][C9-16][slow]") {
  move(proto::WorkOpcode::RdmaWrite, PathMtu::B4096);
  move(proto::WorkOpcode::RdmaRead, PathMtu::B4096);
}

TEST_CASE("2^31 bytes at MTU 256 fill the PSN window", "[system][T6][G1.4][slow]") {
  move(proto::WorkOpcode::RdmaRead, PathMtu::B256);
}
