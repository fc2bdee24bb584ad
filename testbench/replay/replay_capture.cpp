// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include "testbench/packets/opened_frame.h"
#include "testbench/packets/packed_file.h"
#include "testbench/replay/replay_allowed.h"
#include "testbench/replay/replay_fields.h"
#include "testbench/replay/replay_learn.h"
#include "testbench/replay/replay_prepare.h"
#include "testbench/replay/replay_vocabulary.h"
#include "testbench/text/json_line.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
// As libibverbs names them.
constexpr std::array<std::string_view, 6> kQpTypes{"RC",       "UC",       "UD",
                                                   "XRC_SEND", "XRC_RECV", "RAW_PACKET"};
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

constexpr u64 kMaxMicroseconds = 1'000'000'000'000'000;  // 31 years

End end_of(const JsonAt& name) {
  if (name.text() != "A" && name.text() != "B") name.refuse("is " + name.value().dump(), "A | B");
  return name.text() == "A" ? End::A : End::B;
}

ReplaySide side_of(const JsonAt& entry) {
  ReplaySide side;
  const std::vector<u8> mac = entry["mac"].hex(6);
  for (const u8 byte : mac) side.mac = side.mac << 8 | byte;
  const std::vector<u8> gid4 = entry["gid4"].hex(16), gid6 = entry["gid6"].hex(16);
  std::copy(gid4.begin(), gid4.end(), side.gid4.begin());
  std::copy(gid6.begin(), gid6.end(), side.gid6.begin());
  return side;
}

ReplayEvent event_of(const JsonAt& entry) {
  const EventKind& kind = event_kind(entry);
  ReplayEvent event{entry["t_us"].number(0, kMaxMicroseconds) * 1000,
                    std::string(kind.same_as.empty() ? kind.name : kind.same_as), End::A,
                    entry.value(), entry.path()};
  if (kind.has_side) event.side = end_of(entry["side"]);
  check_event_fields(event.kind, entry);
  if (event.kind == "qp" &&
      std::find(kQpTypes.begin(), kQpTypes.end(), event.text("type")) == kQpTypes.end())
    entry["type"].refuse("is " + entry["type"].value().dump(),
                         fmt::format("{}", fmt::join(kQpTypes, " | ")));
  return event;
}

ReplayFrame frame_of(const JsonAt& entry, const CapturedFrame& captured, u64 number, u64 frames) {
  ReplayFrame frame;
  entry["n"].number(number, number);
  const JsonAt direction = entry["dir"], fate = entry["fate"];
  if (direction.text() != "A>B" && direction.text() != "B>A")
    direction.refuse("is " + direction.value().dump(), "A>B | B>A");
  frame.from = direction.text() == "A>B" ? End::A : End::B;
  const auto* row = std::find_if(kFateNames.begin(), kFateNames.end(),
                                 [&](const FateName& f) { return f.name == fate.text(); });
  if (row == kFateNames.end())
    fate.refuse("is " + fate.value().dump(), "fwd | drop | held | orig | mutated | dup | late");
  if (!captured.note.empty()) entry.refuse("in the pcap: " + captured.note, "a packet");
  if (captured.bytes_on_wire != captured.bytes.size())
    entry.refuse("the pcap cut this frame", "whole frames");
  if (entry.has("of")) entry["of"].number(0, frames - 1);
  frame.fate = row->fate;
  frame.time_ns = captured.time_ns;
  frame.bytes = captured.bytes;
  frame.link = captured.link;
  frame.number = number;
  const bool as_on_the_wire =
      captured.begins == proto::Layer::Ethernet || captured.begins == proto::Layer::Lrh;
  if (!as_on_the_wire)
    if (DeviceFrame opened = device_frame(captured); opened.other.empty()) {
      frame.bytes = std::move(opened.bytes);
      frame.link = opened.link;
    }
  return frame;
}

// An end is a device, whose host made a queue pair, or hand-made.
void check_ends(const Capture& capture, const JsonAt& events) {
  for (const End end : {End::A, End::B})
    if (!capture.has_device(end) && !capture.has_event(end, "fake_peer"))
      events.refuse(fmt::format("side {} has no queue pair", name_of(end)),
                    "a qp event, or fake_peer for a hand-made side");
}

// The series of vectors/captures is recognised by the names of its devices.
std::string profile_of(const JsonAt& all, bool learned) {
  if (all.has("profile")) {
    const JsonAt named = all["profile"];
    if (named.text() != kSoftRoce && named.text() != "none")
      named.refuse("is " + named.value().dump(), fmt::format("{} | none", kSoftRoce));
    return named.text() == "none" ? "" : named.text();
  }
  if (learned) return "";
  for (const char* side : {"A", "B"}) {
    const JsonAt entry = all["sides"][side];
    if (entry.has("dev") && entry["dev"].text().starts_with("rxe")) return std::string(kSoftRoce);
  }
  return "";
}

