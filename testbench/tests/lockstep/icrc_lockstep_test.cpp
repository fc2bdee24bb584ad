// SPDX-License-Identifier: Apache-2.0
// The comparison of RTL and model: equal over many cycles, and sharp against each kind of
// difference.
#include <catch2/catch.hpp>
#include <filesystem>

#include "testbench/lockstep/icrc_lockstep.h"

namespace hca::testbench {
namespace {
std::string where(const IcrcLockstepResult& r) {
  return r.divergence ? r.divergence->port + "." + r.divergence->field : "nowhere";
}
}  // namespace

TEST_CASE("RTL and model are equal in every cycle under random packets and stalls",
          "[icrc][lockstep]") {
  struct Row {
    u64 seed, cycles;
    u32 stall_percent, rooms, beat_bytes;
  };
  for (const Row& row :
       {Row{1, 200'000, 20, 8, 64}, Row{2, 60'000, 0, 8, 64}, Row{3, 20'000, 90, 2, 64},
        Row{4, 20'000, 50, 1, 64}, Row{5, 200'000, 20, 8, 32}, Row{6, 40'000, 50, 1, 32}}) {
    IcrcLockstepOptions options;
    options.seed = row.seed, options.cycles = row.cycles, options.twin.beat_bytes = row.beat_bytes;
    options.stall_percent = row.stall_percent, options.rooms = row.rooms;
    const IcrcLockstepResult r = run_icrc_lockstep(options);
    INFO("seed " << row.seed << ": " << (r.divergence ? r.divergence->text() : ""));
    CHECK(r.equal());
    CHECK(r.cycles == row.cycles);
    // The run has seen what it is there for.
    CHECK(r.generated > 100);
    CHECK(r.good > 50);
    CHECK(r.bad > 50);
    CHECK(r.bad_vcrc >= (row.cycles >= 200'000 ? 20u : 0u));
    CHECK(r.bypassed > 50);
    CHECK(r.beats > row.cycles / 20);
    CHECK(r.held_cycles > 100);
    // With one room a packet has to leave before the next one enters.
    CHECK(r.full_rate_starts > (row.rooms == 8 ? 400 : 0));
  }
}

TEST_CASE("one wrong value on one pin in one cycle is found in that cycle", "[icrc][lockstep]") {
  using Kind = PinFault::Kind;
  struct Row {
    PinFault fault;
    std::string_view found_in;
  };
  const auto row = GENERATE(values<Row>({{{Kind::DataBit, 3000, 0}, "packets_out.data[7:0]"},
                                         {{Kind::DataBit, 3000, 100}, "packets_out.data[103:96]"},
                                         {{Kind::DataBit, 3000, 511}, "packets_out.data[511:504]"},
                                         {{Kind::BytesField, 3000}, "packets_out.bytes"},
                                         {{Kind::FirstField, 3000}, "packets_out.first"},
                                         {{Kind::LastField, 3000}, "packets_out.last"},
                                         {{Kind::ModeField, 3000}, "packets_out.mode"},
                                         {{Kind::FramingField, 3000}, "packets_out.framing"},
                                         {{Kind::VlanField, 3000}, "packets_out.vlan"},
                                         {{Kind::IcrcOk, 3000}, "packets_out.icrc_ok"},
                                         {{Kind::VcrcOk, 3000}, "packets_out.vcrc_ok"},
                                         {{Kind::BeatLost, 3000}, "packets_out.valid"},
                                         {{Kind::BeatInvented, 3000}, "packets_out.valid"},
                                         {{Kind::ReadyLost, 3000}, "packets_in.ready"},
                                         {{Kind::ReadyInvented, 3000}, "packets_in.ready"},
                                         {{Kind::StartLost, 3000}, "packets_out.start"}}));
  IcrcLockstepOptions options;
  options.cycles = 10'000;
  options.fault = row.fault;
  const IcrcLockstepResult r = run_icrc_lockstep(options);
  INFO(int(row.fault.kind) << ", found in " << where(r));
  REQUIRE(r.divergence);
  CHECK(where(r).substr(0, row.found_in.size()) == row.found_in);
  CHECK(r.divergence->cycle >= 3000);
  CHECK(r.divergence->cycle == r.fault_at);
  CHECK(r.divergence->cycle == r.cycles);
  CHECK(r.divergence->model != r.divergence->rtl);
}

TEST_CASE("a model with one cycle more of latency or interval is found", "[icrc][lockstep]") {
  IcrcLockstepOptions options;
  SECTION("latency 6: the first beat of the first packet comes too early") {
    options.twin.latency = 6;
    const IcrcLockstepResult r = run_icrc_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == "packets_out.valid");
    CHECK(r.divergence->model == "0");
    CHECK(r.divergence->rtl == "1");
    CHECK(r.packets == 0);
  }
  SECTION("latency 4: it comes too late") {
    options.twin.latency = 4;
    const IcrcLockstepResult r = run_icrc_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == "packets_out.valid");
    CHECK(r.divergence->rtl == "0");
  }
  SECTION("interval 2: the RTL is ready right behind a packet of one beat") {
    options.twin.interval = 2;
    const IcrcLockstepResult r = run_icrc_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == "packets_in.ready");
    CHECK(r.divergence->model == "0");
  }
}

TEST_CASE("a sender that leaves a gap inside a packet is caught by the RTL's assertion",
          "[icrc][lockstep]") {
  IcrcLockstepOptions options;
  options.break_contract = true;
  const IcrcLockstepResult r = run_icrc_lockstep(options);
  CHECK(r.assertion_failed);
  CHECK_FALSE(r.equal());
  CHECK(r.cycles < options.cycles);
}

TEST_CASE("a divergence leaves a report for a person and a waveform", "[icrc][lockstep]") {
  const auto file = std::filesystem::temp_directory_path() / "hca_icrc_lockstep_test.fst";
  std::filesystem::remove(file);
  IcrcLockstepOptions options;
  options.fault = {PinFault::Kind::DataBit, 3000, 9};
  options.waves = file.string();
  const IcrcLockstepResult r = run_icrc_lockstep(options);
  REQUIRE(r.divergence);
  CHECK(r.waves == file.string());
  CHECK(std::filesystem::file_size(file) > 500);
  const std::string text = r.divergence->text();
  for (const char* part : {"cycle 3", "packets_out.data[15:8]", "model 0x", "RTL 0x", "packet ",
                           "beat ", "BTH: OpCode"})
    CHECK(text.find(part) != std::string::npos);
  std::filesystem::remove(file);
}

TEST_CASE("the same seed gives the same run", "[icrc][lockstep]") {
  IcrcLockstepOptions options;
  options.cycles = 20'000;
  const IcrcLockstepResult a = run_icrc_lockstep(options), b = run_icrc_lockstep(options);
  options.seed = 2;
  const IcrcLockstepResult c = run_icrc_lockstep(options);
  CHECK(a.packets == b.packets);
  CHECK(a.beats == b.beats);
  CHECK(a.beats != c.beats);
}
}  // namespace hca::testbench
