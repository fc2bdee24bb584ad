// SPDX-License-Identifier: Apache-2.0
// The C functions of libhca_golden. Expected values: the specification's tables, or arithmetic in a
// comment.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "testbench/golden/hca_golden.h"

namespace {
constexpr unsigned kLink = HCA_GOLDEN_ETHERNET;

// A context and its last frame.
struct Golden {
  hca_golden* hca;
  std::array<uint8_t, HCA_GOLDEN_FRAME_BYTES> frame{};
  uint32_t bytes = 0;

  explicit Golden(const char* setup) : hca(hca_golden_open(setup)) {}
  ~Golden() { hca_golden_close(hca); }
  Golden(const Golden&) = delete;
  Golden& operator=(const Golden&) = delete;

  std::string text() const { return hca_golden_text(hca); }
  int act(const char* step) { return hca_golden_do(hca, step); }
  int build(const char* packet) { return hca_golden_build(hca, packet, frame.data(), &bytes); }
  int receive() { return hca_golden_receive(hca, 1, frame.data(), bytes); }
  int sent() { return hca_golden_sent(hca, frame.data(), &bytes); }
  int compare(const char* packet) { return hca_golden_compare(hca, packet, frame.data(), bytes); }
  uint64_t field(const char* name) const {
    uint64_t value = ~uint64_t{0};
    return hca_golden_frame_field(frame.data(), bytes, kLink, name, &value) ? ~uint64_t{0} : value;
  }
  std::string check() const {
    return hca_golden_frame_verdict(hca_golden_frame_check(frame.data(), bytes, kLink));
  }
  uint64_t drops(const char* counter) {
    uint64_t value = 0;
    REQUIRE(hca_golden_drops(hca, 1, counter, &value) == HCA_GOLDEN_OK);
    return value;
  }
};
constexpr const char* kMemory = R"({"regions": {"m": {}}})";
}  // namespace

TEST_CASE("golden: a frame is built, taken apart and judged by itself") {
  Golden g(kMemory);
  REQUIRE(hca_golden_code(g.hca) == HCA_GOLDEN_OK);
  REQUIRE(
      g.build(
          R"({"opcode": "RDMA WRITE Only", "PSN": "0x100", "VA": 4096, "R_Key": 5, "payload": "aabbcc"})") ==
      HCA_GOLDEN_OK);
  CHECK(g.check() == "good");
  CHECK(g.field("BTH.PSN") == 0x100);
  CHECK(g.field("RETH.VA") == 4096);
  CHECK(g.field("RETH.DMALen") == 3);
  CHECK(g.field("BTH.PadCnt") == 1);  // 3 bytes and 1
  // Ethernet 14, IPv4 20, UDP 8, BTH 12, RETH 16, payload and pad 4, ICRC 4.
  CHECK(g.bytes == 78);
  uint32_t icrc = 0;
  REQUIRE(hca_golden_frame_icrc(g.frame.data(), g.bytes, kLink, &icrc) == HCA_GOLDEN_OK);
  for (unsigned i = 0; i < 4; ++i) CHECK(g.frame[74 + i] == uint8_t(icrc >> 8 * i));
  g.frame[77] ^= 1;
  CHECK(g.check() == "bad ICRC (T12-1)");
  uint64_t value = 0;
  CHECK(hca_golden_frame_field(g.frame.data(), g.bytes, kLink, "AETH.MSN", &value) ==
        HCA_GOLDEN_NOTHING);
  CHECK(hca_golden_frame_field(g.frame.data(), g.bytes, kLink, "BTH.Nothing", &value) ==
        HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_frame_check(g.frame.data(), 20, kLink) != 0);
  CHECK(std::string(hca_golden_frame_verdict(99)) == "unknown verdict");
}

