// SPDX-License-Identifier: Apache-2.0
// A recorded conversation: CASE.pcap with the frames of both directions, CASE.json with the actions
// of both hosts.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/proto/transport/services.h"
#include "model/proto/wire/framing.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
enum class End : u8 { A, B };
constexpr End other(End end) { return end == End::A ? End::B : End::A; }
constexpr char name_of(End end) { return end == End::A ? 'A' : 'B'; }

// The fate of a frame on the wire.
enum class Fate : u8 { Forwarded, Dropped, Held, Original, Mutated, Duplicate, Late };
constexpr bool was_sent(Fate fate) { return fate <= Fate::Original; }
constexpr bool was_delivered(Fate fate) { return fate == Fate::Forwarded || fate >= Fate::Mutated; }

struct ReplayFrame {
  u64 time_ns = 0;
  End from = End::A;
  Fate fate = Fate::Forwarded;
  std::vector<u8> bytes;
  proto::LinkLayer link = proto::LinkLayer::Ethernet;
  std::size_t number = 0;  // in the file, from 1; 0: not in the file, but sent
};

// One line of the JSON's events, with the JSON's names of values.
struct ReplayEvent {
  u64 time_ns = 0;
  std::string kind;
  End side = End::A;  // events of neither side are stored as A
  nlohmann::json values;
  std::string path;  // in the JSON: "events[3]"

  JsonAt at(const char* name) const { return JsonAt(values, path)[name]; }
  u64 number(const char* name) const { return at(name).number(); }
  const std::string& text(const char* name) const { return at(name).text(); }
  bool has(const char* name) const { return values.contains(name); }
};

struct ReplaySide {
  u64 mac = 0;
  u16 lid = 0;
  std::array<u8, 16> gid4{}, gid6{};
};

// The CM's data on two queue pairs, by End.
struct LearnedConnection {
  u32 qpns[2]{}, first_psns[2]{}, path_mtu = 0;
  u8 timeouts[2]{}, retry_counts[2]{}, rnr_retries[2]{};
};

struct Capture {
  std::string name;
  ReplaySide sides[2];
  std::vector<ReplayEvent> events;
  std::vector<ReplayFrame> frames;
  proto::LinkLayer link = proto::LinkLayer::Ethernet;  // of all frames
  proto::Framing framing = proto::Framing::RoceV2Ip4;  // of the port; RoCEv2 takes both IPs
  std::string profile;                                 // whose deviations are allowed; empty: none
  std::size_t tags = 0;                                // VLAN and priority tags that were removed

  // True if the capture had no events: `events` were learned from the frames, on their clock.
  // Successful completions are then unknown.
  bool learned = false;
  // Learned captures: all frames as in the file.
  std::vector<ReplayFrame> recorded;
  std::vector<LearnedConnection> connections;
  bool complete = false;  // its JSON lists the frames: the recorder lost none
  // Frames that were left out.
  std::size_t left_out = 0;
  std::string left_out_reason;
  // Learned captures: requests that were lost before the recording point and repeated.
  std::size_t restored = 0;
  // Learned captures: words that a host must have written between two ATOMICs.
  std::size_t words_set = 0;

  std::string frame_name(std::size_t index) const;  // "frame 7"
  const ReplaySide& side(End end) const { return sides[unsigned(end)]; }
  // True if a real device was at this end: it has a queue pair. Other ends are hand-made and have a
  // `fake_peer` event.
  bool has_device(End end) const { return has_event(end, "qp"); }
  bool has_event(End end, std::string_view kind) const;
  // True for a queue pair at an end with an SRQ, to whose own receive queue nothing is posted: it
  // uses the SRQ.
  bool shares_receives(End end, u64 qpn) const;
  // RD: an EE context of this number is connected at this end.
  bool is_context(End end, u64 eecn) const;
};

// A queue pair's "type", if the model has it; RD_EEC: an EE context.
struct QpType {
  std::string_view name;
  proto::Service service;
  proto::QpSide side = proto::QpSide::Both;
};
std::optional<QpType> qp_type(std::string_view name);
// The services that captures are replayed of, the first that a capture has.
inline constexpr std::array kReplayedServices{proto::Service::Rc, proto::Service::Xrc,
                                              proto::Service::Rd, proto::Service::Ud};

// What the capture needs and the model does not have; empty: nothing.
std::string waits_for(const Capture& capture);

// `path` is the pcap; the JSON of the same base name is beside it. Throws std::runtime_error with
// file, line and path of the value, the problem and the allowed values.
std::string json_beside(const std::string& path);
bool has_json(const std::string& path);
// Adds the file and the line of that path to a problem in a JSON file, "events[3].len: ...".
std::string with_line(const std::string& file, const std::string& what);
Capture load_capture(const std::string& path);
}  // namespace hca::testbench
