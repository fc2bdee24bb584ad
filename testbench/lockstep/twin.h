// SPDX-License-Identifier: Apache-2.0
// The C++ side of the lockstep: source, the block's PacketUnit and sink on a clock of their own,
// and a record of each cycle.
#pragma once
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "model/blocks/twins/packet_unit.h"
#include "testbench/lockstep/given_frames.h"
#include "testbench/lockstep/random_packets.h"
#include "testbench/lockstep/stalls.h"

namespace hca::testbench {
// Pair: see lockstep.h.
template <class Pair>
typename Pair::Stimulus make_stimulus(u64 seed, const GivenFrames& given, Rotation& turns) {
  using Stimulus = typename Pair::Stimulus;
  if constexpr (std::is_constructible_v<Stimulus, u64, GivenFrames, Rotation&>)
    return Stimulus(seed, given, turns);
  else if constexpr (std::is_constructible_v<Stimulus, u64, GivenFrames>)
    return Stimulus(seed, given);
  else
    return Stimulus(seed);
}

template <class Pair>
class Twin : engine::ProbeSink {
 public:
  using Packet = typename Pair::Packet;
  using Unit = typename Pair::Unit;

  Twin(u64 seed, const GivenFrames& given, Rotation& turns, const typename Unit::Config& config,
       u32 rooms, const Stalls& stalls)
      : stimulus_(make_stimulus<Pair>(seed, given, turns)),
        packets_out_(rooms, 1),
        sink_(stalls),
        unit_(config, {&packets_in_, &packets_out_}, probes_.add("unit", Unit::kKinds)) {
    observer_.twin = source_.twin = sink_.twin = this;
    const auto add = [&](auto& block, const char* name) {
      block.self = engine::Waker{&domain_, domain_.add(block, name)};
      return block.self;
    };
    add(observer_, "observer");  // in the order of ticks
    const engine::Waker source = add(source_, "source"), unit = add(unit_, "unit"),
                        sink = add(sink_, "sink");
    packets_in_.connect(source, unit, "packets_in");
    packets_out_.connect(unit, sink, "packets_out");
    probes_.attach(*this);
    domain_.wake_next(observer_.self.block | source_.self.block);
  }
  void run_cycle(engine::Cycle at) { domain_.run_until(at + 1); }

  // State at the begin of the last cycle.
  bool room_behind() const { return observer_.room_behind; }
  bool open() const { return observer_.open; }  // may start, if there is room after the unit
  bool grants() const { return open() && (Unit::kHasRoom || room_behind()); }
  bool started() const { return unit_.packets() != observer_.packets_before; }

  // Packets on offer before the unit, including those of the next cycle; the driver of the RTL's
  // pins removes them.
  struct Offer {
    std::shared_ptr<Packet> packet;
    engine::Cycle from;
  };
  std::deque<Offer> offers;
  // A packet that left the unit; it holds its own result.
  struct Output {
    std::shared_ptr<Packet> packet;
    engine::Cycle first_beat;
  };
  std::deque<Output> outputs;  // removed by the comparison
  // Look-up requests of the unit; the comparison removes them.
  struct Ask {
    engine::Cycle at;
    u64 number;
  };
  std::deque<Ask> context_asks, region_asks;

 private:
  struct Observer : engine::Block {  // samples each cycle before the others act
    Twin* twin = nullptr;
    bool room_behind = false, open = false;
    u64 packets_before = 0;
    void tick() {
      room_behind = twin->packets_out_.can_push();
      open = twin->unit_.open();
      packets_before = twin->unit_.packets();
      wake_at(now() + 1);
    }
  };
  struct Source : engine::Block {
    Twin* twin = nullptr;
    std::shared_ptr<Packet> next;
    engine::Cycle at = 0;
    [[gnu::noinline]] void tick() {
      if (!next) {
        next = std::make_shared<Packet>(twin->stimulus_.next());
        at = std::max(at, now()) + next->gap;
      }
      if (next->alone) at = std::max(at, twin->empty_from(now()));
      if (now() < at) return wake_at(at);
      if (!twin->packets_in_.can_push()) return;
      const auto beats = twin->unit_.beats(u32(next->bytes_sent));
      twin->packets_in_.push(Pair::item_of(*next), beats);
      twin->offers.push_back({next, now() + twin->packets_in_.latency()});
      twin->inside_.push_back(std::move(next));
      next.reset();
      at = now() + beats;
      wake_at(at);
    }
  };
  struct Sink : engine::Block {
    Twin* twin = nullptr;
    Stalls stalls;
    explicit Sink(const Stalls& s) : stalls(s) {}
    void tick() {
      if (!twin->packets_out_.can_pop()) return;
      if (stalls(now())) return wake_at(now() + 1);
      twin->packets_out_.pop(twin->unit_.beats(twin->packets_out_.front().bytes_out()));
    }
  };
  void event(const engine::Event& e) override {
    using Kind = typename Unit::Kind;
    left_ = e.at;
    if constexpr (requires { Kind::AsksContext; }) {
      if (Kind(e.kind) == Kind::AsksContext) return context_asks.push_back({e.at, e.a});
      if (Kind(e.kind) == Kind::AsksRegion) return region_asks.push_back({e.at, e.a});
      if (Kind(e.kind) == Kind::Falls) return inside_.pop_front();
    }
    Pair::take_result(*inside_.front(), e);
    outputs.push_back({std::move(inside_.front()), e.at});
    inside_.pop_front();
  }

  // The cycle from which all packets that are inside now have left, in the RTL too; evaluated again
  // then.
  engine::Cycle empty_from(engine::Cycle now) const {
    constexpr engine::Cycle kAlone = 64;  // more than from the first to the last beat out
    return inside_.empty() ? left_ ? *left_ + kAlone : 0 : now + kAlone;
  }

  typename Pair::Stimulus stimulus_;
  engine::Domain domain_{engine::Domain::Options{}};
  typename Unit::PacketLink packets_in_{2, 1}, packets_out_;
  engine::ProbeHub probes_;
  Observer observer_;
  Source source_;
  Sink sink_;
  Unit unit_;
  std::deque<std::shared_ptr<Packet>> inside_;  // pushed, not yet left
  std::optional<engine::Cycle> left_;           // the first beat of the last packet that left
};
}  // namespace hca::testbench
