// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/host/buffer_kind.h"
#include "testbench/scenario/layout.h"

namespace hca::testbench {
// The kinds of buffers that the two ends of traffic use.
using BufferKinds = std::array<bool, kBufferKinds>;
BufferKinds kinds_of(const Traffic& traffic);

// The places of the buffers of one kind: as many as fit the regions of a working set. A buffer lies
// in one region. Without a working set there are as many as are in use at one time, the ring.
class Places {
 public:
  // `bytes`: of each buffer. `ring`: buffers in use at one time.
  Places(const Traffic& traffic, u64 bytes, u64 ring);
  u64 count() const { return region_places_ * regions_; }
  u32 region(u64 place) const { return u32(place / region_places_); }
  // The offset of a place in all regions together.
  u64 offset(u64 place) const {
    return place / region_places_ * region_bytes_ + place % region_places_ * step_;
  }
  // The last place that does not begin after this offset; one beyond all for an offset after them.
  u64 place_at(u64 offset) const {
    const u64 in_region = offset % region_bytes_ / step_;
    return offset / region_bytes_ * region_places_ + std::min(in_region, region_places_ - 1);
  }
  // The place of slot `slot` of the ring when it is used for the `use`-th time, from 0 on. Each slot
  // has places of its own, so that no two slots meet: every ring-th from `slot` on. They are taken
  // in turn, or at random.
  u64 turn(u64 slot, u64 use) const;
  // The bytes of a working set that has places for a ring of buffers.
  static u64 least_bytes(const Traffic& traffic, u64 bytes, u64 ring);

 private:
  u64 ring_, step_, region_bytes_, region_places_;
  u32 regions_;
  bool random_;
  u64 seed_;
};
// Receive buffers, all queue pairs together; the numbers of ATOMICs.
Places receive_places(const Traffic& traffic);
Places number_places(const Traffic& traffic);

// The places of messages in flight. At random each of the `depth` slots of a queue pair has its
// share of the places; otherwise each queue pair walks through its share, one after the other.
class FlightPlaces {
 public:
  explicit FlightPlaces(const Traffic& traffic);
  const Places& places() const { return places_; }
  u64 of(u32 qp, u64 k) const {
    return random_ ? places_.turn(qp * depth_ + k % depth_, k / depth_) : qp * share_ + k % share_;
  }
  u32 qp_of(u64 place) const {
    return random_ ? u32(place % (qps_ * depth_) / depth_)
                   : u32(std::min(place / share_, qps_ - 1));
  }
  // A message of this place is number `begin` of its queue pair or a multiple of `period` later. At
  // random only some of these are.
  u64 period() const { return random_ ? depth_ : share_; }
  u64 begin(u64 place) const { return random_ ? place % depth_ : place - qp_of(place) * share_; }
  // The messages of a queue pair, from the first on, that have all of its places.
  u64 covering(u64 messages) const { return random_ ? messages : std::min(share_, messages); }
  // Names a place among those of its queue pair.
  u64 own(u64 place) const { return random_ ? place : begin(place); }

 private:
  Places places_;
  u64 qps_, depth_, share_;
  bool random_;
};

// The places that READs of the peer name: those of the messages in flight, or `read_addresses` that
// all queue pairs of all threads share. A READ draws one of these by the seed.
class ServedPlaces {
 public:
  explicit ServedPlaces(const Traffic& traffic);
  const Places& places() const { return places_; }
  u64 of(u32 qp, u64 k) const;
  // Names the bytes of a place: a queue pair and one of its places, or one that all share.
  struct Content {
    u32 qp = 0;
    u64 place = 0;
  };
  Content content(u32 qp, u64 k) const {
    return shared_ ? Content{0, of(qp, k)} : Content{qp, flights_.own(flights_.of(qp, k))};
  }
  // The messages of a queue pair, from the first on, that have all of its places.
  u64 covering(u64 messages) const { return shared_ ? messages : flights_.covering(messages); }

 private:
  FlightPlaces flights_;
  Places places_;
  u32 shared_;
  u64 seed_;
};
}  // namespace hca::testbench
