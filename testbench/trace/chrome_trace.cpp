// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/proto/wire/packet.h"

namespace hca::testbench {
namespace {
constexpr unsigned kKindsPerBlock = 8;  // numbers of tracks
constexpr u32 kCounterRank = 1u << 31;  // counters come after the events of their time
// Of an event's own words; others are "", the track of the block itself.
constexpr std::string_view kItself = "passed";
// Readers other than Perfetto want a category and a time of every event.
constexpr std::string_view kMetadata = R"("cat":"__metadata","ts":0)";

// Microseconds, as the format has it.
std::string microseconds(u64 nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}
}  // namespace

ChromeTrace::ChromeTrace(const std::string& path, Testbed& testbed)
    : path_(path),
      file_(path),
      testbed_(testbed),
      sinks_(testbed.nodes()),
      items_([this](u64 at, const Item& item) { write(at, item); }),
      flows_(testbed),
      counters_(testbed.nodes()),
      levels_(
          testbed,
          [this](unsigned chip, std::size_t watched, u64 at, u64 value) {
            if (items_written_ >= kMostItems || counters_[chip][watched].empty()) return;
            items_.add(at, kCounterRank | chip << 16 | u32(watched),
                       {.process = chip, .event = {0, 0, 0, 0, 0, value}, .watched = watched});
          },
          [this] { hand_on(); }) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  blocks::for_each_block_config(testbed.node(0).hca.config(), [&]<class C>(const C& config) {
    if constexpr (requires { config.interval; })
      intervals_[std::string(engine::Knobs<C>::block)] = config.interval;
  });
  file_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  for (unsigned process = 0; process <= wires(); ++process)
    line(fmt::format(R"({{"ph":"M","pid":{},{},"name":"process_name","args":{{"name":"{}"}}}})",
                     process + 1, kMetadata,
                     process == wires() ? "wire" : fmt::format("hca{}", process)));
  for (unsigned i = 0; i < testbed.nodes(); ++i) {
    sinks_[i].trace = this, sinks_[i].chip = i;
    testbed.node(i).hca.probes().attach(sinks_[i]);
    const engine::Domain& domain = testbed.node(i).hca.domain();
    for (const engine::Watched& watched : domain.watched()) {
      const engine::Level level = watched.level(watched.object);
      const bool is_queue = !level.of || level.of > kPipeline;
      counters_[i].push_back(
          is_queue ? fmt::format("{}: {}", domain.name_of(level.owner), level.object) : "");
    }
  }
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    testbed.wire(wire).add_tap(
        [this, wire](u8 sender, sc_core::sc_time at, const proto::FrameView& bytes) {
          frame(wire, sender, at.value(), bytes);
        });
}

ChromeTrace::~ChromeTrace() {
  for (Sink& sink : sinks_) testbed_.node(sink.chip).hca.probes().detach(sink);
}

// An event is of a cycle that the chip runs, or of a later one: never before the kernel's time.
void ChromeTrace::take(unsigned chip, const engine::Event& event) {
  if (items_written_ >= kMostItems) return;
  const engine::ProbeHub& hub = testbed_.node(chip).hca.probes();
  const u64 period = testbed_.node(chip).hca.period().value();
  const auto interval = intervals_.find(without_port(hub.name(event.block)));
  const Cycle cycles = interval == intervals_.end() ? 1 : interval->second;
  items_.add(event.at * period, chip << 16 | event.block,
             {.process = chip, .event = event, .picoseconds = cycles * period});
}

void ChromeTrace::hand_on() {
  if (items_written_ < kMostItems) items_.hand_on_until(levels_.catch_up());
}

void ChromeTrace::frame(unsigned wire, u8 sender, u64 at, const proto::FrameView& bytes) {
  if (items_written_ >= kMostItems) return;
  proto::ParsedPacket packet;
  if (proto::parse(bytes, testbed_.link(), packet) != proto::PacketVerdict::Good) return;
  const u16 track = u16(wire * kEnds + sender);
  items_.add(at, wires() << 16 | track,
             {.process = wires(),
              .event = {0, track, sender, packet.bth.dest_qp, packet.bth.psn, bytes.size()},
              .picoseconds = testbed_.time_on_link(wire, sender, bytes.size()),
              .is_request = packet.opcode->is_request,
              .opcode = packet.opcode->name});
}

std::string ChromeTrace::track_name(const Item& item) const {
  const engine::Event& e = item.event;
  if (item.process == wires()) {
    const NodePort& sender = testbed_.ends_of_wire(e.block / kEnds)[e.block % kEnds];
    return fmt::format("port {}, from hca{}", sender.port + 1, sender.node);
  }
  const engine::ProbeHub& hub = testbed_.node(item.process).hca.probes();
  const std::string_view kind = hub.kind_name(e);
  return std::string(hub.name(e.block)) + (kind == kItself ? "" : fmt::format(", {}", kind));
}