Capture read_json(const JsonAt& all, const std::vector<CapturedFrame>& captured) {
  Capture capture;
  capture.name = all["case"].text();
  // Without a record of its hosts, a capture is only the conversation.
  capture.learned = !all.has("sides") && all["events"].entries().empty();
  for (const End end : {End::A, End::B})
    if (!capture.learned)
      capture.sides[unsigned(end)] = side_of(all["sides"][std::string(1, name_of(end))]);
  for (const JsonAt& entry : all["events"].entries()) capture.events.push_back(event_of(entry));
  if (!capture.learned) check_ends(capture, all["events"]);
  const std::vector<JsonAt> frames = all["frames"].entries();
  if (frames.size() != captured.size())
    all["frames"].refuse(fmt::format("describes {} frames", frames.size()),
                         fmt::format("{}, as the pcap holds", captured.size()));
  for (std::size_t i = 0; i < captured.size(); ++i)
    capture.frames.push_back(frame_of(frames[i], captured[i], i + 1, captured.size()));
  if (!captured.empty()) capture.link = captured.front().link;
  capture.profile = profile_of(all, capture.learned);
  if (capture.learned) capture.recorded = capture.frames;
  capture.complete = true;
  capture.tags = take_tags_off(capture);
  if (!capture.learned)
    prepare_events(capture);
  else
    try {
      learn_setup(capture);
    } catch (const std::exception& error) {  // judged by its packets all the same
      capture.events.clear();
      capture.left_out_reason = error.what();
    }
  return capture;
}
}  // namespace

std::optional<QpType> qp_type(std::string_view name) {
  using enum proto::Service;
  static constexpr std::array kTypes{QpType{"RC", Rc},
                                     QpType{"UC", Uc},
                                     QpType{"UD", Ud},
                                     QpType{"XRC_SEND", Xrc, proto::QpSide::Initiator},
                                     QpType{"XRC_RECV", Xrc, proto::QpSide::Target},
                                     QpType{"RD", Rd},
                                     QpType{"RD_EEC", Rd, proto::QpSide::EeContext}};
  const auto found = std::ranges::find(kTypes, name, &QpType::name);
  return found == kTypes.end() ? std::nullopt : std::optional(*found);
}

std::string waits_for(const Capture& capture) {
  constexpr std::array bound_by{"mw_rkey_new", "bind_addr", "bind_len", "bind_access", "mr_lkey"};
  for (const ReplayEvent& e : capture.events) {
    for (const char* name : bound_by)
      if (e.kind == "bind_mw" && !e.has(name)) return fmt::format("a bind_mw that tells {}", name);
    if (e.kind == "qp" && !qp_type(e.text("type"))) return e.text("type") + " queue pairs";
  }
  if (!capture.events.empty()) return "";
  return capture.learned ? "what its packets do not show: " + capture.left_out_reason
                         : capture.left_out_reason;
}

std::string Capture::frame_name(std::size_t index) const {
  const std::size_t number = frames[index].number;
  if (!learned || complete) return fmt::format("frame {}", index + 1);
  return number ? fmt::format("frame {}", number) : "a frame lost before the recording point";
}

bool Capture::has_event(End end, std::string_view kind) const {
  return std::any_of(events.begin(), events.end(),
                     [&](const ReplayEvent& e) { return e.kind == kind && e.side == end; });
}

bool Capture::is_context(End end, u64 eecn) const {
  return std::ranges::any_of(events, [&](const ReplayEvent& e) {
    return e.kind == "qp" && e.side == end && e.text("type") == "RD_EEC" && e.number("qpn") == eecn;
  });
}
bool Capture::shares_receives(End end, u64 qpn) const {
  return has_event(end, "post_srq_recv") &&
         std::none_of(events.begin(), events.end(), [&](const ReplayEvent& e) {
           return e.kind == "post_recv" && e.side == end && e.number("qpn") == qpn;
         });
}

std::string json_beside(const std::string& path) {
  std::filesystem::path file(path);
  if (is_packed_extension(file.extension().string())) file.replace_extension();
  return file.replace_extension(".json").string();
}

bool has_json(const std::string& path) { return std::filesystem::exists(json_beside(path)); }

std::string with_line(const std::string& file, const std::string& what) {
  const std::optional<std::string> text = read_text_file(file);
  const std::string path = what.substr(0, std::min(what.find(": "), what.find(" (")));
  return fmt::format("{}:{}: {}", file, text ? line_of_json(*text, path) : 1, what);
}

Capture load_capture(const std::string& path) {
  const std::vector<CapturedFrame> captured = read_capture(path);
  const std::string beside = json_beside(path);
  const std::optional<std::string> text = read_text_file(beside);
  if (!text) throw std::runtime_error(beside + ": cannot be read; it must be beside the pcap");
  nlohmann::json all;
  try {
    all = parse_json(*text);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(beside + ":" + error.what());
  }
  try {
    return read_json(JsonAt(all), captured);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(with_line(beside, error.what()));
  }
}
}  // namespace hca::testbench
