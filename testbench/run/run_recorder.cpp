// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/run_recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/blocks/chip.h"
#include "model/proto/wire/framing.h"
#include "testbench/testbed/kernel_time.h"

namespace hca::testbench {
namespace {
// The knobs of the cache whose misses this budget counts: "QP cache misses".
std::string knobs_of_cache(std::string_view misses) {
  for (const proto::ContextKindRow& row : proto::kContextTables)
    if (misses.starts_with(row.name)) return fmt::format("{}.misses, entries", row.cache);
  return "";
}
}  // namespace

RunRecorder::RunRecorder(Testbed& testbed)
    : testbed_(testbed),
      peaks_(testbed),
      ladder_(testbed),
      log_(
          testbed,
          [this](const MessageTimes& message) {
            if (!recording_) return;
            taken_.add(message.start() + message.whole(), message.chip, message);
            if (++since_hand_on_ < kTakenEach) return;
            since_hand_on_ = 0;
            taken_.hand_on_until(kernel_picoseconds());
          },
          [this](unsigned receiver, u64 picoseconds, const proto::FrameView& frame,
                 const proto::ParsedPacket& packet) {
            if (recording_) ladder_.frame(receiver, picoseconds, frame.size(), packet);
          }),
      taken_([this](u64, const MessageTimes& message) {
        phases_.back().times.add(message);
        if (message_sink) message_sink(message);
      }),
      cores_(testbed.nodes()),
      chips_(testbed.nodes()) {
  const unsigned nodes = testbed.nodes();
  for (unsigned i = 0; i < nodes; ++i) add_core(i);
  for (unsigned wire = 0; wire < testbed.wires(); ++wire) add_wire(wire);
  for (unsigned i = 0; i < nodes; ++i) add_pcie(i);
  for (unsigned i = 0; i < nodes; ++i) {
    add_levels(i);
    add_engines(i);
    add_paces(i);
  }
  for (unsigned i = 0; i < nodes; ++i) {
    add_counted(i);
    add_registers(i);
    add_stalls(i);
  }
  for (Stall& stall : stalls_) {
    Chip& chip = chips_[stall.chip];
    const bool of_queue_pairs = stall.row && stall.row->of != WaitOf::Block;
    (of_queue_pairs ? chip.queue_pair_stalls : chip.stalls).push_back({stall.cycles, 0, &stall});
  }
}

RunRecorder::~RunRecorder() {
  for (unsigned i = 0; i < chips_.size(); ++i) {
    std::erase(testbed_.node(i).cpu.meters, &cores_[i]);
    testbed_.node(i).pcie().attach(nullptr);
    chips_[i].domain->sample(nullptr, nullptr);
    testbed_.node(i).hca.probes().detach(chips_[i]);
  }
}

std::size_t RunRecorder::add_resource(std::string group, std::string name, std::string kind,
                                      double of, std::string knob, double each) {
  const bool counted = of != 1;
  const std::size_t column =
      series_.add_column({std::move(group), counted ? name + " in use" : name + " busy",
                          counted ? kind : "%", (counted ? 1.0 : 100.0) * each, of / each});
  resources_.push_back({column, 0, of, std::move(name), std::move(kind), std::move(knob), each});
  return resources_.size() - 1;
}

void RunRecorder::add_core(unsigned i) {
  Core& core = cores_[i];
  const std::string chip = fmt::format("hca{}", i);
  const u32 cores = testbed_.cores();
  core.recorder = this;
  core.chip = i;
  core.bytes =
      series_.add_column({"throughput", "posted by host " + std::to_string(i), "Gb/s", 1e3});
  core.messages =
      series_.add_column({"messages", "posted by host " + std::to_string(i), "Mmsg/s", 1e6});
  core.work = add_resource("hosts", fmt::format("host {}'s {}", i, cores == 1 ? "core" : "cores"),
                           "cores", cores, "host");
  if (testbed_.waits_for_events())
    core.interrupts = add_resource("hosts", fmt::format("host {}'s interrupts", i), "time", cores,
                                   "host.interrupt, host.wait");
  testbed_.node(i).cpu.meters.push_back(&core);
}

void RunRecorder::Core::worked(Cycle at, Cycle cycles, u32 core) {
  if (!cycles) return;
  const u64 period = recorder->testbed_.node(chip).hca.period().value();
  recorder->begin_by(at * period);
  recorder->use(work, at * period, (at + cycles) * period, double(cycles * period));
  if (core >= busy.size()) busy.resize(core + 1);
  busy[core] += recorder->recording_ ? cycles * period : 0;
}

void RunRecorder::Core::wakes(Cycle at, Cycle cycles) {
  const u64 period = recorder->testbed_.node(chip).hca.period().value();
  if (interrupts != kNoResource)
    recorder->use(interrupts, at * period, (at + cycles) * period, double(cycles * period));
}

// The first action of a program is the first post.
void RunRecorder::begin_by(u64 picoseconds) {
  if (!recording_) return;
  Phase& p = phases_.back();
  p.from = first_post_ ? std::min(p.from, picoseconds) : picoseconds;
  first_post_ = true;
}

void RunRecorder::Core::completed(const TakenMessage& message) {
  RunRecorder& r = *recorder;
  if (!r.recording_) return;
  const u64 ps = message.at * r.testbed_.node(chip).hca.period().value();
  r.series_.add(bytes, ps, ps, double(message.bytes) * 8);
  r.series_.add(messages, ps, ps, 1);
  r.add_throughput(chip, message, ps);
  r.phases_.back().messages += 1;
  r.phases_.back().bytes += message.bytes;
  r.last_completion_ = std::max(r.last_completion_, ps);
  std::vector<bool>& qps = r.chips_[chip].qps;
  if (message.qpn >= qps.size()) qps.resize(message.qpn + 1);
  qps[message.qpn] = true;
}

// In columns of its entry, operation, size and queue pair.
void RunRecorder::add_throughput(unsigned chip, const TakenMessage& message, u64 picoseconds) {
  const GroupedMessage grouped{chip, message.qpn, message.bytes, Operation(message.operation),
                               message.entry};
  if (grouped != last_completed_)
    for (std::size_t g = 0; g < throughput_.size(); ++g)
      last_columns_[g] = throughput_column(g, grouped);
  last_completed_ = grouped;
  for (const std::size_t column : last_columns_)
    series_.add(column, picoseconds, picoseconds, double(message.bytes) * 8);
}

std::size_t RunRecorder::throughput_column(std::size_t g, const GroupedMessage& message) {
  Throughput& group = throughput_[g];
  const std::size_t place = group.places.of(message.chip, kMessageGroups[g].value(message));
  if (place >= group.columns.size()) group.columns.resize(place + 1, kNoResource);
  if (group.columns[place] == kNoResource)
    group.columns[place] = series_.add_column(
        {fmt::format("throughput by {}", kMessageGroups[g].by),
         group.places.name(kMessageGroups[g], place), "Gb/s", 1e3, 0, group.places.key(place)});
  return group.columns[place];
}

void RunRecorder::add_wire(unsigned number) {
  const Ends& ends = testbed_.ends_of_wire(number);
  std::array<std::size_t, kEnds> lines{};
  for (unsigned end = 0; end < kEnds; ++end)
    lines[end] = add_resource(
        "links",
        fmt::format("hca{} link transmit{}", ends[end].node, testbed_.name_of_port(ends[end])),
        "link", 1, "port.link_rate");
  for (unsigned end = 0; end < kEnds; ++end) add_slow_core(number, end);
  tlm_::Wire& wire = testbed_.wire(number);
  wire.add_entry_tap(
      [this, number, lines](u8 sender, sc_core::sc_time at, const proto::FrameView& frame) {
        const u64 time = testbed_.time_on_link(number, sender, frame.size());
        use(lines[sender], at.value(), at.value() + time, double(time));
      });
}

// Picoseconds that a frame takes of the datapath of a chip.
u64 RunRecorder::beats_of(unsigned i, std::size_t bytes) const {
  const Hca& hca = testbed_.node(i).hca;
  const u64 beat = hca.config().icrc_unit.beat_bytes;
  return (bytes + beat - 1) / beat * hca.period().value();
}

// Frames that end with a nearly empty beat may take longer there than on the link.
bool RunRecorder::may_be_slow(unsigned wire, unsigned end) const {
  const unsigned i = testbed_.ends_of_wire(wire)[end].node;
  const u64 beat = testbed_.node(i).hca.config().icrc_unit.beat_bytes;
  for (u64 bytes = beat + 1; bytes <= blocks::PacketPool::kFrameCapacity; bytes += beat)
    if (beats_of(i, bytes) > testbed_.time_on_link(wire, end, bytes)) return true;
  return false;
}

// For a chip that may be slower than its link: the beats that it sends and receives.
void RunRecorder::add_slow_core(unsigned wire, unsigned end) {
  if (!may_be_slow(wire, end)) return;
  const NodePort& at_end = testbed_.ends_of_wire(wire)[end];
  const unsigned i = at_end.node;
  const std::string of = testbed_.name_of_port(at_end);
  const std::size_t out =
      add_resource("core", fmt::format("hca{} core datapath, transmit{}", i, of), "core", 1,
                   "icrc_unit.beat_bytes, core.clock");
  const std::size_t in = add_resource("core", fmt::format("hca{} core datapath, receive{}", i, of),
                                      "core", 1, "icrc_unit.beat_bytes, core.clock");
  const auto listen = [this, i](unsigned from, std::size_t resource) {
    return [=, this](u8 sender, sc_core::sc_time at, const proto::FrameView& frame) {
      const u64 time = beats_of(i, frame.size());
      if (sender == from) use(resource, at.value(), at.value() + time, double(time));
    };
  };
  testbed_.wire(wire).add_entry_tap(listen(end, out));
  testbed_.wire(wire).add_tap(listen(other_end(end), in));
}

void RunRecorder::add_levels(unsigned i) {
  Chip& chip = chips_[i];
  chip.recorder = this;
  chip.domain = &testbed_.node(i).hca.domain();
  chip.period = testbed_.node(i).hca.period().value();
  std::vector<std::string>& names = chip.names;
  for (const engine::Watched& watched : chip.domain->watched()) {
    const engine::Level level = watched.level(watched.object);
    const std::string block = chip.domain->name_of(level.owner);
    const auto at = std::find(names.begin(), names.end(), block);
    chip.blocks.push_back(std::size_t(at - names.begin()));
    if (at == names.end()) {
      names.push_back(block);
      chip.block_columns.push_back(
          series_.add_column({fmt::format("blocks of hca{}", i), block, "%", 100, 1}));
    }
    chip.level_columns.push_back(series_.add_column(
        {fmt::format("queues of hca{}", i), fmt::format("{}: {}", block, level.object), "items"}));
    chip.resources.push_back(std::string_view(level.object).ends_with(blocks::kMissesName)
                                 ? add_resource("caches", fmt::format("hca{} {}", i, level.object),
                                                "misses", level.of, knobs_of_cache(level.object))
                                 : kNoResource);
  }
  chip.samples = SampleTimes(chip.period);
  for (std::vector<u64>* of_watched : {&chip.levels, &chip.held})
    of_watched->resize(chip.level_columns.size());
  chip.work.resize(names.size());
  chip.worked.resize(names.size());
  chip.waited.resize(names.size());
  chip.domain->sample(&chip, [](void* who, Cycle at) {
    Chip& c = *static_cast<Chip*>(who);
    c.recorder->look(c, at);
    return c.samples.next();
  });
}

void RunRecorder::add_engines(unsigned i) {
  testbed_.node(i).hca.chip().for_each_engines(
      [&](const char* block, const blocks::Engines& engines) {
        for (unsigned e = 0; e < engines.count(); ++e)
          chips_[i].engines.push_back(
              {&engines, e,
               add_resource("engines", fmt::format("hca{} {} engine {}", i, block, e), "engine", 1,
                            std::string(block) + ".engine_interval")});
      });
}

// Blocks that take an item in each cycle limit nothing. Look-ups have an interval at each of
// several ports, which their events do not show: add_counted().
void RunRecorder::add_paces(unsigned i) {
  Chip& chip = chips_[i];
  const Hca& hca = testbed_.node(i).hca;
  engine::ProbeHub& hub = testbed_.node(i).hca.probes();
  const unsigned ports = hca.config().core.ports;
  // A block may record its events by several probes.
  const auto add = [&](u16 block, blocks::Step step, Cycle interval, const char* direction) {
    const std::string name = fmt::format("hca{} {}{}", i, hub.name(block), direction);
    const auto same = std::ranges::find_if(
        chip.paces, [&](const Chip::Pace& p) { return resources_[p.resource].name == name; });
    const std::size_t resource = same != chip.paces.end()
                                     ? same->resource
                                     : add_resource("intervals", name, "interval", 1,
                                                    std::string(hub.name(block)) + ".interval");
    chip.paces.push_back({block, u16(step), interval, resource});
  };
  const auto add_block = [&]<class Config>(const Config& config, const std::string& name) {
    constexpr bool kPort = std::is_same_v<Config, blocks::PortConfig>;
    constexpr bool kBothWays = kPort || std::is_same_v<Config, blocks::IcrcUnitConfig>;
    for (u16 b = 0; b < hub.blocks(); ++b) {
      if (hub.name(b) != name) continue;
      add(b, blocks::Step::Passed, config.interval, kBothWays ? " transmit" : "");
      if (kBothWays)
        add(b, kPort ? blocks::Step::Arrived : blocks::Step::Received, config.interval, " receive");
    }
  };
  unsigned port = 0;  // of the next PortConfig
  blocks::for_each_block_config(hca.config(), [&]<class Config>(const Config& config) {
    constexpr bool kLookUp = std::is_same_v<Config, blocks::QpContextConfig> ||
                             std::is_same_v<Config, blocks::ProtectionConfig>;
    // Not all writes that it takes have an event: they are counted.
    constexpr bool kCounted = std::is_same_v<Config, blocks::DoorbellConfig>;
    if constexpr (requires { config.interval; } && !kLookUp && !kCounted) {
      const std::string_view name = engine::Knobs<Config>::block;
      const bool paced = config.interval > 1;
      if constexpr (std::is_same_v<Config, blocks::PortConfig>) {
        if (paced && port < ports) add_block(config, blocks::port_block_name(ports, port, name));
        ++port;
      } else if (paced) {
        add_block(config, std::string(name));
        for (unsigned of = 0; of < ports && ports > 1; ++of)
          add_block(config, blocks::port_block_name(ports, of, name));
      }
    }
  });
  if (chip.paces.empty()) return;
  chip.pace_of.resize(hub.blocks() * blocks::kStepNames.size());
  for (std::size_t p = 0; p < chip.paces.size(); ++p)
    chip.pace_of[chip.paces[p].block * blocks::kStepNames.size() + chip.paces[p].kind] = u8(p + 1);
  hub.attach(chip);
}

bool RunRecorder::Chip::wants(std::string_view block) const {
  const engine::ProbeHub& hub = recorder->testbed_.node(pcie.chip).hca.probes();
  return std::ranges::any_of(paces, [&](const Pace& p) { return hub.name(p.block) == block; });
}

void RunRecorder::Chip::event(const engine::Event& event) {
  const std::size_t at = event.block * blocks::kStepNames.size() + event.kind;
  if (at < pace_of.size() && pace_of[at]) ++paces[pace_of[at] - 1u].items;
}

// A chip has done the same work in all ways to run, but is not always in the same cycle: its levels
// count up to its last work.
void RunRecorder::phase(const std::string& what, bool begins) {
  const u64 now = kernel_picoseconds();
  for (Chip& chip : chips_) {
    testbed_.node(chip.pcie.chip).pcie().tell_use();
    look(chip, chip.domain->now(), chip.domain->worked_at());
    while (chip.samples.next() * chip.period <= now) pass_sample(chip);  // of a chip that sleeps
    part_of_bucket(chip, now);
    chip.held_until = (now + chip.period - 1) / chip.period;
  }
  taken_.hand_on_until(~u64{0});
  recording_ = begins;
  peaks_.part(what, begins);
  if (begins) {
    for (Resource& r : resources_) r.busy = 0;
    for (Chip& chip : chips_) std::fill(chip.waited.begin(), chip.waited.end(), 0);
    recording_since_ = now;
    phases_.push_back({what, recording_since_, 0});
    first_post_ = false;
    last_completion_ = 0;
    begin_stalls();
    return;
  }
  Phase& p = phases_.back();
  p.to = std::max(last_completion_ ? last_completion_ : now, p.from + 1);
  const double time = double(p.to - p.from);
  for (const Resource& r : resources_)
    p.uses.push_back({r.name, r.kind, std::min(1.0, r.picoseconds() / time / r.of), r.knob});
  // The busiest core limits its threads, however many others the host has.
  for (const Core& core : cores_) {
    const u64 busiest = core.busy.empty() ? 0 : *std::ranges::max_element(core.busy);
    p.uses[core.work].share = std::min(1.0, double(busiest) / time);
    p.uses[core.work].knob = knobs_of_core(core.chip);
  }
  end_stalls(p);
  end_depth(p);
  end_atomics(p);
  end_losses(p);
  p.may_limit = may_limit(p);
  p.limits = limits_of(p.may_limit);
  std::ranges::stable_sort(p.may_limit, std::ranges::greater{}, &Use::share);
  for (unsigned i = 0; i < chips_.size(); ++i)
    for (std::size_t b = 0; b < chips_[i].names.size(); ++b)
      p.blocks.push_back({fmt::format("hca{} {}", i, chips_[i].names[b]), "block",
                          std::min(1.0, double(chips_[i].waited[b]) / time)});
  for (std::vector<Use>* uses : {&p.uses, &p.blocks})
    std::stable_sort(uses->begin(), uses->end(),
                     [](const Use& a, const Use& b) { return a.share > b.share; });
}
}  // namespace hca::testbench
