// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/replay/oddity_case.h"

namespace hca::testbench {
namespace {
std::vector<Case> requester_cases() {
  const auto on = [](nlohmann::json connect = nlohmann::json::object()) {
    return Recording(End::A, std::move(connect));
  };
  const auto write_reth = Recording::reth(kTheirs, kPeerKey, 600);
  const auto read_reth = [](u32 bytes, u32 skip = 0) {
    return Recording::reth(kTheirs + skip, kPeerKey, bytes);
  };
  const auto imm = Recording::reth(0, 0, 0, 7);
  std::vector<Case> all;
  // RNR NAK at the third packet, code 1 (10 us): it goes back to the first, 8 ms later.
  all.push_back({"back to the first packet after an RNR NAK",
                 End::A,
                 on().post_send(1, "RDMA_WRITE_WITH_IMM", 600)
                     .out(0x06, kP, 256, write_reth)
                     .out(0x07, kP + 1, 256)
                     .out(0x09, kP + 2, 88, imm, true)
                     .in_answer(kP + 2, 0x21, 0)
                     .wait(8'000'000)
                     .out(0x06, kP, 256, write_reth)
                     .out(0x07, kP + 1, 256)
                     .out(0x09, kP + 2, 88, imm, true)
                     .in_answer(kP + 2, kNoCredits, 1)
                     .wc("send", 1, "SUCCESS", "RDMA_WRITE", 600),
                 {"frame.recorded only"},
                 "oddity 6",
                 false,
                 set_byte(4, kPsnByte, 1)});
  // Timeout 14 is 67.1 ms; the RNR wait is 10.24 ms.
  all.push_back({"a second copy by the timer after an RNR NAK",
                 End::A,
                 on().post_send(1, "SEND", 20)
                     .out(0x04, kP, 20, {}, true)
                     .in_answer(kP, 0x34, 0)
                     .wait(15'000'000)
                     .out(0x04, kP, 20, {}, true)
                     .wait(50'000'000)
                     .out(0x04, kP, 20, {}, true)
                     .in_answer(kP, kNoCredits, 1)
                     .wc("send", 1, "SUCCESS", "SEND", 20),
                 {"frame.recorded only"},
                 "oddity 6",
                 false,
                 [](Capture& c) { c.frames[3].time_ns -= 30'000'000; }});
  // Room for one message more after the first, and one beyond: the fourth is too many.
  all.push_back({"SENDs beyond the credits",
                 End::A,
                 on().post_send(1, "SEND", 20)
                     .out(0x04, kP, 20, {}, true)
                     .in_answer(kP, 0x01, 1)
                     .wc("send", 1, "SUCCESS", "SEND", 20)
                     .post_send(2, "SEND", 20, at_offset(256, 20))
                     .out(0x04, kP + 1, 20, {}, true)
                     .post_send(3, "SEND", 20, at_offset(512, 20))
                     .out(0x04, kP + 2, 20, {}, true)
                     .post_send(4, "SEND", 20, at_offset(768, 20))
                     .out(0x04, kP + 3, 20, {}, true),
                 {"frame.recorded only"},
                 "oddity 2",
                 true,
                 set_byte(4, kPsnByte, 9)});
  all.push_back({"an ACK completes a READ",
                 End::A,
                 on().post_send(1, "RDMA_READ", 100)
                     .out(0x0c, kP, 0, read_reth(100), true)
                     .in_answer(kP, kNoCredits, 1)
                     .wc("send", 1, "SUCCESS", "RDMA_READ", 100),
                 {"wc.recorded only"},
                 "oddity 20",
                 true,
                 set_byte(1, kSyndrome, 0x62)});
  all.push_back(
      {"an ACK completes an ATOMIC",
       End::A,
       on().post_send(1, "ATOMIC_FETCH_AND_ADD", 8,
                      {{"compare_add", 5}, {"swap", 0}, {"remote_addr", kTheirs}, {"rkey", kKey}})
           .out(0x14, kP, 0, atomic(kTheirs, 5), true)
           .in_answer(kP, kNoCredits, 1)
           .wc("send", 1, "SUCCESS", "FETCH_ADD", 8),
       {"wc.recorded only"},
       "oddity 20",
       true,
       set_byte(1, kSyndrome, 0x62)});
  all.push_back({"READ refused after its first response",
                 End::A,
                 on().post_send(1, "RDMA_READ", 600)
                     .out(0x0c, kP, 0, read_reth(600), true)
                     .in(0x0d, kP, 256, Recording::aeth(kNoCredits, 1), false)
                     .in_answer(kP + 1, 0x62, 1)
                     .wc("send", 1, "SUCCESS", "RDMA_READ", 600)
                     .state("ERR", kP + 3, kQ),
                 {"wc.status"},
                 "oddity 20",
                 false,
                 set_byte(2, kPsnByte, 0)});
  all.push_back({"READ Response Only as part of a longer READ",
                 End::A,
                 on().post_send(1, "RDMA_READ", 600)
                     .out(0x0c, kP, 0, read_reth(600), true)
                     .in(0x10, kP, 256, Recording::aeth(kNoCredits, 1), false)
                     .in(0x0e, kP + 1, 256, {}, false)
                     .in(0x0f, kP + 2, 88, Recording::aeth(kNoCredits, 1), false)
                     .wc("send", 1, "SUCCESS", "RDMA_READ", 600),
                 {"wc.ours only"},
                 "oddity 20",
                 true,
                 set_byte(1, 42, 0x12)});
  all.push_back({"READ Response Last too short",
                 End::A,
                 on().post_send(1, "RDMA_READ", 600)
                     .out(0x0c, kP, 0, read_reth(600), true)
                     .in(0x0d, kP, 256, Recording::aeth(kNoCredits, 1), false)
                     .in(0x0e, kP + 1, 256, {}, false)
                     .in(0x0f, kP + 2, 80, Recording::aeth(kNoCredits, 1), false)
                     .event("timeout_waiting_wc", {}),
                 {"wc.ours only"},
                 "oddity 20",
                 true,
                 set_byte(3, 42, 0x0d)});
  all.push_back({"READ Response Last too long",
                 End::A,
                 on().post_send(1, "RDMA_READ", 300)
                     .out(0x0c, kP, 0, read_reth(300), true)
                     .in(0x0d, kP, 256, Recording::aeth(kNoCredits, 1), false)
                     .in(0x0f, kP + 1, 60, Recording::aeth(kNoCredits, 1), false)
                     .wc("send", 1, "LOC_PROT_ERR"),
                 {"wc.status"},
                 "oddity 20",
                 false,
                 set_status("LOC_QP_OP_ERR")});
  all.push_back({"NAK code 4",
                 End::A,
                 on().post_send(1, "SEND", 20)
                     .out(0x04, kP, 20, {}, true)
                     .in_answer(kP, 0x64, 0)
                     .wc("send", 1, "REM_OP_ERR"),
                 {"wc.status"},
                 "oddity 21",
                 false,
                 set_status("REM_ACCESS_ERR")});
  all.push_back({"a reserved NAK code",
                 End::A,
                 on().post_send(1, "SEND", 20)
                     .out(0x04, kP, 20, {}, true)
                     .in_answer(kP, 0x69, 0)
                     .wc("send", 1, "REM_OP_ERR"),
                 {"wc.recorded only"},
                 "oddity 21",
                 true,
                 set_status("REM_ACCESS_ERR")});
  all.push_back(
      {"a misaligned ATOMIC",
       End::A,
       on().post_send(
               1, "ATOMIC_FETCH_AND_ADD", 8,
               {{"compare_add", 5}, {"swap", 0}, {"remote_addr", kTheirs + 4}, {"rkey", kKey}})
           .post_send(2, "SEND", 20)
           .out(0x04, kP, 20, {}, true)
           .in_answer(kP, kNoCredits, 1)
           .wc("send", 2, "SUCCESS", "SEND", 20),
       {"post.recorded only"},
       "oddity 25",
       false,
       [](Capture& c) { c.events[3].values["remote_addr"] = kTheirs; }});
  // The cycle model completes such a WQE only when something else wakes its requester.
  all.push_back({"SEND from an unknown key",
                 End::A,
                 on().post_send(1, "SEND", 20, {}, 0x9900)
                     .wc("send", 1, "LOC_QP_OP_ERR")
                     .state("ERR", kP, kQ),
                 {"wc.status"},
                 "oddity 8",
                 false,
                 set_status("LOC_LEN_ERR"),
                 "functional"});
  return all;
}

}  // namespace

TEST_CASE("what the recording device does otherwise as a requester replays by its row",
          "[replay][oddities]") {
  for (const Case& c : requester_cases()) check(c);
}
}  // namespace hca::testbench
