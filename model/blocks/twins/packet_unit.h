// SPDX-License-Identifier: Apache-2.0
// A block that transforms whole packets between two links, a beat a cycle. The blocks that have an
// RTL twin are built from it.
//
// Contract
//   A packet that starts in cycle n leaves with its first beat in n + latency, for every length. It
//   moves one beat a cycle. Packets run back to back; from start to start pass at least `interval`
//   cycles, and at least the beats of the packet at the output. The unit has no buffer: a packet
//   enters when there is room for it in the next block, reserved at its start, so nothing stalls
//   inside.
#pragma once
#include <stdexcept>
#include <string>

#include "model/engine/domain.h"
#include "model/engine/link.h"
#include "model/engine/probe.h"
#include "model/engine/rate.h"
#include "model/engine/stage.h"

namespace hca::blocks {
// Item has
//   kUnit       the unit's name
//   process()   transforms the packet
//   bytes_out() bytes of the packet at the output, for the count of beats; valid after process()
//   told()      three numbers for the probe
// UnitConfig has `latency` and `interval`, cycles, at least 1, and `beat_bytes`, bytes a cycle.
template <class Item, class UnitConfig>
class PacketUnit : public engine::Block {
 public:
  // Events of its probe. Leaves: in the cycle of the first beat at the output, with the numbers of
  // told().
  enum class Kind : u16 { Leaves };
  static constexpr std::array<std::string_view, 1> kKinds{"leaves"};

  using Config = UnitConfig;
  using PacketLink = engine::Link<Item, 8>;
  struct Links {
    PacketLink* packets_in = nullptr;
    PacketLink* packets_out = nullptr;  // its latency belongs to the unit
  };

  // Links may be null if only `pass` is used.
  PacketUnit(const Config& config, const Links& links, engine::Probe probe = {})
      : stage_(config.latency, at_least_one("interval", config.interval)),
        beats_(engine::Rate(8 * at_least_one("beat_bytes", config.beat_bytes), 1)),
        config_(config),
        links_(links),
        probe_(probe) {
    const engine::Cycle least = links.packets_out ? links.packets_out->latency() : 1;
    require(config.latency >= least, "latency", config.latency,
            "the latency of packets_out or more");
  }

  // ---- time ----
  // A packet without bytes takes one beat too.
  engine::Cycle beats(u32 bytes) { return bytes ? beats_.cycles_for(bytes) : 1; }
  // A packet with this many bytes at the output wants to start in `at`. Returns the cycle in which
  // its first beat leaves.
  engine::Cycle pass(engine::Cycle at, u32 bytes_out) { return stage_.enter(at, beats(bytes_out)); }
  // The earliest cycle in which a packet may start, if the next block has room.
  engine::Cycle free_from() const { return stage_.free_from(); }
  bool open() const { return free_from() <= now(); }
  static constexpr bool kHasRoom = false;

  // ---- block between links ----
  [[gnu::noinline]] void tick() {
    if (!links_.packets_in->can_pop() || !links_.packets_out->can_push()) return;
    Item item = links_.packets_in->front();
    item.process();
    const engine::Cycle out_beats = beats(item.bytes_out()), leaves = pass(now(), item.bytes_out());
    const std::array<u64, 3> told = item.told();
    probe_.event(leaves, Kind::Leaves, told[0], told[1], told[2]);
    links_.packets_in->pop(std::max(config_.interval, out_beats));
    links_.packets_out->push(item, out_beats, leaves - now() - links_.packets_out->latency());
    ++packets_;
  }
  u64 packets() const { return packets_; }

 private:
  static void require(bool holds, const char* knob, u64 value, const char* range) {
    if (holds) return;
    throw std::invalid_argument(std::string(Item::kUnit) + "." + knob + " is " +
                                std::to_string(value) + ", allowed is " + range);
  }
  static u64 at_least_one(const char* knob, u64 value) {
    require(value >= 1, knob, value, "1 or more");
    return value;
  }

  engine::Stage stage_;
  engine::Meter beats_;
  Config config_;
  Links links_;
  engine::Probe probe_;
  u64 packets_ = 0;
};
}  // namespace hca::blocks
