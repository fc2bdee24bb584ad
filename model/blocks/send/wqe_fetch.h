// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/send/read_order.h"
#include "model/blocks/send/wqe_fetch_config.h"
#include "model/device/contexts.h"

namespace hca::blocks {
struct WqeFetchCounters {
  u64 fetches = 0, pushed = 0;
};

// Reads the WQEs of a turn from the send queue in host memory, all in one read. If one of them is
// unreadable, none is used, and the requester gets an unreadable turn (T9-18).
//
// Contract: a turn seen in cycle n requests its DMA in n + latency; its WQEs reach the requester
// with the last of their data; one turn each `interval` cycles. A turn without a read (pushed,
// flushed or in the WQE cache) is seen by the requester in n + latency + 2, unless an earlier one
// of its queue pair has not reached the requester yet: then it keeps its place after that one by an
// empty read.
class WqeFetch : public engine::Block {
 public:
  struct Outputs {
    DmaLink* dma_out = nullptr;
  };
  WqeFetch(const WqeFetchConfig& config, const device::Contexts& contexts)
      : config_(config), contexts_(contexts) {}

  TurnLink turns_in{4};
  FetchedLink* turns_out = nullptr;     // written by dma in the cycle of the memory access
  FetchedLink* not_read_out = nullptr;  // turns that need no read
  Outputs outputs;
  WqeFetchCounters counters;
  engine::Probe probe, not_read_probe;
  engine::Waker dma;  // the clock domain of `fetched`

  void tick();
  DmaCallbacks client() {
    return {this, [](void* owner, const DmaRequest& r, Cycle, Cycle last) {
              static_cast<WqeFetch*>(owner)->fetched(r, last);
            }};
  }

 private:
  void fetched(const DmaRequest& request, Cycle last);
  void pass(Turn* turn);
  void copy_pushed(Turn& turn, u32 stride);

  const WqeFetchConfig config_;
  const device::Contexts& contexts_;
  ByQp<ReadOrder> orders_;
  Cycle turns_out_free_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::WqeFetchCounters> {
  using C = hca::blocks::WqeFetchCounters;
  static constexpr std::string_view block = "wqe_fetch";
  static constexpr auto rows =
      make_rows(counter("fetches", &C::fetches, "reads", "turns read from host memory"),
                counter("pushed", &C::pushed, "WQEs", "WQEs that needed no read"));
};
