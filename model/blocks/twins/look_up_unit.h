// SPDX-License-Identifier: Apache-2.0
// A block between links whose items need contexts that come late, and perhaps a region each. Those
// that read and write contexts and have an RTL twin are made of it.
//
// Contract
//   An item enters with its first beat when one of `slots` is free, which it keeps up to the
//   cycle in which it starts into the stages behind. Last beat in n: its context is asked for in
//   n + 1, its region, if it names one, in the cycle behind its context's answer; answers come in
//   the order of the asks, one a cycle, in the cycle behind the ask or later. It starts, in order,
//   one a cycle, in the cycle behind its last answer or later, when there is room for its result
//   behind the unit, which leaves `latency` cycles after.
//   One that is let fall keeps its slot up to its last beat and leaves nothing.
//   An item sees what all in front of it did to its context (forward).
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>
#include <string>

#include "model/engine/domain.h"
#include "model/engine/link.h"
#include "model/engine/probe.h"
#include "model/engine/rate.h"

namespace hca::blocks {
struct LookUpUnitConfig {
  engine::Cycle latency = 1;   // cycles, start into the stages to result, at least 1
  engine::Cycle interval = 1;  // cycles, start to start, at least 1
  u32 beat_bytes = 64;         // bytes a cycle
  u32 slots = 8;
};

// Item has
//   kUnit, kLatency   the unit's name; its latency as the RTL has it
//   falls()           it leaves nothing
//   bytes_in()        as it enters; without bytes it takes a beat too
//   number(), key()   of its context, and of its region; key 0: it has none
//   context_late, region_late   cycles that the answers come later
//   process()         what is done to it
template <class Item>
class LookUpUnit : public engine::Block {
 public:
  struct Config : LookUpUnitConfig {
    Config() { latency = Item::kLatency; }
  };
  // Events of its probe. Leaves, falls: what entered, in its order; in the cycle of its result, or
  // in any. Asks: in the cycle of the ask, with number and key.
  enum class Kind : u16 { Leaves, Falls, AsksContext, AsksRegion };
  static constexpr std::array<std::string_view, 4> kKinds{"leaves", "falls", "asks_context",
                                                          "asks_region"};
  static constexpr bool kHasRoom = true;  // takes an item without room behind

  using PacketLink = engine::Link<Item, 8>;
  struct Links {
    PacketLink* packets_in = nullptr;
    PacketLink* packets_out = nullptr;  // its latency is part of the unit's
  };
  LookUpUnit(const Config& config, const Links& links, engine::Probe probe = {})
      : config_(config),
        links_(links),
        beats_(engine::Rate(8 * config.beat_bytes, 1)),
        probe_(probe) {
    if (config.latency < links.packets_out->latency() || !config.interval || !config.slots)
      throw std::invalid_argument(
          std::string(Item::kUnit) +
          ": latency is the latency of packets_out or more, interval and slots are 1 or more");
  }

  [[gnu::noinline]] void tick() {
    const bool takes = open();  // room that a start makes now counts from the next cycle on
    start();
    if (takes) accept();
    if (!waiting_.empty()) wake_at(now() + 1);
  }
  engine::Cycle beats(u32 bytes) { return bytes ? beats_.cycles_for(bytes) : 1; }
  bool open() const { return free_from_ <= now() && used(now()) < config_.slots; }
  u64 packets() const { return started_; }  // into the stages

 private:
  struct Waiting {
    Item item;
    engine::Cycle ready = 0;  // its answers are here; one that falls: its last beat has been
  };
  // In the cycle `at`: one that falls is here no more behind its last beat.
  u32 used(engine::Cycle at) const {
    return u32(std::count_if(waiting_.begin(), waiting_.end(),
                             [&](const Waiting& w) { return !w.item.falls() || at < w.ready; }));
  }
  // The oldest goes into the stages.
  void start() {
    while (!waiting_.empty() && waiting_.front().item.falls() && waiting_.front().ready <= now()) {
      probe_.event(now(), Kind::Falls);
      waiting_.pop_front();
    }
    if (waiting_.empty() || waiting_.front().item.falls()) return;
    if (std::max(waiting_.front().ready, starts_from_) > now() || !links_.packets_out->can_push())
      return;
    const Item& item = waiting_.front().item;
    item.process();
    probe_.event(now() + config_.latency, Kind::Leaves, item.number());
    links_.packets_out->push(item, 1, config_.latency - links_.packets_out->latency());
    starts_from_ = now() + config_.interval;
    ++started_;
    waiting_.pop_front();
  }
  void accept() {
    if (!links_.packets_in->can_pop()) return;
    const engine::Cycle taken = beats(links_.packets_in->front().bytes_in());
    Waiting w{links_.packets_in->pop(taken), now() + taken};
    free_from_ = now() + taken;
    if (!w.item.falls()) {
      const engine::Cycle asks = now() + taken;  // behind the last beat
      probe_.event(asks, Kind::AsksContext, w.item.number());
      const engine::Cycle answer = std::max(asks + 1 + w.item.context_late, context_free_);
      context_free_ = answer + 1;
      w.ready = answer + 1;
      if (const u32 key = w.item.key()) {
        probe_.event(answer + 1, Kind::AsksRegion, key);
        const engine::Cycle region = std::max(answer + 2 + w.item.region_late, region_free_);
        region_free_ = region + 1;
        w.ready = region + 1;
      }
    }
    waiting_.push_back(w);
  }

  Config config_;
  Links links_;
  engine::Meter beats_;
  engine::Probe probe_;
  std::deque<Waiting> waiting_;  // in their order
  engine::Cycle free_from_ = 0, starts_from_ = 0;
  engine::Cycle context_free_ = 0, region_free_ = 0;  // the next answer's first cycle
  u64 started_ = 0;
};
}  // namespace hca::blocks
