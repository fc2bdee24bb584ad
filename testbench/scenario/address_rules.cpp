// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/address_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "testbench/scenario/traffic_of.h"

namespace hca::testbench {
namespace {
struct AddressRule {
  std::string_view key, problem, allowed;
  bool (*broken)(const WorkloadConfig&);
};
bool is_strided(const WorkloadConfig& w) { return w.address == AddressOrder::Strided; }
constexpr std::array kAddressRules{
    AddressRule{"address", "is random or strided without a working set", "working_set beside it",
                [](const WorkloadConfig& w) {
                  return w.address != AddressOrder::Sequential && !w.working_set;
                }},
    AddressRule{"address", "is strided without a stride", "stride beside it",
                [](const WorkloadConfig& w) { return is_strided(w) && !w.stride; }},
    AddressRule{"stride", "is for address: strided", "address: strided beside it",
                [](const WorkloadConfig& w) { return w.stride && !is_strided(w); }},
    AddressRule{"regions", "is above 1 without a working set", "1, or working_set beside it",
                [](const WorkloadConfig& w) { return w.regions > 1 && !w.working_set; }},
    AddressRule{
        "regions", "does not divide the working set into parts of whole 64 B",
        "a divisor of working_set / 64 B",
        [](const WorkloadConfig& w) { return w.working_set / slot_bytes(1) % w.regions != 0; }},
};

// Buffers that are in use at one time.
struct RingRow {
  std::string_view what;
  BufferKind kind;
  u64 (*ring)(const Traffic&);
  u64 (*bytes)(const Traffic&);
};
constexpr std::array kRingRows{
    RingRow{"messages in flight (qps times depth)", BufferKind::Local,
            [](const Traffic& t) { return u64{t.qps} * t.depth; },
            [](const Traffic& t) { return t.slot(); }},
    RingRow{"addresses of READs (read_addresses)", BufferKind::Served,
            [](const Traffic& t) { return t.served(); }, [](const Traffic& t) { return t.slot(); }},
    RingRow{"receive WQEs (qps times receive_depth)", BufferKind::Received,
            [](const Traffic& t) { return u64{t.qps} * t.receive_depth; },
            [](const Traffic& t) { return t.slot(); }},
    RingRow{"numbers of ATOMICs (atomic_addresses)", BufferKind::Numbers,
            [](const Traffic& t) { return u64{t.atomic_numbers()}; },
            [](const Traffic&) { return kAtomicNumberBytes; }},
};

// The traffic of the entry, its answers, and its time breakdown on one queue pair.
std::vector<Traffic> traffics_of(const Scenario& scenario, const WorkloadConfig& w) {
  std::vector<Traffic> all;
  for (const u32 bytes : sizes_of(w))
    for (const u32 qps : {scenario.qps_of(w), 1u}) {
      all.push_back(traffic_of(w, qps, bytes, 0, scenario.connection.service()));
      if (all.back().is_request()) all.push_back(all.back().answers());
    }
  return all;
}

std::optional<WorkloadMistake> stride_mistake(const WorkloadConfig& w,
                                              const std::vector<Traffic>& traffics) {
  const u64 slot = std::ranges::max_element(traffics, {}, &Traffic::slot)->slot();
  if (!is_strided(w) || w.stride >= slot) return std::nullopt;
  return WorkloadMistake{"stride",
                         fmt::format("{} B is less than a buffer of {} B", w.stride, slot),
                         fmt::format("{} B or more", slot)};
}

// The ring that needs the largest working set.
std::optional<WorkloadMistake> room_mistake(const WorkloadConfig& w,
                                            const std::vector<Traffic>& traffics) {
  WorkloadMistake mistake{"working_set", "", ""};
  u64 most = w.working_set;
  for (const Traffic& t : traffics)
    for (const RingRow& row : kRingRows) {
      if (!kinds_of(t)[std::size_t(row.kind)]) continue;
      const u64 ring = row.ring(t), bytes = row.bytes(t);
      const u64 least = Places::least_bytes(t, bytes, ring);
      if (least <= most) continue;
      most = least;
      mistake.problem = fmt::format(
          "{} B with regions: {} does not have {} of {} B for each of the {} {}", w.working_set,
          w.regions, w.address == AddressOrder::Random ? "two places" : "a place", bytes, ring,
          row.what);
      mistake.allowed = fmt::format("{} B or more", least);
    }
  if (mistake.problem.empty()) return std::nullopt;
  return mistake;
}

// The MTT has numbers for a limited part of a region: pages after it would share entries.
std::optional<WorkloadMistake> translation_mistake(const Scenario& scenario,
                                                   const WorkloadConfig& w) {
  for (const NodePort& at : w.ends()) {
    const blocks::ChipConfig& hca = scenario.nodes[at.node].hca;
    if (hca.caches.mtt.holds_all()) continue;
    const u64 most = u64{hca.protection.page} * proto::kPagesOfLine * proto::kLinesApart;
    if (w.working_set / w.regions <= most) continue;
    return WorkloadMistake{
        "working_set",
        fmt::format("makes regions of {} B: pages after the first {} B of a region share entries "
                    "of hca{}.mtt_cache",
                    w.working_set / w.regions, most, at.node),
        fmt::format("{} B or less, regions: {} or more, or larger pages in hca{}.protection.page",
                    most * w.regions, (w.working_set + most - 1) / most, at.node)};
  }
  return std::nullopt;
}
}  // namespace

std::vector<WorkloadMistake> address_mistakes(const Scenario& scenario, const WorkloadConfig& w) {
  std::vector<WorkloadMistake> all;
  for (const AddressRule& rule : kAddressRules)
    if (rule.broken(w))
      all.push_back({std::string(rule.key), std::string(rule.problem), std::string(rule.allowed)});
  if (!w.working_set || !all.empty()) return all;
  const std::vector<Traffic> traffics = traffics_of(scenario, w);
  for (auto& mistake :
       {stride_mistake(w, traffics), room_mistake(w, traffics), translation_mistake(scenario, w)})
    if (mistake) all.push_back(*mistake);
  return all;
}
}  // namespace hca::testbench
