// SPDX-License-Identifier: Apache-2.0
#include "tlm/wire/wire.h"

#include <catch2/catch.hpp>
#include <memory>

#include "model/proto/wire/packet.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::tlm_ {
namespace {
using proto::LinkLayer;
using sc_core::SC_NS;
using sc_core::SC_PS;
using sc_core::sc_time;

std::vector<u8> frame_of(u32 qpn, u32 psn, proto::Framing framing = proto::Framing::RoceV2Ip4) {
  proto::AddressVector av;
  av.framing = framing;
  av.source_gid = proto::gid_of_ipv4(0x0a000001),
  av.destination_gid = proto::gid_of_ipv4(0x0a000002);
  const proto::Path path = proto::make_path(av);
  const proto::OpcodeRow& row = *proto::opcode_row(4);  // RC SEND Only
  proto::Bth bth{};
  bth.opcode = row.code, bth.dest_qp = qpn, bth.psn = psn, bth.pkey = 0xffff;
  constexpr u32 payload = 32;
  std::vector<u8> frame(proto::frame_bytes(path, row, payload));
  proto::write_headers(path, row, bth, {}, payload, frame.data());
  proto::finish_frame(frame.data(), proto::shape_of(path, row, payload));
  return frame;
}

struct Port : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Port> out{"out"};
  tlm_utils::simple_target_socket<Port> in{"in"};
  std::vector<std::pair<sc_time, std::vector<u8>>> received;
  std::vector<tlm::tlm_generic_payload*> objects;
  explicit Port(sc_core::sc_module_name name) : sc_module(name) {
    in.register_b_transport(this, &Port::take);
  }
  void take(tlm::tlm_generic_payload& payload, sc_time& delay) {
    const u8* data = payload.get_data_ptr();
    received.push_back(
        {sc_core::sc_time_stamp() + delay, {data, data + payload.get_data_length()}});
    objects.push_back(&payload);
  }
  tlm::tlm_generic_payload* send(std::vector<u8> frame, sc_time at) {
    sent.push_back(std::make_unique<tlm::tlm_generic_payload>());
    frames.push_back(std::move(frame));
    tlm::tlm_generic_payload& payload = *sent.back();
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(frames.back().data());
    payload.set_data_length(unsigned(frames.back().size()));
    out->b_transport(payload, at);
    return &payload;
  }
  std::vector<std::unique_ptr<tlm::tlm_generic_payload>> sent;
  std::vector<std::vector<u8>> frames;
};

struct Cable {
  Port a{"a"}, b{"b"};
  Wire wire;
  explicit Cable(std::vector<FaultRule> rules = {}, u64 seed = 1)
      : Cable(config(), std::move(rules), seed) {}
  explicit Cable(const WireConfig& config, std::vector<FaultRule> rules = {}, u64 seed = 1)
      : wire("wire", config, FaultScript(std::move(rules), LinkLayer::Ethernet, seed), seed) {
    a.out.bind(wire.from_a), b.out.bind(wire.from_b);
    wire.to_a.bind(a.in), wire.to_b.bind(b.in);
    sc_core::sc_spawn([] {});  // something for the kernel to start
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static WireConfig config() {
    WireConfig config;
    config.latency = 10'000;
    return config;
  }
  std::vector<u32> psns() const {
    std::vector<u32> all;
    for (const auto& [at, frame] : b.received) {
      proto::ParsedPacket packet;
      CHECK(proto::parse(frame, LinkLayer::Ethernet, packet) == proto::PacketVerdict::Good);
      all.push_back(packet.bth.psn);
    }
    return all;
  }
};
FaultRule on_psn(FaultAction action, u32 psn, u64 occurrence = 1) {
  FaultRule rule;
  rule.action = action, rule.psn = psn, rule.occurrence = occurrence;
  return rule;
}
}  // namespace

TEST_CASE_METHOD(testbench::FreshKernel, "what is sent as the simulation starts arrives",
                 "[wire]") {
  struct Eager : Port {
    using Port::Port;
    void start_of_simulation() override { send(frame_of(1, 7), sc_time(3, SC_NS)); }
  };
  // Made before the wire, whose start_of_simulation() may be called later.
  Eager a{"a"};
  Port b{"b"};
  Wire wire("wire", Cable::config());
  a.out.bind(wire.from_a), b.out.bind(wire.from_b);
  wire.to_a.bind(a.in), wire.to_b.bind(b.in);
  sc_core::sc_spawn([] {});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  REQUIRE(b.received.size() == 1);
  CHECK(b.received[0] == std::pair(sc_time(13, SC_NS), frame_of(1, 7)));
}

