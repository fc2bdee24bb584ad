// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/message_stats.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

namespace hca::testbench {
namespace {
constexpr std::size_t kWayOfRow = 5;

template <class T>
nlohmann::json nanoseconds(const std::optional<T>& picoseconds) {
  return picoseconds ? nlohmann::json(double(*picoseconds) / engine::kPicosecondsPerNanosecond)
                     : nlohmann::json();
}
nlohmann::json figures_of(const engine::Histogram& h) {
  return {{"mean_ns", nanoseconds(h.mean())},
          {"p50_ns", nanoseconds(h.percentile(50))},
          {"p99_ns", nanoseconds(h.percentile(99))},
          {"max_ns", nanoseconds(h.max())}};
}
}  // namespace

namespace {
std::vector<std::size_t> sorted_places(const GroupPlaces& places, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t place) { return places.key(place); });
  return order;
}
}  // namespace

void MessageStats::add(const MessageTimes& message) {
  const u64 number = whole_.count();
  whole_.add(message.whole());
  const GroupedMessage grouped{message.chip, message.qpn, message.bytes, message.operation,
                               message.entry};
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    const std::size_t place = group.places.of(message.chip, kMessageGroups[g].value(grouped));
    if (place >= group.whole.size()) group.whole.resize(place + 1), group.bytes.resize(place + 1);
    group.whole[place].add(message.whole());
    group.bytes[place] += message.bytes;
  }
  u64 from = message.start();
  for (const auto& [station, at] : message.way()) {
    if (station != Station::Rung) steps_[std::size_t(station)].add(at - from);
    from = at;
  }
  if (number % stride_ == 0) {
    if (even_.size() == kMostEven) {
      stride_ *= 2;
      std::erase_if(even_, [&](const Kept& kept) { return kept.number % stride_; });
    }
    if (number % stride_ == 0) even_.push_back({number, message});
  }
  // Among equals the first.
  const auto slower = [](const Kept& a, const Kept& b) {
    return a.times.whole() != b.times.whole() ? a.times.whole() > b.times.whole()
                                              : a.number < b.number;
  };
  if (slow_.size() == kMostSlow) {
    if (message.whole() <= slow_.front().times.whole()) return;
    std::pop_heap(slow_.begin(), slow_.end(), slower);
    slow_.pop_back();
  }
  slow_.push_back({number, message});
  std::push_heap(slow_.begin(), slow_.end(), slower);
}

nlohmann::json MessageStats::json(std::size_t messages) const {
  using nlohmann::json;
  json steps = json::array();
  for (std::size_t s = 0; s < kStations; ++s)
    if (steps_[s].count()) {
      json step = figures_of(steps_[s]);
      step["step"] = kStationNames[s], step["count"] = steps_[s].count();
      // A step that some messages do not have takes none of their time.
      step["share"] =
          *steps_[s].mean() * double(steps_[s].count()) / (*whole_.mean() * double(whole_.count()));
      steps.push_back(std::move(step));
    }
  json groups = json::array();
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const std::size_t place : sorted_places(groups_[g].places, groups_[g].whole.size())) {
      const engine::Histogram& whole = groups_[g].whole[place];
      if (!whole.count()) continue;
      json group = figures_of(whole);
      group["by"] = kMessageGroups[g].by;
      group["name"] = groups_[g].places.name(kMessageGroups[g], place);
      group["count"] = whole.count(), group["bytes"] = groups_[g].bytes[place];
      groups.push_back(std::move(group));
    }
  json all{{"count", count()},
           {"whole", figures_of(whole_)},
           {"groups", std::move(groups)},
           {"steps", std::move(steps)}};
  if (!messages) return all;
  const std::size_t each = (even_.size() + messages - 1) / messages;
  std::vector<const Kept*> shown;
  for (std::size_t i = 0; i < even_.size(); i += each) shown.push_back(&even_[i]);
  std::vector<const Kept*> slow;
  for (const Kept& kept : slow_) slow.push_back(&kept);
  std::ranges::stable_sort(slow, std::ranges::greater{},
                           [](const Kept* kept) { return kept->times.whole(); });
  slow.resize(std::min(slow.size(), std::max<std::size_t>(messages / 4, 1)));
  shown.insert(shown.end(), slow.begin(), slow.end());
  const auto by_number = [](const Kept* a, const Kept* b) { return a->number < b->number; };
  std::stable_sort(shown.begin(), shown.end(), by_number);
  shown.erase(std::unique(shown.begin(), shown.end(),
                          [](auto* a, auto* b) { return a->number == b->number; }),
              shown.end());
  json rows = json::array(), ways = json::array();
  for (const Kept* kept : shown) {
    const MessageTimes& m = kept->times;
    json names = json::array(), row{kept->number, m.chip, m.qpn, m.bytes, m.start(), 0};
    u64 from = m.start();
    for (const auto& [station, at] : m.way()) {
      if (station != Station::Rung) {
        names.push_back(kStationNames[std::size_t(station)]);
        row.push_back(at - from);
      }
      from = at;
    }
    const auto way = std::find(ways.begin(), ways.end(), names);
    row[kWayOfRow] = way - ways.begin();
    if (way == ways.end()) ways.push_back(std::move(names));
    rows.push_back(std::move(row));
  }
  all["ways"] = std::move(ways);
  all["messages"] = std::move(rows);
  return all;
}
}  // namespace hca::testbench
