// SPDX-License-Identifier: Apache-2.0
// A deviation of the recorded device (vectors/captures/README.md) that no capture here shows: a
// hand-made recording with it must replay, by its own row, and a recording with another deviation
// must not.
#pragma once
#include <catch2/catch.hpp>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/replay/recording.h"

namespace hca::testbench {
using namespace proto;

inline constexpr u32 kP = Recording::kFirst, kQ = Recording::kTheirFirst;
inline constexpr u64 kOurs = Recording::kOurs, kTheirs = Recording::kTheirs;
inline constexpr u32 kKey = Recording::kKey, kPeerKey = Recording::kPeerKey;
inline constexpr u8 kNoCredits = 0x1f;

struct Case {
  const char* name;
  End end;
  Recording recording;
  std::vector<std::string> rows;  // header.field of each row that must be used
  const char* statement;          // part of the statement of these rows
  bool parts;
  std::function<void(Capture&)> bend;  // modifies the capture into one that no row allows
  std::string_view runner = {};        // the only one that shows it; empty: all
};

// Sets byte `at` of frame `index`.
inline std::function<void(Capture&)> set_byte(std::size_t index, std::size_t at, u8 value) {
  return [=](Capture& c) {
    std::vector<u8>& frame = c.frames[index].bytes;
    frame.at(at) = value;
    Recording::make_good(frame);
  };
}
inline std::function<void(Capture&)> set_status(const char* status) {
  return [=](Capture& c) {
    for (ReplayEvent& e : c.events)
      if (e.kind == "wc") return void(e.values["status"] = status);
  };
}
// IPv4: the PSN's last byte, the syndrome.
inline constexpr std::size_t kPsnByte = 53, kSyndrome = 54, kMsnByte = 57;

inline std::string hex_of_pattern(u32 from, u32 bytes) {
  std::string text;
  for (u32 i = from; i < from + bytes; ++i) {
    const u8 byte = u8(31 + 7 * i + 13 * (i >> 8));
    text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
  }
  return text;
}
inline ExtHeaders atomic(u64 va, u64 add) {
  ExtHeaders ext;
  ext.atomic_eth = {va, kKey, add, 0};
  return ext;
}
inline ExtHeaders ieth(u32 key) {
  ExtHeaders ext;
  ext.ieth = {key};
  return ext;
}
inline nlohmann::json at_offset(u64 offset, u32 bytes) {
  return {{"sge", {{kOurs + offset, bytes, kKey}}}};
}

inline u64 uses_of(const ReplayReport& report, const std::string& field,
                   const std::string& statement) {
  u64 uses = 0;
  for (std::size_t i = 0; i < report.allowed_uses.size(); ++i) {
    const AllowedDifference& row = allowed_differences()[i];
    if (std::string(row.header) + "." + std::string(row.field) == field &&
        row.statement.find(statement) != std::string_view::npos)
      uses += report.allowed_uses[i];
  }
  return uses;
}

inline void check(const Case& c) {
  for (const ReplayRunner& runner : replay_runners()) {
    if (!c.runner.empty() && c.runner != runner.name) continue;
    CAPTURE(c.name, runner.name);
    const ReplayReport report = replay(c.recording.capture(), c.end, runner);
    INFO((report.difference ? report.difference->where + ": " + report.difference->what : ""));
    std::string ladder;
    for (const std::string& line : report.ladder) ladder += line + "\n";
    INFO(ladder);
    CHECK(report.same());
    CHECK(report.parted.has_value() == c.parts);
    for (const std::string& field : c.rows) {
      CAPTURE(field);
      CHECK(uses_of(report, field, c.statement) > 0);
    }
    Capture bent = c.recording.capture();
    c.bend(bent);
    const ReplayReport other = replay(bent, c.end, runner);
    std::string bent_ladder = "bent\n";
    for (const std::string& line : other.ladder) bent_ladder += line + "\n";
    INFO(bent_ladder);
    CHECK_FALSE(other.same());
  }
}
}  // namespace hca::testbench
