// SPDX-License-Identifier: Apache-2.0
// Translates a scenario's workloads into groups, traffic of one size, and required room.
#pragma once
#include <compare>
#include <map>
#include <vector>

#include "model/proto/interface/device.h"
#include "testbench/scenario/places.h"
#include "testbench/scenario/scenario.h"
#include "testbench/scenario/traffic.h"

namespace hca::testbench {
// The queue pairs of a connection between two ports. Workloads that run together have one bundle
// each; those that run alone share the first one, with place 0, of their ports.
struct BundleKey {
  std::size_t place = 0;
  Ends ends = ends_in_pair(0);
  auto operator<=>(const BundleKey&) const = default;
};

// A thread of an entry of the workload list.
struct Member {
  std::size_t entry;
  u32 thread;
};
// Members that run at the same time: usually one entry with one thread. A member's bundle is its
// index in its group.
std::vector<std::vector<Member>> groups_of(const Scenario& scenario);
// The sizes of an entry in sequence; 0 only occurs alone.
std::vector<u32> sizes_of(const WorkloadConfig& workload);
// The bundle of the member with this index in its group.
inline BundleKey bundle_of(const WorkloadConfig& workload, std::size_t place) {
  return {place, workload.ends()};
}
// Working sets of one size at both ends of a bundle.
struct WorkingSetNeed {
  u64 bytes = 0;
  u32 regions = 1;
  BufferKinds kinds{};
};
// The requirements of the largest workload of a bundle.
struct Need {
  u64 send_bytes = 0, recv_bytes = 0, fetch_bytes = 0;
  u32 cores = 1;  // from `core` on, that use its queue pairs
  u32 core = 0, service_level = 0, qps = 0, send_wqes = 0, receive_wqes = 0, inline_bytes = 0,
      sges = 1;
  bool invalidates = false;
  std::vector<WorkingSetNeed> working_sets;
};
std::map<BundleKey, Need> needs_of(const Scenario& scenario);
// The longest message that fits a WQE which can be pushed.
constexpr u32 most_inline(proto::Service service) {
  return proto::kPushBytes - proto::kSendWqeBytes - proto::destination_bytes(service);
}
// The traffic of one size of a workload; with several threads, that of one thread.
// Messages in flight on a queue pair of an entry: as given, or chosen for messages of a size.
u32 depth_of(const WorkloadConfig& w, u32 qps, u64 slot_bytes);
Traffic traffic_of(const WorkloadConfig& workload, u32 qps, u32 bytes, u64 seed,
                   proto::Service service = proto::Service::Rc, u32 thread = 0);
}  // namespace hca::testbench