TEST_CASE("golden: a request is executed, answered and completed") {
  Golden g(kMemory);
  REQUIRE(g.act(R"({"post_recv": {"wr_id": 7, "sge": [["m", 0, 64]]}})") == HCA_GOLDEN_OK);
  REQUIRE(g.build(R"({"opcode": "SEND Only", "PSN": "0x100", "payload": "616263"})") ==
          HCA_GOLDEN_OK);
  REQUIRE(g.receive() == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"cause":"Good"})");
  REQUIRE(g.sent() == HCA_GOLDEN_OK);
  CHECK(g.compare(R"({"opcode": "Acknowledge", "PSN": "0x100", "MSN": 1})") == HCA_GOLDEN_OK);
  CHECK(g.compare(R"({"opcode": "Acknowledge", "PSN": "0x101", "MSN": 1})") == HCA_GOLDEN_DIFFERS);
  CHECK(g.text() == "BTH.PSN: expected 0x000101 (257), got 0x000100 (256)");
  CHECK(g.sent() == HCA_GOLDEN_NOTHING);
  REQUIRE(hca_golden_completion(g.hca) == HCA_GOLDEN_OK);
  CHECK(g.text() ==
        R"({"qp":17,"receive":true,"wr_id":7,"status":"SUCCESS","opcode":"RECV","byte_len":3})");
  CHECK(hca_golden_completion(g.hca) == HCA_GOLDEN_NOTHING);
  std::array<uint8_t, 4> memory{};
  REQUIRE(hca_golden_memory(g.hca, "m", 0, 3, memory.data()) == HCA_GOLDEN_OK);
  CHECK(memory == std::array<uint8_t, 4>{0x61, 0x62, 0x63, 0});
  uint64_t psn = 0;
  REQUIRE(hca_golden_query(g.hca, "", "RqPSN", &psn) == HCA_GOLDEN_OK);
  CHECK(psn == 0x101);
}

TEST_CASE("golden: of rules with one cause the one that decided is told") {
  Golden g(R"({"regions": {"m": {}}, "qps": {"q": {"RqPSN": "0x101"}}})");
  REQUIRE(g.build(R"({"opcode": "SEND Only", "PSN": "0x100"})") == HCA_GOLDEN_OK);
  REQUIRE(g.receive() == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"cause":"Duplicate","statement":"G3.1"})");  // not G3.3, of READs
}

TEST_CASE("golden: what is wrong with a packet is told") {
  Golden g(kMemory);
  REQUIRE(g.build(R"({"opcode": "SEND Only", "PSN": "0x100", "P_Key": "0x8001"})") ==
          HCA_GOLDEN_OK);
  REQUIRE(g.receive() == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"cause":"BadPkey","statement":"C9-43"})");
  CHECK(g.drops("BadPkey") == 1);
  CHECK(g.drops("BadIcrc") == 0);
  REQUIRE(g.build(R"({"opcode": "SEND Only", "PSN": "0x100", "ICRC": "bad"})") == HCA_GOLDEN_OK);
  REQUIRE(g.receive() == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"dropped":"BadIcrc"})");
  CHECK(g.sent() == HCA_GOLDEN_NOTHING);
  // T10-5: NAK remote access error, 0x62.
  REQUIRE(
      g.build(
          R"({"opcode": "RDMA WRITE Only", "PSN": "0x100", "VA": "m", "R_Key": "m.key + 1", "payload": "00"})") ==
      HCA_GOLDEN_OK);
  REQUIRE(g.receive() == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"cause":"BadRkey","statement":"T10-5/RC"})");
  REQUIRE(g.sent() == HCA_GOLDEN_OK);
  CHECK(g.field("AETH.Syndrome") == 0x62);
  REQUIRE(hca_golden_event(g.hca) == HCA_GOLDEN_OK);
  CHECK(g.text() == R"({"type":"QP_ACCESS_ERR","object":17})");
}

