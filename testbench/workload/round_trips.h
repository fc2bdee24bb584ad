// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "model/engine/histogram.h"
#include "testbench/scenario/traffic.h"

namespace hca::testbench {
// The parts of a round trip, in the order of time; together they are the whole of it.
enum class TripPart : u8 { Queued, Request, Waiting, Service, Response, Count };
inline constexpr std::size_t kTripParts = std::size_t(TripPart::Count);
inline constexpr std::array<std::string_view, kTripParts> kTripPartNames{
    "in the client's queue", "request, until its completion is there",
    "waits for the server's program", "service", "response, until the client takes it"};

// The times of the requests of a stream: when each was planned and posted, when its
// completion was in the server's memory, when the server's program worked on it, and when the
// client's program took the answer. Both ends report; all times are in ps of the simulation.
class RoundTrips {
 public:
  using Parts = std::array<engine::Histogram, kTripParts>;
  explicit RoundTrips(const Traffic& traffic)
      : depth_(traffic.depth), trips_(std::size_t{traffic.qps} * traffic.depth) {}
  void posted(u32 qp, u64 k, u64 planned, u64 at) { trip(qp, k) = {planned, at, at, at, at}; }
  void arrived(u32 qp, u64 k, u64 at) { trip(qp, k).arrived = at; }
  void served(u32 qp, u64 k, u64 from, u64 to) {
    trip(qp, k).served_from = from, trip(qp, k).served_to = to;
  }
  // The parts of a request whose answer was taken count.
  void answered(u32 qp, u64 k, u64 at) {
    const Trip& t = trip(qp, k);
    const std::array<u64, kTripParts + 1> times{t.planned,     t.posted,    t.arrived,
                                                t.served_from, t.served_to, at};
    for (std::size_t p = 0; p < kTripParts; ++p) parts_[p].add(times[p + 1] - times[p]);
  }
  const Parts& parts() const { return parts_; }

 private:
  struct Trip {
    u64 planned = 0, posted = 0, arrived = 0, served_from = 0, served_to = 0;
  };
  Trip& trip(u32 qp, u64 k) { return trips_[std::size_t{qp} * depth_ + k % depth_]; }
  u32 depth_;
  std::vector<Trip> trips_;  // by queue pair and slot
  Parts parts_;
};
}  // namespace hca::testbench
