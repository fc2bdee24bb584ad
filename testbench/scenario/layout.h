// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/scenario/traffic.h"

namespace hca::testbench {
inline constexpr u64 kAtomicNumberBytes = 64;  // one cache line each

// The layout of an endpoint's regions without a working set: rings of buffers, one after the other.
class Layout {
 public:
  explicit Layout(const Traffic& traffic)
      : slot_(traffic.slot()),
        qps_(traffic.qps),
        depth_(traffic.depth),
        numbers_(traffic.atomic_numbers()),
        served_(traffic.served()),
        receives_(traffic.has([](const OperationRow& r) { return r.takes_receive; })
                      ? traffic.receive_depth
                      : 0) {}
  u64 flight_bytes() const { return u64{qps_} * depth_ * slot_; }
  // In recv_mr: the targets of WRITEs, then from here on the receive buffers.
  u64 received() const { return flight_bytes(); }
  u64 receive_bytes() const { return received() + u64{qps_} * receives_ * slot_; }
  // In fetch_mr: what the peer READs, then from here on what READs and ATOMICs return, then the
  // numbers that the peer's ATOMICs change.
  u64 fetched() const { return served_ * slot_; }
  u64 numbers() const { return fetched() + flight_bytes(); }
  u64 fetch_bytes() const { return numbers() + kAtomicNumberBytes * numbers_; }

 private:
  u64 slot_;
  u32 qps_, depth_, numbers_;
  u64 served_;
  u32 receives_;
};
}  // namespace hca::testbench