TEST_CASE("golden: the requester sends, repeats after its timeout and completes") {
  Golden g("{}");
  REQUIRE(g.act(R"({"post_send": {"op": "SEND", "wr_id": 3, "inline": "01"}})") == HCA_GOLDEN_OK);
  REQUIRE(g.sent() == HCA_GOLDEN_OK);
  CHECK(g.compare(R"({"opcode": "SEND Only", "PSN": "0x200", "payload": "01"})") == HCA_GOLDEN_OK);
  CHECK(g.sent() == HCA_GOLDEN_NOTHING);
  REQUIRE(g.act(R"({"advance": "10 s"})") == HCA_GOLDEN_OK);
  REQUIRE(g.sent() == HCA_GOLDEN_OK);  // no ACK came
  CHECK(g.field("BTH.PSN") == 0x200);
  Golden h("{}");
  REQUIRE(h.act(R"({"post_send": {"op": "SEND", "wr_id": 3, "inline": "01"}})") == HCA_GOLDEN_OK);
  REQUIRE(h.build(R"({"opcode": "Acknowledge", "PSN": "0x200", "Syndrome": "0x1f", "MSN": 1})") ==
          HCA_GOLDEN_OK);
  REQUIRE(h.receive() == HCA_GOLDEN_OK);
  CHECK(h.text() == "{}");
  REQUIRE(hca_golden_completion(h.hca) == HCA_GOLDEN_OK);
  CHECK(h.text() ==
        R"({"qp":17,"receive":false,"wr_id":3,"status":"SUCCESS","opcode":"SEND","byte_len":1})");
}

TEST_CASE("golden: structures are encoded by their tables") {
  Golden g("{}");
  std::array<uint8_t, HCA_GOLDEN_FRAME_BYTES> to{};
  uint32_t bytes = 0;
  REQUIRE(hca_golden_encode(g.hca, "AETH", R"({"Syndrome": "0x60", "MSN": 3})", to.data(),
                            &bytes) == HCA_GOLDEN_OK);
  REQUIRE(bytes == 4);
  CHECK(std::vector<uint8_t>(to.begin(), to.begin() + 4) ==
        std::vector<uint8_t>{0x60, 0, 0, 3});  // T2: syndrome 8, MSN 24
  REQUIRE(hca_golden_encode(g.hca, "CQE", R"({"QPN": 17})", to.data(), &bytes) == HCA_GOLDEN_OK);
  CHECK(bytes == 32);
  CHECK(hca_golden_encode(g.hca, "AETH", R"({"MSN": "0x1000000"})", to.data(), &bytes) ==
        HCA_GOLDEN_BAD_INPUT);  // 24 bits
  CHECK(hca_golden_encode(g.hca, "XETH", "{}", to.data(), &bytes) == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text().find("no structure 'XETH'; allowed: BTH, ") == 0);
}

TEST_CASE("golden: bad input is refused with its place, and the context goes on") {
  Golden g(kMemory);
  CHECK(g.act("{") == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.act(R"({"post": {}})") == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text().find("has no verb") != std::string::npos);
  CHECK(g.act(R"({"post_send": {"op": "SOND"}})") == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text().find("post_send.op") != std::string::npos);
  CHECK(g.build(R"({"opcode": "SEND Only", "PSN": "0x1000000"})") == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_receive(g.hca, 2, g.frame.data(), 60) == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text() == "port 2; allowed: 1 to 1");
  std::array<uint8_t, 16> to{};
  CHECK(hca_golden_memory(g.hca, "n", 0, 16, to.data()) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_memory(g.hca, "m", ~uint64_t{0}, 16, to.data()) == HCA_GOLDEN_BAD_INPUT);
  uint64_t value = 0;
  CHECK(hca_golden_query(g.hca, "z", "RqPSN", &value) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_drops(g.hca, 1, "Lost", &value) == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.act(R"({"post_recv": {"wr_id": 7, "sge": [["m", 0, 64]]}})") == HCA_GOLDEN_OK);

  for (const char* setup : {"", "[", R"({"qps": {"q": {"colour": 1}}})", R"({"framing": "IB"})",
                            R"({"qps": {"a": {}, "b": {}}, "loop": ["a", "b"]})"}) {
    Golden refused(setup);
    CHECK(hca_golden_code(refused.hca) == HCA_GOLDEN_BAD_INPUT);
    const std::string why = refused.text();
    CHECK(why.find("setup: ") == 0);
    CHECK(refused.act(R"({"advance": "1 us"})") == HCA_GOLDEN_BAD_INPUT);
    CHECK(refused.text() == why);
  }
}

