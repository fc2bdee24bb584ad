// SPDX-License-Identifier: Apache-2.0
// Addresses where there is no memory: the bus answers with errors, the device goes on.
#include <catch2/catch.hpp>

#include "model/proto/interface/device.h"
#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/malice/bench.h"

namespace hca::testbench::malice {
using namespace proto;

TEST_CASE("a command block where there is no memory stops nothing", "[malice]") {
  for (const ReplayRunner& runner : replay_runners()) {
    Bench bench(runner);
    for (const u64 at : {tlm_::HostMemory::kBytes, tlm_::HostMemory::kBytes - 8, u64{0} - 512}) {
      std::array<u8, 8> bell;
      encode(CommandDoorbell{at}, bell.data());
      bench.ring(BarOffset::CommandDoorbell, bell);
    }
    CHECK(bench.verbs.query_device().ports == 1);
  }
}

TEST_CASE("a region where there is no memory gives nobody's bytes, and stops nothing", "[malice]") {
  constexpr u32 kRegionKey = make_key(0x100, 1);
  constexpr u64 kVa = u64{1} << 40;
  for (const ReplayRunner& runner : replay_runners()) {
    Bench bench(runner);
    const MrAttributes region{
        kVa, 64, tlm_::HostMemory::kBytes, bench.pd_of({})->number, kRegionKey, kAllAccess};
    REQUIRE(bench.command(CommandOpcode::RegisterMr, key_index(kRegionKey), region));
    ExtHeaders ext;
    ext.reth = {kVa, kRegionKey, 16};
    bench.give(bench.frame(0x0a, Bench::kFirstPsn, ext, 16));
    const SgeList sge{kVa, 16, kRegionKey};
    SendWr wr;
    wr.sg_list = {&sge, 1}, wr.send_flags = kSignaled;
    bench.verbs.post_send(bench.qp({}), wr);
    bench.run();
    // What a bus reads that has an error: ones, and nobody's memory.
    const std::vector<Frame> sent = bench.sent();
    CHECK(sent.size() == 2);  // the response of the READ and the SEND
    for (const Frame& frame : sent)
      for (const u8 byte : payload_of(frame)) CHECK(byte == 0xff);
    CHECK(bench.verbs.query_device().ports == 1);
  }
}
}  // namespace hca::testbench::malice
