// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/scenario/traffic.h"

namespace hca::testbench {
inline constexpr u64 kAtomicNumberBytes = 64;  // one cache line each

// The layout of an endpoint's regions: slots of messages, queue pair by queue pair.
class Layout {
 public:
  explicit Layout(const Traffic& traffic)
      : slot_(traffic.slot()),
        qps_(traffic.qps),
        depth_(traffic.depth),
        numbers_(traffic.atomic_numbers()),
        receives_(traffic.has([](const OperationRow& r) { return r.takes_receive; })
                      ? traffic.receive_depth
                      : 0) {}
  // The offset of a message in flight in its region.
  u64 in_flight(u32 qp, u64 k) const { return (u64{qp} * depth_ + k % depth_) * slot_; }
  u64 flight_bytes() const { return u64{qps_} * depth_ * slot_; }
  // In recv_mr.
  u64 received(u32 qp, u64 receive) const {
    return flight_bytes() + (u64{qp} * receives_ + receive) * slot_;
  }
  u64 receive_bytes() const { return flight_bytes() + u64{qps_} * receives_ * slot_; }
  // In fetch_mr.
  u64 served(u32 qp, u64 k) const { return in_flight(qp, k); }
  u64 fetched(u32 qp, u64 k) const { return flight_bytes() + in_flight(qp, k); }
  u64 numbers() const { return 2 * flight_bytes(); }  // offset of the numbers of ATOMICs
  u64 fetch_bytes() const { return numbers() + kAtomicNumberBytes * numbers_; }

 private:
  u64 slot_;
  u32 qps_, depth_, numbers_, receives_;
};
}  // namespace hca::testbench