TEST_CASE("golden: what is no frame and what is no field is refused in words") {
  Golden g(kMemory);
  REQUIRE(g.build(R"({"opcode": "SEND Only", "PSN": "0x100"})") == HCA_GOLDEN_OK);
  uint64_t value = 0;
  uint32_t icrc = 0;
  struct Row {
    uint32_t bytes, link;
    const char *name, *text;
  };
  const uint32_t good = g.bytes;
  for (const Row& row : {
           Row{4353, 0, "BTH.PSN", "4353 bytes; allowed: at most 4352"},
           Row{good, 2, "BTH.PSN", "link 2; allowed: 0 (Ethernet), 1 (InfiniBand)"},
           Row{good, 0, "PSN", "'PSN'; allowed: HEADER.FIELD as in BTH.PSN"},
           Row{good, 0, "BHT.PSN",
               "no header 'BHT'; allowed: LRH, GRH, Ethernet, VLAN, IPv4, IPv6, UDP, BTH, RDETH, "
               "DETH, XRCETH, EOETH, FETH, RETH, AtomicETH, AETH, AtomicAckETH, ImmDt, IETH, CNP"},
           Row{good, 0, "IETH.RKey", "IETH has no field 'RKey'; allowed: R_Key"},
           Row{good, 0, "GRH.SGID", "GRH.SGID has 128 bits; allowed: at most 64"},
       }) {
    CHECK(hca_golden_frame_field(g.frame.data(), row.bytes, row.link, row.name, &value) ==
          HCA_GOLDEN_BAD_INPUT);
    CHECK(hca_golden_explain(g.hca, row.bytes, row.link, row.name) == HCA_GOLDEN_BAD_INPUT);
    CHECK(g.text() == row.text);
  }
  CHECK(hca_golden_explain(g.hca, good, 0, "BTH.PSN") == HCA_GOLDEN_OK);
  CHECK(hca_golden_explain(g.hca, good, 0, "") == HCA_GOLDEN_OK);
  CHECK(hca_golden_frame_check(g.frame.data(), 4353, 0) == HCA_GOLDEN_NO_FRAME);
  CHECK(hca_golden_frame_icrc(g.frame.data(), 4353, 0, &icrc) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_receive(g.hca, 1, g.frame.data(), 4353) == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text() == "4353 bytes; allowed: at most 4352");
  CHECK(hca_golden_compare(g.hca, "{}", g.frame.data(), 4353) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_memory(g.hca, "m", 0, 4353, g.frame.data()) == HCA_GOLDEN_BAD_INPUT);
  CHECK(g.text() == "4353 bytes; allowed: at most 4352");
}

