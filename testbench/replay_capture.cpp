// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "testbench/pcap_file.h"

namespace hca::testbench {
using nlohmann::json;

namespace {
// Every kind of event that a capture may have; a misspelt one must not pass for nothing to check.
constexpr std::array<std::string_view, 21> kEventKinds{"mr",
                                                       "qp",
                                                       "connect",
                                                       "ud_ready",
                                                       "alloc_mw",
                                                       "bind_mw",
                                                       "srq",
                                                       "post_send",
                                                       "post_recv",
                                                       "post_srq_recv",
                                                       "raw_tx",
                                                       "fake_peer",
                                                       "rule",
                                                       "mark",
                                                       "wc",
                                                       "qp_state",
                                                       "async",
                                                       "mem_set",
                                                       "mem_final",
                                                       "destroy_qp",
                                                       "timeout_waiting_wc"};
struct FateName {
  Fate fate;
  std::string_view name;
};
constexpr std::array kFateNames{
    FateName{Fate::Forwarded, "fwd"},   FateName{Fate::Dropped, "drop"},
    FateName{Fate::Held, "held"},       FateName{Fate::Original, "orig"},
    FateName{Fate::Mutated, "mutated"}, FateName{Fate::Duplicate, "dup"},
    FateName{Fate::Late, "late"},
};

End end_of(const std::string& name) {
  if (name == "A") return End::A;
  if (name == "B") return End::B;
  throw std::runtime_error(fmt::format("side '{}' is neither A nor B", name));
}

std::array<u8, 16> gid_of_hex(const std::string& hex) {
  std::array<u8, 16> gid{};
  if (hex.size() != 32) throw std::runtime_error(fmt::format("GID '{}' has not 32 digits", hex));
  for (std::size_t i = 0; i < 16; ++i) gid[i] = u8(parse_number(json("0x" + hex.substr(2 * i, 2))));
  return gid;
}

ReplayFrame frame_of(const json& entry, const CapturedFrame& captured) {
  ReplayFrame frame;
  const std::string direction = entry.at("dir"), fate = entry.at("fate");
  if (direction != "A>B" && direction != "B>A")
    throw std::runtime_error(fmt::format("direction '{}'", direction));
  frame.from = end_of(direction.substr(0, 1));
  const auto* row = std::find_if(kFateNames.begin(), kFateNames.end(),
                                 [&](const FateName& f) { return f.name == fate; });
  if (row == kFateNames.end()) throw std::runtime_error(fmt::format("fate '{}'", fate));
  if (!captured.note.empty()) throw std::runtime_error(captured.note);
  if (captured.bytes_on_wire != captured.bytes.size())
    throw std::runtime_error("the capture cut this frame");
  frame.fate = row->fate, frame.time_ns = captured.time_ns, frame.bytes = captured.bytes;
  return frame;
}

Capture read_json(const json& all, const std::vector<CapturedFrame>& captured) {
  Capture capture;
  capture.name = all.at("case");
  for (const End end : {End::A, End::B}) {
    const json& side = all.at("sides").at(std::string(1, name_of(end)));
    ReplaySide& out = capture.sides[unsigned(end)];
    out.mac = parse_number(json("0x" + side.at("mac").get<std::string>()));
    out.gid4 = gid_of_hex(side.at("gid4")), out.gid6 = gid_of_hex(side.at("gid6"));
  }
  for (const json& e : all.at("events")) {
    ReplayEvent event{e.at("t_us").get<u64>() * 1000, e.at("ev"), End::A, e};
    if (std::find(kEventKinds.begin(), kEventKinds.end(), event.kind) == kEventKinds.end())
      throw std::runtime_error(fmt::format("events: '{}' is no known event", event.kind));
    if (event.has("side")) event.side = end_of(e.at("side"));
    capture.events.push_back(std::move(event));
  }
  const json& frames = all.at("frames");
  if (frames.size() != captured.size())
    throw std::runtime_error(
        fmt::format("it describes {} frames, the pcap holds {}", frames.size(), captured.size()));
  for (std::size_t i = 0; i < captured.size(); ++i) try {
      capture.frames.push_back(frame_of(frames[i], captured[i]));
    } catch (const std::exception& error) {
      throw std::runtime_error(fmt::format("frame {}: {}", i + 1, error.what()));
    }
  return capture;
}
}  // namespace

u64 parse_number(const json& value) {
  if (value.is_number_integer()) return value.get<u64>();
  const std::string text = value.get<std::string>();
  const bool is_hex = text.starts_with("0x");
  u64 number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + (is_hex ? 2 : 0), end, number, is_hex ? 16 : 10);
  if (error != std::errc{} || stop != end)
    throw std::runtime_error(fmt::format("'{}' is not a number", text));
  return number;
}

u64 ReplayEvent::number(const char* name) const { return parse_number(values.at(name)); }
std::string ReplayEvent::text(const char* name) const { return values.at(name); }

bool Capture::has_device(End end) const {
  return std::any_of(events.begin(), events.end(),
                     [&](const ReplayEvent& e) { return e.kind == "qp" && e.side == end; });
}

Capture load_capture(const std::string& path) {
  const std::vector<CapturedFrame> captured = read_capture(path);
  const std::string beside = std::filesystem::path(path).replace_extension(".json").string();
  std::ifstream file(beside);
  if (!file) throw std::runtime_error(beside + ": cannot be opened; it must stand beside the pcap");
  try {
    return read_json(json::parse(file), captured);
  } catch (const std::exception& error) {
    throw std::runtime_error(beside + ": " + error.what());
  }
}
}  // namespace hca::testbench
