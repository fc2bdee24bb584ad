// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/proto/wire/packet.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
namespace {
constexpr unsigned kKindsPerBlock = 8;  // numbers of tracks
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
      flows_(testbed) {
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
  }
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    testbed.wire(wire).add_tap(
        [this, wire](u8 sender, sc_core::sc_time at, std::span<const u8> bytes) {
          frame(wire, sender, at.value(), bytes);
        });
}

ChromeTrace::~ChromeTrace() {
  for (Sink& sink : sinks_) testbed_.node(sink.chip).hca.probes().detach(sink);
}

// An event is of a cycle that the chip runs, or of a later one: never before the kernel's time.
void ChromeTrace::take(unsigned chip, const engine::Event& event) {
  if (slices_ >= kMostSlices) return;
  if (++since_flush_ == kHandOnEach) {
    since_flush_ = 0;
    items_.hand_on_until(kernel_picoseconds());
  }
  const engine::ProbeHub& hub = testbed_.node(chip).hca.probes();
  const u64 period = testbed_.node(chip).hca.period().value();
  std::string_view block = hub.name(event.block);
  if (!intervals_.contains(block)) block = block.substr(block.find('_') + 1);  // of a port
  const auto interval = intervals_.find(block);
  const Cycle cycles = interval == intervals_.end() ? 1 : interval->second;
  items_.add(event.at * period, chip << 16 | event.block, {chip, event, cycles * period});
}

void ChromeTrace::frame(unsigned wire, u8 sender, u64 at, std::span<const u8> bytes) {
  if (slices_ >= kMostSlices) return;
  proto::ParsedPacket packet;
  if (proto::parse(bytes, testbed_.link(), packet) != proto::PacketVerdict::Good) return;
  const u16 track = u16(wire * kEnds + sender);
  items_.add(at, wires() << 16 | track,
             {wires(),
              {0, track, sender, packet.bth.dest_qp, packet.bth.psn, bytes.size()},
              testbed_.time_on_link(wire, sender, bytes.size()),
              packet.opcode->is_request,
              packet.opcode->name});
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

ChromeTrace::Track& ChromeTrace::track_of(const TrackId& id, const Item& item) {
  const auto [found, is_new] = tracks_.try_emplace(id);
  if (is_new)
    for (const auto& [what, value] :
         {std::pair{"thread_name", fmt::format(R"("name":"{}")", track_name(item))},
          std::pair{"thread_sort_index", fmt::format(R"("sort_index":{})", id.second)}})
      line(fmt::format(R"({{"ph":"M","pid":{},"tid":{},{},"name":"{}","args":{{{}}}}})", id.first,
                       id.second, kMetadata, what, value));
  return found->second;
}

void ChromeTrace::write(u64 picoseconds, const Item& item) {
  if (slices_ >= kMostSlices) return;
  ++slices_;
  last_ = picoseconds;
  const engine::Event& e = item.event;
  const bool wire = item.process == wires();
  const TrackId id{item.process + 1, 1 + (wire ? e.block : e.block * kKindsPerBlock + e.kind)};
  Track& track = track_of(id, item);
  const u64 from = picoseconds / engine::kPicosecondsPerNanosecond;
  end(id, track, from);
  track.open = true;
  track.from = from;
  track.to = (picoseconds + item.picoseconds) / engine::kPicosecondsPerNanosecond;
  const std::string name =
      wire ? fmt::format("{} PSN {}", item.opcode, e.b) : fmt::format("QP {:#x}, {}", e.a, e.b);
  track.rest = fmt::format(R"("cat":"{}","name":"{}","args":{{"{}":{},"psn":{},"{}":{}}})",
                           wire ? "wire" : "block", name, wire ? "dest_qp" : "qpn", e.a, e.b,
                           wire ? "bytes" : "value", e.c);
  const auto step =
      wire ? flows_.frame(testbed_.ends_of_wire(e.block / kEnds)[other_end(e.kind)].node, u32(e.a),
                          u32(e.b), item.is_request)
           : flows_.step(item.process, testbed_.node(item.process).hca.probes().name(e.block), e);
  if (!step) return;
  const char* phase = step->begin ? "s" : step->end ? "f" : "t";
  line(fmt::format(
      R"({{"ph":"{}","pid":{},"tid":{},"ts":{},"id":{},"cat":"message","name":"message","bp":"e"}})",
      phase, id.first, id.second, microseconds(from), step->message));
}

// The slice that is open on a track ends, at the latest now.
void ChromeTrace::end(const TrackId& id, Track& track, u64 at) {
  if (!std::exchange(track.open, false)) return;
  const u64 to = std::max(track.from, std::min(track.to, at));
  line(fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},{}}})", id.first, id.second,
                   microseconds(track.from), microseconds(to - track.from), track.rest));
}

void ChromeTrace::line(const std::string& json) {
  file_ << (std::exchange(empty_, false) ? "\n" : ",\n") << json;
}

void ChromeTrace::close() {
  items_.hand_on_until(~u64{0});
  for (auto& [id, track] : tracks_) end(id, track, ~u64{0});
  file_ << fmt::format("\n],\"otherData\":{{\"slices\":{},\"cut_at_us\":{}}}}}\n", slices_,
                       microseconds(cut_at() / engine::kPicosecondsPerNanosecond));
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
