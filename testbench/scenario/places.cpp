// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/places.h"

#include "model/engine/random.h"

namespace hca::testbench {
namespace {
u64 step_of(const Traffic& t, u64 bytes) {
  return t.address == AddressOrder::Strided ? t.stride : bytes;
}
bool is_random(const Traffic& t) { return t.address == AddressOrder::Random; }
// One of `choices`, each as likely; the same for the same `use` of a slot.
u64 drawn(u64 seed, u64 slot, u64 use, u64 choices) {
  u64 state = seed ^ (slot << 40 | use) * 0xd1342543de82ef95;
  engine::split_mix(state);
  return u64(engine::u128{engine::split_mix(state)} * choices >> 64);
}
// Shared places are those of all threads: drawn by the same seed.
Places served_places(const Traffic& t) {
  Traffic shared = t;
  if (t.read_addresses) shared.seed = t.shared_seed;
  return {shared, t.slot(), t.served()};
}
}  // namespace

BufferKinds kinds_of(const Traffic& t) {
  BufferKinds kinds{};
  kinds[std::size_t(BufferKind::Local)] = true;
  kinds[std::size_t(BufferKind::Target)] =
      t.has([](const OperationRow& r) { return r.writes || r.flushes; });
  kinds[std::size_t(BufferKind::Served)] = t.has([](const OperationRow& r) { return r.is_read(); });
  kinds[std::size_t(BufferKind::Received)] =
      t.has([](const OperationRow& r) { return r.takes_receive; });
  kinds[std::size_t(BufferKind::Numbers)] =
      t.has([](const OperationRow& r) { return r.is_atomic(); });
  return kinds;
}

Places::Places(const Traffic& t, u64 bytes, u64 ring)
    : ring_(ring),
      step_(t.working_set ? step_of(t, bytes) : bytes),
      region_bytes_(t.working_set ? t.working_set / t.regions : ring * bytes),
      region_places_(region_bytes_ < bytes ? 0 : (region_bytes_ - bytes) / step_ + 1),
      regions_(t.working_set ? t.regions : 1),
      random_(t.working_set && is_random(t)),
      seed_(t.seed) {}

u64 Places::turn(u64 slot, u64 use) const {
  const u64 uses = count() / ring_;
  if (!random_) return use % uses * ring_ + slot;
  return drawn(seed_ ^ 0xc2b2ae3d27d4eb4f, slot, use, uses) * ring_ + slot;
}

u64 Places::least_bytes(const Traffic& t, u64 bytes, u64 ring) {
  const u64 places = is_random(t) ? 2 * ring : ring;  // a slot with one place has no choice
  const u64 in_region = (places + t.regions - 1) / t.regions;
  return t.regions * ((in_region - 1) * step_of(t, bytes) + bytes);
}

Places receive_places(const Traffic& t) { return {t, t.slot(), u64{t.qps} * t.receive_depth}; }
Places number_places(const Traffic& t) { return {t, kAtomicNumberBytes, t.atomic_numbers()}; }

FlightPlaces::FlightPlaces(const Traffic& t)
    : places_(t, t.slot(), u64{t.qps} * t.depth),
      qps_(t.qps),
      depth_(t.depth),
      share_(places_.count() / t.qps),
      random_(t.working_set && is_random(t)) {}

ServedPlaces::ServedPlaces(const Traffic& t)
    : flights_(t),
      places_(served_places(t)),
      shared_(t.read_addresses),
      seed_(t.seed ^ 0x9fb21c651e98df25) {}

u64 ServedPlaces::of(u32 qp, u64 k) const {
  if (!shared_) return flights_.of(qp, k);
  return places_.turn(drawn(seed_, qp, k, shared_), 0);
}
}  // namespace hca::testbench