TEST_CASE("golden: a null pointer is refused by the name of its argument") {
  Golden g(kMemory);
  uint64_t value = 0;
  uint32_t bytes = 0, icrc = 0;
  uint8_t* const frame = g.frame.data();
  const auto refused = [&](const char* name, int code) {
    CHECK(code == HCA_GOLDEN_BAD_INPUT);
    CHECK(g.text() == std::string(name) + ": a null pointer");
  };
  refused("step", hca_golden_do(g.hca, nullptr));
  refused("name", hca_golden_explain(g.hca, 60, 0, nullptr));
  refused("packet", hca_golden_build(g.hca, nullptr, frame, &bytes));
  refused("frame", hca_golden_build(g.hca, "{}", nullptr, &bytes));
  refused("bytes", hca_golden_build(g.hca, "{}", frame, nullptr));
  refused("packet", hca_golden_compare(g.hca, nullptr, frame, 60));
  refused("frame", hca_golden_compare(g.hca, "{}", nullptr, 60));
  refused("structure", hca_golden_encode(g.hca, nullptr, "{}", frame, &bytes));
  refused("fields", hca_golden_encode(g.hca, "CQE", nullptr, frame, &bytes));
  refused("to", hca_golden_encode(g.hca, "CQE", "{}", nullptr, &bytes));
  refused("bytes", hca_golden_encode(g.hca, "CQE", "{}", frame, nullptr));
  refused("frame", hca_golden_receive(g.hca, 1, nullptr, 60));
  refused("frame", hca_golden_sent(g.hca, nullptr, &bytes));
  refused("bytes", hca_golden_sent(g.hca, frame, nullptr));
  refused("qp", hca_golden_query(g.hca, nullptr, "RqPSN", &value));
  refused("field", hca_golden_query(g.hca, "", nullptr, &value));
  refused("value", hca_golden_query(g.hca, "", "RqPSN", nullptr));
  refused("counter", hca_golden_drops(g.hca, 1, nullptr, &value));
  refused("value", hca_golden_drops(g.hca, 1, "BadPkey", nullptr));
  refused("region", hca_golden_memory(g.hca, nullptr, 0, 1, frame));
  refused("to", hca_golden_memory(g.hca, "m", 0, 1, nullptr));
  CHECK(g.act(R"({"advance": "1 us"})") == HCA_GOLDEN_OK);

  CHECK(hca_golden_frame_check(nullptr, 60, 0) == HCA_GOLDEN_NO_FRAME);
  CHECK(hca_golden_frame_check(nullptr, 0, 0) > 0);  // a frame of no bytes is truncated
  CHECK(hca_golden_frame_field(nullptr, 60, 0, "BTH.PSN", &value) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_frame_field(frame, 60, 0, nullptr, &value) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_frame_field(frame, 60, 0, "BTH.PSN", nullptr) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_frame_icrc(nullptr, 60, 0, &icrc) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_frame_icrc(frame, 60, 0, nullptr) == HCA_GOLDEN_BAD_INPUT);

  CHECK(hca_golden_do(nullptr, "{}") == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_completion(nullptr) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_event(nullptr) == HCA_GOLDEN_BAD_INPUT);
  CHECK(hca_golden_code(nullptr) == HCA_GOLDEN_BAD_INPUT);
  CHECK(std::string(hca_golden_text(nullptr)) == "hca: a null pointer");
  hca_golden_close(nullptr);
  Golden none(nullptr);
  CHECK(none.text() == "setup: a null pointer");
}

TEST_CASE("golden: contexts of several threads know nothing of each other") {
  // Each thread receives as many SENDs as its number says; RqPSN counts them from 0x100 on.
  std::array<uint64_t, 4> psn{};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < psn.size(); ++t)
    threads.emplace_back([t, &psn] {
      Golden g(kMemory);
      for (unsigned i = 0; i < 50 * (t + 1); ++i) {
        g.act(R"({"post_recv": {"wr_id": 1, "sge": [["m", 0, 64]]}})");
        g.build((R"({"opcode": "SEND Only", "payload": "61", "PSN": )" + std::to_string(0x100 + i) +
                 "}")
                    .c_str());
        g.receive();
        while (!hca_golden_completion(g.hca)) continue;
        while (!g.sent()) continue;
      }
      hca_golden_query(g.hca, "q", "RqPSN", &psn[t]);
    });
  for (std::thread& thread : threads) thread.join();
  for (unsigned t = 0; t < psn.size(); ++t) CHECK(psn[t] == 0x100 + 50 * (t + 1));
}
