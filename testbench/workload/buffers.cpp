// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/buffers.h"

namespace hca::testbench {
Buffers::Buffers(const Endpoint& end, const Traffic& traffic)
    : end_(end),
      set_(traffic.working_set ? &end.working_set(traffic.working_set, traffic.regions) : nullptr),
      layout_(traffic),
      flights_(traffic),
      receives_(receive_places(traffic)),
      numbers_(number_places(traffic)) {}

Buffer Buffers::at(BufferKind kind, const Mr& ring, u64 begin, const Places& places,
                   u64 place) const {
  if (!set_) return {ring.addr + begin + places.offset(place), ring.lkey, ring.rkey};
  const WorkingSet::Memory& memory = set_->of(kind);
  const Mr& mr = memory.regions[places.region(place)];
  return {memory.address + places.offset(place), mr.lkey, mr.rkey};
}

Buffer Buffers::local(const Message& m, u32 qp, u64 k) const {
  const bool fetches = m.row().fetches();
  return at(BufferKind::Local, fetches ? end_.fetch_mr : end_.send_mr,
            fetches ? layout_.fetched() : 0, flights_.places(), flights_.of(qp, k));
}
Buffer Buffers::target(u32 qp, u64 k) const {
  return at(BufferKind::Target, end_.recv_mr, 0, flights_.places(), flights_.of(qp, k));
}
Buffer Buffers::served(u32 qp, u64 k) const {
  return at(BufferKind::Served, end_.fetch_mr, 0, flights_.places(), flights_.of(qp, k));
}
Buffer Buffers::received(u64 slot, u64 use) const {
  return at(BufferKind::Received, end_.recv_mr, layout_.received(), receives_,
            receives_.turn(slot, use));
}
Buffer Buffers::number(u32 number) const {
  return at(BufferKind::Numbers, end_.fetch_mr, layout_.numbers(), numbers_,
            numbers_.turn(number, 0));
}

u64 Buffers::targets() const {
  return set_ ? set_->of(BufferKind::Target).address : end_.recv_mr.addr;
}
u64 Buffers::target_bytes() const { return set_ ? set_->bytes : layout_.flight_bytes(); }
}  // namespace hca::testbench
