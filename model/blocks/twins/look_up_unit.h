// SPDX-License-Identifier: Apache-2.0
// A block between links whose items need contexts that arrive late, and perhaps a region each. The
// blocks that read and write contexts and have an RTL twin are built from it.
//
// Contract
//   An item enters with its first beat when one of `slots` is free, and keeps the slot until it
//   starts into the stages. With its last beat in n, its context is requested in n + 1, and its
//   region, if it names one, in the cycle after the context's answer. Answers come in the order of
//   the requests, one a cycle, at the earliest in the cycle after the request.
//   The item starts, in order, one a cycle, at the earliest in the cycle after its last answer,
//   when there is room for its result after the unit. The result leaves `latency` cycles later.
//   A dropped item keeps its slot up to its last beat and produces no result.
//   An item sees the effect of all earlier items on its context (forward).
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
//   kUnit, kLatency   the unit's name; its latency in the RTL
//   falls()           true: the item is dropped
//   bytes_in()        bytes at the input; an item without bytes takes one beat too
//   number(), key()   of its context, and of its region; key 0: no region
//   context_late, region_late   extra cycles of the answers
//   process()         transforms the item
template <class Item>
class LookUpUnit : public engine::Block {
 public:
  struct Config : LookUpUnitConfig {
    Config() { latency = Item::kLatency; }
  };
  // Events of its probe. Leaves, Falls: an item, in order of entry; Leaves in the cycle of its
  // result, Falls in any cycle. Asks: in the cycle of the request, with number and key.
  enum class Kind : u16 { Leaves, Falls, AsksContext, AsksRegion };
  static constexpr std::array<std::string_view, 4> kKinds{"leaves", "falls", "asks_context",
                                                          "asks_region"};
  static constexpr bool kHasRoom = true;  // takes an item without room at its output

  using PacketLink = engine::Link<Item, 8>;
  struct Links {
    PacketLink* packets_in = nullptr;
    PacketLink* packets_out = nullptr;  // its latency belongs to the unit
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
    const bool takes = open();  // room made by a start in this cycle counts from the next cycle on
    start();
    if (takes) accept();
    if (!waiting_.empty()) wake_at(now() + 1);
  }
  engine::Cycle beats(u32 bytes) { return bytes ? beats_.cycles_for(bytes) : 1; }
  bool open() const { return free_from_ <= now() && used(now()) < config_.slots; }
  u64 packets() const { return started_; }  // started into the stages

 private:
  struct Waiting {
    Item item;
    // its answers have arrived; for a dropped item: its last beat has passed
    engine::Cycle ready = 0;
  };
  // Slots in use in cycle `at`: a dropped item frees its slot after its last beat.
  u32 used(engine::Cycle at) const {
    return u32(std::count_if(waiting_.begin(), waiting_.end(),
                             [&](const Waiting& w) { return !w.item.falls() || at < w.ready; }));
  }
  // The oldest item starts into the stages.
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
      const engine::Cycle asks = now() + taken;  // after the last beat
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
  std::deque<Waiting> waiting_;  // in order
  engine::Cycle free_from_ = 0, starts_from_ = 0;
  engine::Cycle context_free_ = 0, region_free_ = 0;  // earliest cycle of the next answer
  u64 started_ = 0;
};
}  // namespace hca::blocks
