// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/replay/oddity_case.h"

namespace hca::testbench {
namespace {
std::vector<Case> responder_cases() {
  const auto on = [](nlohmann::json connect = nlohmann::json::object()) {
    return Recording(End::B, std::move(connect));
  };
  std::vector<Case> all;
  all.push_back({"hop limit of the route",
                 End::B,
                 on({{"hop_limit", 7}})
                     .in(0x0a, kP, 4, Recording::reth(kOurs, kKey, 4))
                     .out_answer(kP, kNoCredits, 1),
                 {"IPv4.TTL"},
                 "oddity 4",
                 false,
                 set_byte(1, 14 + 8, 63)});
  all.push_back({"no flow label",
                 End::B,
                 on({{"ipv6", 1}, {"flow_label", 0x12345}, {"hop_limit", 9}})
                     .in(0x0a, kP, 4, Recording::reth(kOurs, kKey, 4))
                     .out_answer(kP, kNoCredits, 1),
                 {"IPv6.FlowLabel", "IPv6.HopLimit"},
                 "oddity 4",
                 false,
                 set_byte(1, 14 + 3, 1)});
  // 100 bytes of room at offset 512; the device writes what fits before it finds out.
  all.push_back(
      {"SEND longer than its receive",
       End::B,
       on().post_recv(1000, 100, 512)
           .in(0x04, kP, 256)
           .out_answer(kP, 0x63, 0)
           .wc("recv", 1000, "LOC_QP_OP_ERR")
           .state("ERR", kQ, kP)
           .event("mem_final", {{"mr", "ours"}, {"changed", {{512, hex_of_pattern(0, 100)}}}}),
       {"AETH.Syndrome", "wc.status", "memory.Byte"},
       "oddity 7",
       false,
       set_byte(1, kSyndrome, 0x62)});
  all.push_back({"SEND longer than its receive, other status",
                 End::B,
                 on().post_recv(1000, 100, 512)
                     .in(0x04, kP, 256)
                     .out_answer(kP, 0x63, 0)
                     .wc("recv", 1000, "LOC_QP_OP_ERR"),
                 {"wc.status"},
                 "oddity 7",
                 false,
                 set_status("LOC_ACCESS_ERR")});
  all.push_back({"receive buffer of an unknown key",
                 End::B,
                 on().post_recv(1000, 256, 0, 0x9900)
                     .in(0x04, kP, 8)
                     .out_answer(kP, 0x63, 0)
                     .wc("recv", 1000, "LOC_QP_OP_ERR")
                     .state("ERR", kQ, kP),
                 {"wc.status"},
                 "oddity 8",
                 false,
                 set_status("LOC_LEN_ERR")});
  // 700 bytes are PSNs 0, 1, 2 of which 1 and 2 are asked for again.
  all.push_back({"READ resumed in place",
                 End::B,
                 on().in(0x0c, kP, 0, Recording::reth(kOurs, kKey, 700))
                     .out(0x0d, kP, 256, Recording::aeth(kNoCredits, 1))
                     .out(0x0e, kP + 1, 256)
                     .out(0x0f, kP + 2, 188, Recording::aeth(kNoCredits, 1))
                     .in(0x0c, kP + 1, 0, Recording::reth(kOurs + 256, kKey, 444))
                     .out(0x0e, kP + 1, 256)
                     .out(0x0f, kP + 2, 188, Recording::aeth(kNoCredits, 1)),
                 {"BTH.OpCode", "frame.Headers", "IPv4.TotalLength", "UDP.Length"},
                 "oddity 9",
                 false,
                 set_byte(5, 42, 0x0f)});
  all.push_back({"READ resumed at its last packet",
                 End::B,
                 on().in(0x0c, kP, 0, Recording::reth(kOurs, kKey, 300))
                     .out(0x0d, kP, 256, Recording::aeth(kNoCredits, 1))
                     .out(0x0f, kP + 1, 44, Recording::aeth(kNoCredits, 1))
                     .in(0x0c, kP + 1, 0, Recording::reth(kOurs + 256, kKey, 44))
                     .out(0x0f, kP + 1, 44, Recording::aeth(kNoCredits, 1)),
                 {"BTH.OpCode"},
                 "oddity 9",
                 false,
                 set_byte(4, 42, 0x0d)});
  all.push_back({"READ resumed further back is not answered",
                 End::B,
                 on().in(0x0c, kP, 0, Recording::reth(kOurs, kKey, 700))
                     .out(0x0d, kP, 256, Recording::aeth(kNoCredits, 1))
                     .out(0x0e, kP + 1, 256)
                     .out(0x0f, kP + 2, 188, Recording::aeth(kNoCredits, 1))
                     .in(0x0c, kP + 2, 0, Recording::reth(kOurs + 512, kKey, 188))
                     .out(0x0f, kP + 2, 188, Recording::aeth(kNoCredits, 1))
                     .in(0x0c, kP + 1, 0, Recording::reth(kOurs + 256, kKey, 256)),
                 {"frame.ours only"},
                 "oddity 9",
                 false,
                 [](Capture& c) {
                   c.frames.erase(c.frames.begin() + 4, c.frames.begin() + 6);
                   c.events.pop_back();
                 }});
  all.push_back({"a duplicate before anything came",
                 End::B,
                 on().in(0x04, kP - 5, 8).out_answer(0xffffff, kNoCredits, 0),
                 {"BTH.PSN"},
                 "oddity 11",
                 false,
                 set_byte(1, kPsnByte, 0xfe)});
  all.push_back({"a duplicate after a READ",
                 End::B,
                 on().in(0x0a, kP, 4, Recording::reth(kOurs, kKey, 4))
                     .out_answer(kP, kNoCredits, 1)
                     .in(0x0c, kP + 1, 0, Recording::reth(kOurs + 256, kKey, 4))
                     .out(0x10, kP + 1, 4, Recording::aeth(kNoCredits, 2))
                     .in(0x0a, kP, 4, Recording::reth(kOurs, kKey, 4))
                     .out_answer(kP, kNoCredits, 2),
                 {"BTH.PSN"},
                 "oddity 11",
                 false,
                 set_byte(5, kPsnByte, 0xff)});
  all.push_back(
      {"SEND First of 100 bytes",
       End::B,
       on().post_recv(1000, 2048)
           .in(0x00, kP, 100)
           .out_answer(kP, kNoCredits, 0)
           .in(0x02, kP + 1, 8)
           .out_answer(kP + 1, kNoCredits, 1)
           .wc("recv", 1000, "SUCCESS", "RECV", 108),
       {"frame.ours only"},
       "oddity 12",
       true,
       [](Capture& c) { c.frames[0].bytes = Recording(End::B).in(0x00, kP, 256).last_frame(); }});
  // A window of 256 bytes from 512 on; 16 bytes at 760 reach beyond it.
  all.push_back({"WRITE beyond its window",
                 End::B,
                 on().event("alloc_mw", {{"rkey", 0x800}})
                     .event("post_send", {{"qpn", Recording::kQpn},
                                          {"wr_id", 1},
                                          {"op", "BIND_MW"},
                                          {"signaled", 1},
                                          {"solicited", 0},
                                          {"fence", 0},
                                          {"inline", 0},
                                          {"sge", nlohmann::json::array()},
                                          {"mw_rkey_new", 0x801},
                                          {"bind_addr", kOurs + 512},
                                          {"bind_len", 256},
                                          {"bind_access", "RW RR"},
                                          {"mr_lkey", kKey}})
                     .wc("send", 1, "SUCCESS", "BIND_MW", 0)
                     .in(0x0a, kP, 16, Recording::reth(kOurs + 512, 0x801, 16))
                     .out_answer(kP, kNoCredits, 1)
                     .in(0x0a, kP + 1, 16, Recording::reth(kOurs + 760, 0x801, 16))
                     .out_answer(kP + 1, kNoCredits, 2),
                 {"frame.ours only"},
                 "oddity 18",
                 true,
                 [](Capture& c) {  // beyond the region, too
                   c.frames[2].bytes =
                       Recording(End::B)
                           .in(0x0a, kP + 1, 16, Recording::reth(kOurs + 16380, 0x801, 16))
                           .last_frame();
                 }});
  all.push_back({"SEND Last of no byte, not acknowledged",
                 End::B,
                 on().post_recv(1000, 2048)
                     .in(0x00, kP, 256, {}, false)
                     .in(0x02, kP + 1, 0, {}, false)
                     .wc("recv", 1000, "SUCCESS", "RECV", 256),
                 {"frame.ours only"},
                 "oddity 12",
                 true,
                 [](Capture& c) {
                   c.frames.pop_back(), c.events.pop_back(), c.events.pop_back();
                   c.frames.push_back(c.frames[0]);
                   c.frames.back().time_ns += 1;
                 }});
  {
    // Seven bytes with pad count 0: the frame of eight bytes is cut by one.
    Recording r = on().post_recv(1000, 2048).in(0x04, kP, 8);
    std::vector<u8>& f = r.last_frame();
    f.erase(f.end() - 5);
    f[14 + 3] -= 1, f[34 + 5] -= 1;  // lengths of IPv4 and UDP
    Recording::make_good(f);
    r.out_answer(kP, kNoCredits, 1).wc("recv", 1000, "SUCCESS", "RECV", 7);
    all.push_back({"a packet that is not whole words",
                   End::B,
                   r,
                   {"frame.recorded only"},
                   "oddity 13",
                   true,
                   set_byte(1, kMsnByte, 2)});
  }
  {
    Recording r = on().in(0x04, kP, 8);
    r.last_frame()[42] = 0x15;  // RESYNC is of RD alone
    Recording::make_good(r.last_frame());
    r.in(0x0a, kP + 1, 4, Recording::reth(kOurs, kKey, 4)).out_answer(kP, 0x60, 0);
    all.push_back({"a reserved opcode of RC",
                   End::B,
                   r,
                   {"frame.ours only"},
                   "oddity 16",
                   true,
                   set_byte(0, 42, 0x04)});
  }
  {
    Recording r = on().in(0x0a, kP, 4, Recording::reth(kOurs, kKey, 4));
    r.last_frame()[14 + 1] |= 3;  // ECN: congestion experienced
    Recording::make_good(r.last_frame());
    r.out_answer(kP, kNoCredits, 1);
    all.push_back({"a packet that met congestion",
                   End::B,
                   r,
                   {"frame.ours only"},
                   "oddity 4",
                   false,
                   set_byte(1, kMsnByte, 2),
                   "cycle"});
  }
  all.push_back({"READ of more than 2^31 bytes",
                 End::B,
                 on().in(0x0c, kP, 0, Recording::reth(kOurs, kKey, 0x80000001))
                     .out_answer(kP, 0x62, 0)
                     .state("ERR", kQ, kP),
                 {"AETH.Syndrome"},
                 "oddity 17",
                 false,
                 set_byte(0, 54 + 12, 0)});
  all.push_back({"SEND with Invalidate of an unknown key",
                 End::B,
                 on().post_recv(1000, 256)
                     .in(0x17, kP, 8, ieth(0x5500))
                     .out_answer(kP, kNoCredits, 0)
                     .wc("recv", 1000, "REM_INV_REQ_ERR")
                     .state("ERR", kQ, kP + 1),
                 {"frame.recorded only"},
                 "oddity 19",
                 false,
                 set_byte(1, kMsnByte, 2)});
  all.push_back({"WRITE with Immediate to an unknown key",
                 End::B,
                 on().post_recv(1000, 16)
                     .in(0x0b, kP, 4, Recording::reth(kOurs, 0x5500, 4, 9))
                     .out_answer(kP, 0x62, 0)
                     .wc("recv", 1000, "REM_ACCESS_ERR"),
                 {"wc.status"},
                 "T11",
                 false,
                 set_status("LOC_PROT_ERR")});
  all.push_back({"WRITE with Immediate of a wrong length",
                 End::B,
                 on().post_recv(1000, 16)
                     .in(0x0b, kP, 4, Recording::reth(kOurs, kKey, 5, 9))
                     .out_answer(kP, 0x61, 0)
                     .wc("recv", 1000, "REM_INV_REQ_ERR"),
                 {"wc.status"},
                 "T11",
                 false,
                 set_status("LOC_PROT_ERR")});
  return all;
}

}  // namespace

TEST_CASE("what the recording device does otherwise as a responder replays by its row",
          "[replay][oddities]") {
  for (const Case& c : responder_cases()) check(c);
}
}  // namespace hca::testbench
