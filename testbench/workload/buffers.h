// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/host/endpoint.h"
#include "testbench/scenario/places.h"

namespace hca::testbench {
// Memory of an end, with the keys of its region.
struct Buffer {
  u64 addr = 0;
  u32 lkey = 0, rkey = 0;
};

// Where the buffers of traffic lie at one end.
class Buffers {
 public:
  // The ends must outlive it. `shared`: the end that has what all threads READ.
  Buffers(const Endpoint& end, const Traffic& traffic, const Endpoint& shared);
  Buffers(const Endpoint& end, const Traffic& traffic) : Buffers(end, traffic, end) {}
  // What message k of a queue pair sends, or what its READ or ATOMIC returns.
  Buffer local(const Message& m, u32 qp, u64 k) const;
  // Where WRITE k of the peer lands, and what its READ k finds.
  Buffer target(u32 qp, u64 k) const;
  Buffer served(u32 qp, u64 k) const;
  // The buffer of receive WQE `slot`, of all queue pairs, when it is posted for the `use`-th time.
  Buffer received(u64 slot, u64 use) const;
  // A number that ATOMICs of the peer change.
  Buffer number(u32 number) const;

  // The targets of all WRITEs.
  u64 targets() const;
  u64 target_bytes() const;
  const FlightPlaces& flights() const { return flights_; }
  const ServedPlaces& served_places() const { return served_; }

 private:
  struct Home {
    const WorkingSet* set;  // nullptr: the ring
    const Mr& ring;
    u64 begin;
  };
  static Buffer at(BufferKind kind, const Home& home, const Places& places, u64 place);
  const Endpoint& end_;
  const Endpoint& shared_;
  const WorkingSet *set_, *shared_set_;  // nullptr: rings
  Layout layout_;
  FlightPlaces flights_;
  ServedPlaces served_;
  Places receives_, numbers_;
};
}  // namespace hca::testbench