void ChromeTrace::name_thread(const TrackId& id, unsigned lane, const Item& item) {
  const std::string name =
      track_name(item) + (lane ? fmt::format(" ({})", lane + 1) : std::string());
  for (const auto& [what, value] :
       {std::pair{"thread_name", fmt::format(R"("name":"{}")", name)},
        std::pair{"thread_sort_index", fmt::format(R"("sort_index":{})", id.second + lane)}})
    line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},{},"name":"{}","args":{{{}}}}})", id.first,
                     id.second + lane, kMetadata, what, value));
}

// Chooses the lane whose last slice ends latest before this one; if each is in use until later, and
// there may be no more, the slice begins later. Returns its begin.
u64 ChromeTrace::place(const TrackId& id, Track& track, const Item& item, u64 since, u64 at) {
  std::vector<u64>& lanes = track.lanes;
  std::optional<std::size_t> best;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    if (lanes[lane] <= since && (!best || lanes[lane] > lanes[*best])) best = lane;
  if (!best && lanes.size() < kMostLanes) {
    best = lanes.size();
    lanes.push_back(0);
    name_thread(id, unsigned(*best), item);
  }
  lane_ = unsigned(best ? *best : std::size_t(std::ranges::min_element(lanes) - lanes.begin()));
  const u64 from = std::min(std::max(since, lanes[lane_]), at);
  lanes[lane_] = std::max(lanes[lane_], at);
  return from;
}

void ChromeTrace::write_counter(u64 picoseconds, const Item& item) {
  line(fmt::format(
      R"({{"ph":"C","pid":{},"ts":{},"cat":"queue","name":"{}","args":{{"items":{}}}}})",
      item.process + 1, microseconds(picoseconds / engine::kPicosecondsPerNanosecond),
      counters_[item.process][*item.watched], item.event.c));
}

void ChromeTrace::write(u64 picoseconds, const Item& item) {
  if (items_written_ >= kMostItems) return;
  ++items_written_;
  last_ = picoseconds;
  if (item.watched) return write_counter(picoseconds, item);
  ++slices_;
  const engine::Event& e = item.event;
  const bool wire = item.process == wires();
  const TrackId id{item.process + 1,
                   1 + kMostLanes * (wire ? e.block : e.block * kKindsPerBlock + e.kind)};
  Track& track = tracks_[id];
  const u64 at = picoseconds / engine::kPicosecondsPerNanosecond;
  const u64 until = (picoseconds + item.picoseconds) / engine::kPicosecondsPerNanosecond;
  const std::string_view block = wire ? "" : testbed_.node(item.process).hca.probes().name(e.block);
  const std::string name =
      wire ? fmt::format("{} PSN {}", item.opcode, e.b) : fmt::format("QP {:#x}, {}", e.a, e.b);
  const std::string rest = fmt::format(
      R"("cat":"{}","name":"{}","args":{{"{}":{},"psn":{},"{}":{}}})", wire ? "wire" : "block",
      name, wire ? "dest_qp" : "qpn", e.a, e.b, wire ? "bytes" : "value", e.c);
  const auto since =
      wire ? std::optional<u64>() : stays_.since(item.process, block, e, picoseconds);
  u64 from = at;
  if (since) {
    end(id, track, at);
    from = place(id, track, item, *since / engine::kPicosecondsPerNanosecond, at);
    slice(id.first, id.second + lane_, from, at, rest);
  } else if (wire) {
    from = place(id, track, item, at, std::max(at, until));
    slice(id.first, id.second + lane_, from, std::max(at, until), rest);
  } else {
    end(id, track, at);
    from = place(id, track, item, at, at);
    track.open = true, track.lane = lane_, track.from = from, track.to = until;
    track.rest = rest;
  }
  const auto step =
      wire ? flows_.frame(testbed_.ends_of_wire(e.block / kEnds)[other_end(e.kind)].node, u32(e.a),
                          u32(e.b), item.is_request)
           : flows_.step(item.process, block, e);
  if (!step) return;
  const char* phase = step->begin ? "s" : step->end ? "f" : "t";
  line(fmt::format(
      R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"message","name":"message","bp":"e"}})",
      phase, id.first, id.second + lane_, microseconds(from), step->message));
}

void ChromeTrace::slice(unsigned process, unsigned thread, u64 from, u64 to,
                        const std::string& rest) {
  line(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},{}}})", process, thread,
                   microseconds(from), microseconds(to - from), rest));
}

// The slice that is open on a track ends, at the latest now.
void ChromeTrace::end(const TrackId& id, Track& track, u64 at) {
  if (!std::exchange(track.open, false)) return;
  const u64 to = std::max(track.from, std::min(track.to, at));
  slice(id.first, id.second + track.lane, track.from, to, track.rest);
  track.lanes[track.lane] = std::max(track.lanes[track.lane], to);
}

void ChromeTrace::line(const std::string& json) {
  file_ << (std::exchange(empty_, false) ? "\n" : ",\n") << json;
}

void ChromeTrace::close() {
  levels_.finish();
  items_.hand_on_until(~u64{0});
  for (auto& [id, track] : tracks_) end(id, track, ~u64{0});
  file_ << fmt::format("\n],\"otherData\":{{\"slices\":{},\"cut_at_us\":{}}}}}\n", slices_,
                       microseconds(cut_at() / engine::kPicosecondsPerNanosecond));
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
