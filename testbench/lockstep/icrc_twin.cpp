// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_twin.h"

namespace hca::testbench {
using blocks::IcrcItem;
using engine::Waker;

IcrcTwin::IcrcTwin(u64 seed, const blocks::IcrcUnitConfig& config, u32 rooms, const Stalls& stalls)
    : stimulus_(seed),
      packets_out_(rooms, 1),
      sink_(stalls),
      unit_(config, {&packets_in_, &packets_out_},
            probes_.add("icrc_unit", blocks::IcrcUnit::kKinds)) {
  observer_.twin = source_.twin = sink_.twin = this;
  const auto add = [&](auto& block, const char* name) {
    block.self = Waker{&domain_, domain_.add(block, name)};
    return block.self;
  };
  add(observer_, "observer");  // in the order of ticks
  const Waker source = add(source_, "source"), unit = add(unit_, "icrc_unit"),
              sink = add(sink_, "sink");
  packets_in_.connect(source, unit, "packets_in");
  packets_out_.connect(unit, sink, "packets_out");
  probes_.attach(*this);
  domain_.wake_next(observer_.self.block | source_.self.block);
}

void IcrcTwin::Observer::tick() {
  room_behind = twin->packets_out_.can_push();
  open = twin->unit_.free_from() <= now();
  packets_before = twin->unit_.packets();
  wake_at(now() + 1);
}

void IcrcTwin::Source::tick() {
  if (!next)
    next = std::make_shared<IcrcPacket>(twin->stimulus_.next()),
    at = std::max(at, now()) + next->gap;
  if (now() < at) return wake_at(at);
  if (!twin->packets_in_.can_push()) return;
  const auto beats = twin->unit_.beats(u32(next->sent.size()));
  twin->packets_in_.push(
      IcrcItem{next->frame.data(), u32(next->sent.size()), next->mode, next->framing, next->vlan},
      beats);
  twin->offers.push_back({next, now() + twin->packets_in_.latency()});
  twin->inside_.push_back(std::move(next));
  next.reset();
  at = now() + beats;
  wake_at(at);
}

void IcrcTwin::Sink::tick() {
  if (!twin->packets_out_.can_pop()) return;
  if (stalls(now())) return wake_at(now() + 1);
  twin->packets_out_.pop(twin->unit_.beats(twin->packets_out_.front().bytes));
}

void IcrcTwin::event(const engine::Event& e) {
  outputs.push_back({std::move(inside_.front()), e.at, u32(e.a), bool(e.b & 1), bool(e.b & 2)});
  inside_.pop_front();
}
}  // namespace hca::testbench