TEST_CASE_METHOD(testbench::FreshKernel, "a frame arrives as the same payload after the latency",
                 "[wire]") {
  Cable cable;
  int taps = 0;
  const unsigned tap =
      cable.wire.add_tap([&](u8 sender, sc_time at, const proto::FrameView& frame) {
        CHECK(sender == 0);
        CHECK(at == sc_time(13, SC_NS));
        CHECK(frame.size() == frame_of(1, 2).size());
        ++taps;
      });
  auto* payload = cable.a.send(frame_of(1, 2), sc_time(3, SC_NS));
  REQUIRE(cable.b.received.size() == 1);
  CHECK(cable.b.received[0].first == sc_time(13, SC_NS));
  CHECK(cable.b.objects[0] == payload);
  CHECK(payload->is_response_ok());
  CHECK(taps == 1);
  CHECK(cable.a.received.empty());
  cable.wire.remove_tap(tap);
  cable.b.send(frame_of(1, 2), sc_time(4, SC_NS));
  CHECK(cable.a.received.at(0).first == sc_time(14, SC_NS));
}

TEST_CASE_METHOD(testbench::FreshKernel, "what enters a cable is told, lost or not", "[wire]") {
  Cable cable({on_psn(FaultAction::Drop, 2)});
  std::vector<sc_time> entered, left;
  cable.wire.add_entry_tap([&](u8, sc_time at, const proto::FrameView&) { entered.push_back(at); });
  cable.wire.add_tap([&](u8, sc_time at, const proto::FrameView&) { left.push_back(at); });
  cable.a.send(frame_of(1, 2), sc_time(3, SC_NS));
  cable.a.send(frame_of(1, 3), sc_time(4, SC_NS));
  CHECK(entered == std::vector{sc_time(3, SC_NS), sc_time(4, SC_NS)});
  CHECK(left == std::vector{sc_time(14, SC_NS)});
}

