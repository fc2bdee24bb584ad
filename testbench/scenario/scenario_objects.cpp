// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/scenario_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/proto/interface/qp_attributes.h"
#include "testbench/host/verbs.h"
#include "testbench/scenario/traffic_of.h"

namespace hca::testbench {
namespace {
// Numbers that the objects of a kind have, from the first that software gives, and the knob above
// them.
struct Kind {
  std::string_view knob, words;
  u32 blocks::CoreConfig::*below;
  u32 first;
  u32 (*of_bundle)(const Scenario& scenario, const Need& need);
};
constexpr std::array kKinds{
    Kind{".core.max_qps", "queue pairs", &blocks::CoreConfig::max_qps, kFirstUserQpn,
         [](const Scenario& s, const Need& need) {
           return s.connection.is_xrc() ? 2 * need.qps : need.qps;
         }},
    Kind{".core.max_cqs", "completion queues", &blocks::CoreConfig::max_cqs, 1,
         [](const Scenario&, const Need&) { return 2u; }},
    Kind{".core.max_srqs", "shared receive queues", &blocks::CoreConfig::max_srqs, 1,
         [](const Scenario& s, const Need&) { return s.connection.srqs(); }},
    Kind{".core.max_regions", "regions", &blocks::CoreConfig::max_regions, 1,
         [](const Scenario&, const Need& need) {
           u32 regions = 3u + need.invalidates;
           for (const WorkingSetNeed& set : need.working_sets)
             regions += set.regions * u32(std::ranges::count(set.kinds, true));
           return regions;
         }},
};
// One for all programs that wait for events, beside that of asynchronous events.
constexpr std::array kOfEvents{
    Kind{".core.max_eqs", "event queues", &blocks::CoreConfig::max_eqs, 1, nullptr},
    Kind{".core.max_vectors", "interrupt vectors", &blocks::CoreConfig::max_vectors, 1, nullptr},
};

// The entry of a bundle with most queue pairs.
std::size_t entry_of(const Scenario& scenario, const BundleKey& bundle) {
  std::size_t entry = 0;
  u32 most = 0;
  for (const auto& group : groups_of(scenario))
    for (std::size_t place = 0; place < group.size(); ++place) {
      const WorkloadConfig& w = scenario.workload[group[place].entry];
      if (bundle_of(w, place) == bundle && scenario.qps_of(w) > most)
        entry = group[place].entry, most = scenario.qps_of(w);
    }
  return entry;
}

constexpr u32 kMostShared = 1u << proto::kMaxLogWorkEntries;

class Counting {
 public:
  explicit Counting(const Scenario& scenario) : scenario_(scenario) {}
  // `objects`: for each node. False: there are too many of them.
  bool count(const Kind& kind, const std::vector<u64>& objects, std::size_t entry) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const u32 below = scenario_.nodes[i].hca.core.*kind.below;
      if (kind.first + objects[i] <= below) continue;
      mistakes.push_back(
          {entry, "", kind.knob,
           fmt::format(
               "needs {} of hca{} with the numbers {} to {}, with those before it; allowed: "
               "numbers below hca{}{}, {}",
               kind.words, i, kind.first, kind.first + objects[i] - 1, i, kind.knob, below)});
      return false;
    }
    return true;
  }
  std::vector<ObjectMistake> mistakes;

 private:
  const Scenario& scenario_;
};
}  // namespace

std::vector<ObjectMistake> object_mistakes(const Scenario& scenario) {
  Counting counting(scenario);
  const std::map<BundleKey, Need> needs = needs_of(scenario);
  for (const Kind& kind : kKinds) {
    std::vector<u64> objects(scenario.nodes.size());
    for (const auto& [bundle, need] : needs) {
      for (const NodePort& end : bundle.ends) objects[end.node] += kind.of_bundle(scenario, need);
      if (!counting.count(kind, objects, entry_of(scenario, bundle))) break;
    }
  }
  for (const auto& [bundle, need] : needs)
    if (scenario.connection.srqs() && need.qps * need.receive_wqes > kMostShared)
      counting.mistakes.push_back(
          {entry_of(scenario, bundle), ".receive_depth", "",
           fmt::format(
               "of {} makes too many WQEs of a shared receive queue; allowed: {} queue pairs "
               "times it up to {}",
               need.receive_wqes, need.qps, kMostShared)});
  for (const auto& [bundle, need] : needs)
    if (const u32 entries = need.qps * std::min(need.send_wqes, need.receive_wqes);
        scenario.connection.moderation_count > entries)
      counting.mistakes.push_back(
          {entry_of(scenario, bundle), ".depth", "connection.moderation_count",
           fmt::format("makes a completion queue of {} entries; allowed: at least the {} of "
                       "connection.moderation_count, on all queue pairs together",
                       entries, scenario.connection.moderation_count)});
  const auto waits = std::ranges::find_if(
      scenario.workload, [&](const WorkloadConfig& w) { return scenario.waits_for_events(w); });
  if (waits != scenario.workload.end())
    for (const Kind& kind : kOfEvents)
      counting.count(kind, std::vector<u64>(scenario.nodes.size(), 1),
                     std::size_t(waits - scenario.workload.begin()));
  return counting.mistakes;
}
}  // namespace hca::testbench
