// SPDX-License-Identifier: Apache-2.0
// The comparison of RTL and model of each block: equal over many cycles, and sharp against each
// kind of difference.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "testbench/lockstep/completion_lockstep.h"
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/packetizer_lockstep.h"
#include "testbench/lockstep/requester_psn_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"

namespace hca::testbench {
namespace {
template <class Pair>
std::string where(const LockstepResult<Pair>& r) {
  return r.divergence ? r.divergence->where() : "nowhere";
}

// What a run of so many cycles must have seen.
void check_counts(const IcrcCounts& c, engine::Cycle cycles) {
  CHECK(c.generated > 100);
  CHECK(c.good > 50);
  CHECK(c.bad > 50);
  CHECK(c.bad_vcrc >= (cycles >= 200'000 ? 20u : 0u));
  CHECK(c.bypassed > 50);
}

void check_counts(const PacketizerCounts& c, engine::Cycle cycles) {
  CHECK(c.empty > 50);
  CHECK(c.padded > 50);
  CHECK(c.payload_bytes > cycles);
}

void check_counts(const RxParserCounts& c, engine::Cycle) {
  CHECK(c.good > 100);
  CHECK(c.reserved > 0);
  CHECK(c.bad_crc > 20);
  CHECK(c.bad > 50);
  CHECK(c.late > 5);
}

void check_counts(const ResponderCheckCounts& c, engine::Cycle) {
  CHECK(c.executed > 100);
  CHECK(c.answered > 5);
  CHECK(c.refused > 20);
  CHECK(c.dropped > 50);
  CHECK(c.followed > 100);
}

void check_counts(const RequesterPsnCounts& c, engine::Cycle) {
  CHECK(c.taken > 50);
  CHECK(c.waiting > 20);
  CHECK(c.sent > c.repeated);
  CHECK(c.repeated > 20);
  CHECK(c.acknowledged > 50);
  CHECK(c.returned > 50);
  CHECK(c.ghosts > 50);
  CHECK(c.followed > 100);
}

void check_counts(const CompletionCounts& c, engine::Cycle) {
  CHECK(c.written > 100);
  CHECK(c.first_lost > 50);
  CHECK(c.lost > 50);
  CHECK(c.doorbells > 100);
  CHECK(c.without_queue > 20);
  CHECK(c.followed > 100);
}

// Side band to turn a bit of.
template <class Pair>
inline const std::vector<std::string_view> kFields;
template <>
inline const std::vector<std::string_view> kFields<IcrcLockstep>{
    "bytes", "first", "last", "mode", "framing", "vlan", "icrc_ok", "vcrc_ok"};
template <>
inline const std::vector<std::string_view> kFields<PacketizerLockstep>{"bytes", "first",   "last",
                                                                       "mode",  "framing", "vlan"};
template <>
inline const std::vector<std::string_view> kFields<RxParserLockstep>{"bytes", "first", "last",
                                                                     "verdict", "payload_bytes"};
template <>
inline const std::vector<std::string_view> kFields<ResponderCheckLockstep>{
    "first", "last", "qpn", "action", "cause", "syndrome", "ack_psn"};
template <>
inline const std::vector<std::string_view> kFields<RequesterPsnLockstep>{
    "first", "last", "qpn", "psn", "count", "result", "repeated", "progress"};
template <>
inline const std::vector<std::string_view> kFields<CompletionLockstep>{
    "first", "last", "cqn", "op", "result", "solicited", "address"};

// What a report tells of a packet.
template <class Pair>
constexpr const char* kTold = "BTH: OpCode";
template <>
constexpr const char* kTold<RequesterPsnLockstep> = "unacked_psn 0x";
template <>
constexpr const char* kTold<CompletionLockstep> = "producer 0x";

// Where a model that starts packets less often differs first: a unit with room of its own takes
// them all the same.
template <class Pair>
constexpr std::string_view kIntervalSeen =
    Pair::Unit::kHasRoom ? "packets_out.start" : "packets_in.ready";
}  // namespace

TEMPLATE_TEST_CASE("RTL and model are equal in every cycle under random packets and stalls",
                   "[lockstep]", IcrcLockstep, PacketizerLockstep, RxParserLockstep,
                   ResponderCheckLockstep, RequesterPsnLockstep, CompletionLockstep) {
  struct Row {
    u64 seed, cycles;
    u32 stall_percent, rooms, beat_bytes;
  };
  for (const Row& row :
       {Row{1, 200'000, 20, 8, 64}, Row{2, 60'000, 0, 8, 64}, Row{3, 40'000, 90, 2, 64},
        Row{4, 20'000, 50, 1, 64}, Row{5, 200'000, 20, 8, 32}, Row{6, 40'000, 50, 1, 32}}) {
    LockstepOptions<TestType> options;
    options.seed = row.seed, options.cycles = row.cycles, options.twin.beat_bytes = row.beat_bytes;
    options.stall_percent = row.stall_percent, options.rooms = row.rooms;
    const auto r = run_lockstep(options);
    INFO("seed " << row.seed << ": " << (r.divergence ? r.divergence->text() : ""));
    CHECK(r.equal());
    CHECK(r.cycles == row.cycles);
    // The run has seen what it is there for.
    check_counts(r.counts, row.cycles);
    CHECK(r.beats > row.cycles / 25);
    CHECK(r.held_cycles >= (row.stall_percent ? 100u : 0u));
    // With one room a packet has to leave before the next one enters.
    CHECK(r.full_rate_starts > (row.rooms == 8 ? 400 : 0));
  }
}

TEMPLATE_TEST_CASE("one wrong value on one pin in one cycle is found in that cycle", "[lockstep]",
                   IcrcLockstep, PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  using Kind = PinFault::Kind;
  struct Row {
    PinFault fault;
    std::string found_in;
  };
  std::vector<Row> rows{{{Kind::DataBit, 3000, 0}, "packets_out.data[7:0]"},
                        {{Kind::DataBit, 3000, 100}, "packets_out.data[103:96]"},
                        {{Kind::DataBit, 3000, 511}, "packets_out.data[511:504]"},
                        {{Kind::BeatLost, 3000}, "packets_out.valid"},
                        {{Kind::BeatInvented, 3000}, "packets_out.valid"},
                        {{Kind::ReadyLost, 3000}, "packets_in.ready"},
                        {{Kind::ReadyInvented, 3000}, "packets_in.ready"},
                        {{Kind::StartLost, 3000}, "packets_out.start"}};
  for (const std::string_view field : kFields<TestType>)
    rows.push_back({{Kind::Field, 3000, 0, field}, fmt::format("packets_out.{}", field)});
  for (const Row& row : rows) {
    LockstepOptions<TestType> options;
    options.cycles = 30'000;  // in which it can show
    options.fault = row.fault;
    const auto r = run_lockstep(options);
    INFO(row.found_in << ", found in " << where(r));
    REQUIRE(r.divergence);
    CHECK(where(r).substr(0, row.found_in.size()) == row.found_in);
    CHECK(r.divergence->cycle >= 3000);
    CHECK(r.divergence->cycle == r.fault_at);
    CHECK(r.divergence->cycle == r.cycles);
    CHECK(r.divergence->model != r.divergence->rtl);
  }
}

TEMPLATE_TEST_CASE("a model with one cycle more of latency or interval is found", "[lockstep]",
                   IcrcLockstep, PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  LockstepOptions<TestType> options;
  SECTION("one more: the first beat of the first packet comes too early") {
    ++options.twin.latency;
    const auto r = run_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == "packets_out.valid");
    CHECK(r.divergence->model == "0");
    CHECK(r.divergence->rtl == "1");
    CHECK(r.packets == 0);
  }
  SECTION("one less: it comes too late") {
    --options.twin.latency;
    const auto r = run_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == "packets_out.valid");
    CHECK(r.divergence->rtl == "0");
  }
  SECTION("interval 2: the RTL is ready right behind a packet of one beat") {
    options.twin.interval = 2;
    const auto r = run_lockstep(options);
    REQUIRE(r.divergence);
    CHECK(where(r) == kIntervalSeen<TestType>);
    CHECK(r.divergence->model == "0");
  }
}

TEMPLATE_TEST_CASE(
    "a sender that leaves a gap, or starts without a grant, is caught by the RTL's assertion",
    "[lockstep]", IcrcLockstep, PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
    RequesterPsnLockstep, CompletionLockstep) {
  LockstepOptions<TestType> options;
  options.break_contract = true;
  const auto r = run_lockstep(options);
  CHECK(r.assertion_failed);
  CHECK_FALSE(r.equal());
  CHECK(r.cycles < options.cycles);
}

TEMPLATE_TEST_CASE("a receiver that withdraws a grant is caught by the RTL's assertion",
                   "[lockstep]", IcrcLockstep, PacketizerLockstep, RxParserLockstep,
                   ResponderCheckLockstep, RequesterPsnLockstep, CompletionLockstep) {
  LockstepOptions<TestType> options;
  options.withdraw_grants = true;
  const auto r = run_lockstep(options);
  CHECK(r.assertion_failed);
  CHECK_FALSE(r.equal());
  CHECK(r.cycles < 5000);
}

TEMPLATE_TEST_CASE("a divergence leaves a report for a person and a waveform", "[lockstep]",
                   IcrcLockstep, PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("hca_{}_{}.fst", TestType::kName, getpid());
  std::filesystem::remove(file);
  LockstepOptions<TestType> options;
  options.fault = {PinFault::Kind::DataBit, 3000, 9};
  options.waves = file.string();
  const auto r = run_lockstep(options);
  REQUIRE(r.divergence);
  CHECK(r.waves == file.string());
  CHECK(std::filesystem::file_size(file) > 500);
  const std::string text = r.divergence->text();
  for (const char* part : {"cycle 3", "packets_out.data[15:8]", "model 0x", "RTL 0x", "packet ",
                           "beat ", kTold<TestType>})
    CHECK(text.find(part) != std::string::npos);
  std::filesystem::remove(file);
}

TEMPLATE_TEST_CASE("a divergence names statements of the list", "[lockstep]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  std::set<std::string> known;
  std::ifstream list(HCA_SOURCE_DIR "/vectors/requirements.csv");
  for (std::string row; std::getline(list, row);) known.insert(row.substr(0, row.find(',')));
  REQUIRE(known.size() > 900);
  const std::regex statement(R"(\b([A-Za-z]+[0-9]*[-.][0-9]+([./][A-Z0-9]+)?)\b)");
  // Packets of several kinds: the first beat after each of these cycles is wrong.
  for (engine::Cycle from = 100; from < 4000; from += 97) {
    LockstepOptions<TestType> options;
    options.fault = {PinFault::Kind::DataBit, from, 9};
    const auto r = run_lockstep(options);
    REQUIRE(r.divergence);
    const std::string text = r.divergence->text();
    // Of the line that names the packet, what stands in brackets.
    const std::string line = text.substr(0, text.find('\n', text.find('\n') + 1));
    unsigned named = 0;
    const std::regex brackets(R"(\(([^()]*)\))");
    for (std::sregex_iterator group(line.begin(), line.end(), brackets), end; group != end;
         ++group) {
      const std::string inside = (*group)[1];
      for (std::sregex_iterator id(inside.begin(), inside.end(), statement); id != end; ++id) {
        INFO(line);
        CHECK(known.contains((*id)[1]));
        ++named;
      }
    }
    INFO(line);
    CHECK((named > 0 || line.find("bypass") != std::string::npos));
  }
}

TEMPLATE_TEST_CASE("the same seed gives the same run", "[lockstep]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  LockstepOptions<TestType> options;
  options.cycles = 20'000;
  const auto a = run_lockstep(options), b = run_lockstep(options);
  options.seed = 2;
  const auto c = run_lockstep(options);
  CHECK(a.packets == b.packets);
  CHECK(a.beats == b.beats);
  CHECK(a.beats != c.beats);
}
}  // namespace hca::testbench