TEST_CASE_METHOD(testbench::FreshKernel, "a cable takes its length, and FEC its latency",
                 "[wire]") {
  WireConfig config = Cable::config();
  config.metres = 30, config.metre_latency = 4'900;
  config.fec_latency = 120'000;  // of none
  CHECK(config.one_way() == 10'000 + 147'000);
  config.fec = true;
  CHECK(config.one_way() == 277'000);
  Cable cable(config);
  cable.a.send(frame_of(1, 2), sc_time(3, SC_NS));
  CHECK(cable.b.received.at(0).first == sc_time(280, SC_NS));
}

TEST_CASE_METHOD(testbench::FreshKernel, "a frame with a bit error is not seen any more",
                 "[wire][bit errors]") {
  // A frame of 14 + 20 + 8 + 12 + 32 + 4 bytes and an FCS of 4 has 752 bits: of 20000 frames with
  // an error in 1000 bits 15040 are hit, with a standard deviation of sqrt(20000 * 0.752 * 0.248)
  // = 61. Without the FCS it were 14400.
  REQUIRE(frame_of(1, 2).size() == 90);
  WireConfig config = Cable::config();
  config.bit_errors = 3;
  Cable cable(config);
  constexpr u32 kFrames = 20'000;
  for (u32 i = 0; i < kFrames; ++i) cable.a.send(frame_of(1, i), sc_core::SC_ZERO_TIME);
  CHECK(cable.wire.damaged(0) > 15040 - 250);
  CHECK(cable.wire.damaged(0) < 15040 + 250);
  CHECK(cable.wire.damaged(1) == 0);
  CHECK(cable.b.received.size() == kFrames - cable.wire.damaged(0));
  CHECK(cable.wire.frames(0) == kFrames);
}

TEST_CASE_METHOD(testbench::FreshKernel,
                 "all frames with an error in each bit are hit, none behind FEC",
                 "[wire][bit errors]") {
  WireConfig config = Cable::config();
  config.bit_errors = 2;  // 752 of 100
  const bool fec = GENERATE(false, true);
  config.fec = fec;
  Cable cable(config);
  for (u32 i = 0; i < 100; ++i) cable.a.send(frame_of(1, i), sc_core::SC_ZERO_TIME);
  CHECK(cable.b.received.size() == (fec ? 100 : 0));
}

TEST_CASE_METHOD(testbench::FreshKernel,
                 "a cable that breaks loses what enters it, in both directions, until it is mended",
                 "[wire]") {
  WireConfig config = Cable::config();
  config.down_from = 20'000, config.down_for = 10'000;
  Cable cable(config);
  const std::array<u32, 4> at{19, 20, 29, 30};  // ns
  for (const u32 ns : at) {
    cable.a.send(frame_of(1, ns), sc_time(ns, SC_NS));
    cable.b.send(frame_of(2, ns), sc_time(ns, SC_NS));
  }
  CHECK(cable.psns() == std::vector<u32>{19, 30});
  CHECK(cable.a.received.size() == 2);
  CHECK(cable.wire.lost(0) == 2);
  CHECK(cable.wire.lost(1) == 2);
  CHECK(cable.wire.frames(0) == 4);
}

TEST_CASE_METHOD(testbench::FreshKernel, "a cable breaks as often as it is told", "[wire]") {
  WireConfig config = Cable::config();
  config.down_from = 20'000, config.down_for = 10'000;
  config.down_times = 3, config.down_every = 15'000;  // 20, 35 and 50 ns, 10 ns each
  Cable cable(config);
  for (const u32 ns : {0u, 19u, 20u, 29u, 30u, 34u, 35u, 44u, 45u, 49u, 50u, 59u, 60u, 65u, 70u})
    cable.a.send(frame_of(1, ns), sc_time(ns, SC_NS));
  CHECK(cable.psns() == std::vector<u32>{0, 19, 30, 34, 45, 49, 60, 65, 70});
}

TEST_CASE_METHOD(testbench::FreshKernel, "the n-th frame of a PSN is dropped, no other", "[wire]") {
  Cable cable({on_psn(FaultAction::Drop, 7, 2)});
  for (const u32 psn : {7, 8, 7, 7}) cable.a.send(frame_of(1, psn), sc_core::SC_ZERO_TIME);
  CHECK(cable.psns() == std::vector<u32>{7, 8, 7});
  REQUIRE(cable.wire.faults().records().size() == 1);
  CHECK(to_string(cable.wire.faults().records()[0]) ==
        "0.000 us: drop from end 0, DestQP 0x1, PSN 0x7, occurrence 2");
  CHECK(cable.wire.frames(0) == 4);
}

TEST_CASE_METHOD(testbench::FreshKernel, "a rule that does nothing lets the frame pass", "[wire]") {
  Cable cable({on_psn(FaultAction::None, 7), on_psn(FaultAction::Reorder, 6)});
  for (const u32 psn : {6, 7, 8}) cable.a.send(frame_of(1, psn), sc_core::SC_ZERO_TIME);
  CHECK(cable.psns() == std::vector<u32>{7, 6, 8});
}

TEST_CASE_METHOD(testbench::FreshKernel, "a reordered frame that no other follows can be released",
                 "[wire]") {
  Cable cable({on_psn(FaultAction::Reorder, 8)});
  for (const u32 psn : {7, 8}) cable.a.send(frame_of(1, psn), sc_core::SC_ZERO_TIME);
  CHECK(cable.psns() == std::vector<u32>{7});
  CHECK(cable.wire.release_held(sc_time(1, SC_NS)));
  CHECK(cable.psns() == std::vector<u32>{7, 8});
  CHECK_FALSE(cable.wire.release_held(sc_time(1, SC_NS)));
}

TEST_CASE_METHOD(testbench::FreshKernel, "a rule is for one direction and one queue pair",
                 "[wire]") {
  FaultRule rule = on_psn(FaultAction::Drop, 7);
  rule.direction = 1, rule.qpn = 5;
  Cable cable({rule});
  cable.a.send(frame_of(5, 7), sc_core::SC_ZERO_TIME);
  cable.b.send(frame_of(6, 7), sc_core::SC_ZERO_TIME);
  CHECK(cable.b.received.size() == 1);
  CHECK(cable.a.received.size() == 1);
  cable.b.send(frame_of(5, 7), sc_core::SC_ZERO_TIME);
  CHECK(cable.a.received.size() == 1);
}

TEST_CASE_METHOD(testbench::FreshKernel, "a duplicate follows its frame and moves what is behind",
                 "[wire]") {
  Cable cable({on_psn(FaultAction::Duplicate, 1)});
  const std::vector<u8> frame = frame_of(1, 1);  // 14 + 20 + 8 + 12 + 32 + 4 = 90 bytes
  REQUIRE(frame.size() == 90);
  cable.a.send(frame, sc_core::SC_ZERO_TIME);
  cable.a.send(frame_of(1, 2), sc_time(10, SC_NS));
  cable.a.send(frame_of(1, 3), sc_time(100, SC_NS));
  CHECK(cable.psns() == std::vector<u32>{1, 1, 2, 3});
  // (90 + 24) * 8 bits at 100 Gb/s: 9.12 ns
  CHECK(cable.b.received[1].first == sc_time(19'120, SC_PS));
  CHECK(cable.b.received[2].first == sc_time(28'240, SC_PS));
  CHECK(cable.b.received[3].first == sc_time(110, SC_NS));
  CHECK(cable.b.received[0].second == cable.b.received[1].second);
}

TEST_CASE_METHOD(testbench::FreshKernel, "a reordered frame follows the next one", "[wire]") {
  Cable cable({on_psn(FaultAction::Reorder, 1)});
  for (const u32 psn : {1, 2, 3}) cable.a.send(frame_of(1, psn), sc_time(psn * 50.0, SC_NS));
  CHECK(cable.psns() == std::vector<u32>{2, 1, 3});
  CHECK(cable.b.received[1].first == sc_time(119'120, SC_PS));
}

TEST_CASE_METHOD(testbench::FreshKernel, "a delayed frame comes later by its delay", "[wire]") {
  FaultRule rule = on_psn(FaultAction::Delay, 1);
  rule.delay = 2'000'000;
  Cable cable({rule});
  cable.a.send(frame_of(1, 1), sc_core::SC_ZERO_TIME);
  CHECK(cable.b.received.at(0).first == sc_time(2010, SC_NS));
}

TEST_CASE_METHOD(testbench::FreshKernel, "a corrupt frame differs in one bit that its ICRC finds",
                 "[wire]") {
  FaultRule rule;
  rule.action = FaultAction::Corrupt, rule.occurrence = 0, rule.per_million = 1'000'000;
  Cable cable({rule}, GENERATE(1, 2, 3, 4, 5));
  const std::vector<u8> good = frame_of(1, 1);
  for (int i = 0; i < 200; ++i) cable.a.send(good, sc_core::SC_ZERO_TIME);
  CHECK(cable.a.frames[0] == good);  // the sender's bytes stay
  for (const auto& [at, frame] : cable.b.received) {
    int bits = 0;
    for (std::size_t i = 0; i < good.size(); ++i) bits += std::popcount(u8(frame[i] ^ good[i]));
    CHECK(bits == 1);
    proto::ParsedPacket packet;
    proto::parse(frame, LinkLayer::Ethernet, packet);
    CHECK_FALSE(proto::icrc_good(frame, packet));
  }
}

TEST_CASE_METHOD(testbench::FreshKernel, "congestion marking keeps checksum and ICRC good",
                 "[wire]") {
  Cable cable({on_psn(FaultAction::MarkEcn, 1)});
  cable.a.send(frame_of(1, 1), sc_core::SC_ZERO_TIME);
  REQUIRE(cable.psns() == std::vector<u32>{1});  // parsed: the IPv4 checksum holds
  const std::vector<u8>& frame = cable.b.received[0].second;
  CHECK((frame[15] & 3) == 3);
  proto::ParsedPacket packet;
  proto::parse(frame, LinkLayer::Ethernet, packet);
  CHECK(proto::icrc_good(frame, packet));
}

TEST_CASE_METHOD(testbench::FreshKernel, "random faults repeat with their seed", "[wire]") {
  const auto run = [](u64 seed) {
    testbench::FreshKernel kernel;
    FaultRule rule;
    rule.occurrence = 0, rule.per_million = 100'000;
    Cable cable({rule}, seed);
    for (u32 psn = 0; psn < 2000; ++psn) cable.a.send(frame_of(1, psn), sc_core::SC_ZERO_TIME);
    return cable.psns();
  };
  const std::vector<u32> once = run(3);
  CHECK(once == run(3));
  CHECK(once != run(4));
  CHECK(once.size() == Approx(1800).margin(60));  // 4.5 sigma
}
}  // namespace hca::tlm_
