// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/buffers.h"

namespace hca::testbench {
namespace {
const WorkingSet* set_of(const Endpoint& end, const Traffic& t) {
  return t.working_set ? &end.working_set(t.working_set, t.regions) : nullptr;
}
}  // namespace

Buffers::Buffers(const Endpoint& end, const Traffic& traffic, const Endpoint& shared)
    : end_(end),
      shared_(traffic.read_addresses ? shared : end),
      set_(set_of(end, traffic)),
      shared_set_(set_of(shared_, traffic)),
      layout_(traffic),
      flights_(traffic),
      served_(traffic),
      receives_(receive_places(traffic)),
      numbers_(number_places(traffic)) {}

Buffer Buffers::at(BufferKind kind, const Home& home, const Places& places, u64 place) {
  const Mr& ring = home.ring;
  if (!home.set) return {ring.addr + home.begin + places.offset(place), ring.lkey, ring.rkey};
  const WorkingSet::Memory& memory = home.set->of(kind);
  const Mr& mr = memory.regions[places.region(place)];
  return {memory.address + places.offset(place), mr.lkey, mr.rkey};
}

Buffer Buffers::local(const Message& m, u32 qp, u64 k) const {
  const bool fetches = m.row().fetches();
  const Home home =
      fetches ? Home{set_, end_.fetch_mr, layout_.fetched()} : Home{set_, end_.send_mr, 0};
  return at(BufferKind::Local, home, flights_.places(), flights_.of(qp, k));
}
Buffer Buffers::target(u32 qp, u64 k) const {
  return at(BufferKind::Target, {set_, end_.recv_mr, 0}, flights_.places(), flights_.of(qp, k));
}
Buffer Buffers::served(u32 qp, u64 k) const {
  return at(BufferKind::Served, {shared_set_, shared_.fetch_mr, 0}, served_.places(),
            served_.of(qp, k));
}
Buffer Buffers::received(u64 slot, u64 use) const {
  return at(BufferKind::Received, {set_, end_.recv_mr, layout_.received()}, receives_,
            receives_.turn(slot, use));
}
Buffer Buffers::number(u32 number) const {
  return at(BufferKind::Numbers, {set_, end_.fetch_mr, layout_.numbers()}, numbers_,
            numbers_.turn(number, 0));
}

u64 Buffers::targets() const {
  return set_ ? set_->of(BufferKind::Target).address : end_.recv_mr.addr;
}
u64 Buffers::target_bytes() const { return set_ ? set_->bytes : layout_.flight_bytes(); }
}  // namespace hca::testbench
