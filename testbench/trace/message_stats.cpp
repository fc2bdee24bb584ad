// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/message_stats.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

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
// {"by", "name", "count", "bytes", and the figures} of each place of a group that has messages.
template <class Kinds>
void append_groups(nlohmann::json& list, std::size_t g, const GroupPlaces& places,
                   const Kinds& kinds) {
  std::map<u64, std::pair<engine::Histogram, nlohmann::json>> by_key;
  for (const auto& [at, kind] : kinds) {
    auto& [whole, group] = by_key[places.key(at[g])];
    if (!whole.count())
      group = {{"by", kMessageGroups[g].by},
               {"name", places.name(kMessageGroups[g], at[g])},
               {"bytes", u64{0}}};
    whole.merge(kind.whole);
    group["bytes"] = group["bytes"].template get<u64>() + kind.bytes;
  }
  for (auto& [key, of] : by_key) {
    auto& [whole, group] = of;
    group["count"] = whole.count();
    group.update(figures_of(whole));
    list.push_back(std::move(group));
  }
}
}  // namespace

MessageStats::Kind& MessageStats::kind_of(const MessageTimes& message) {
  const GroupedMessage grouped{message.chip, message.qpn, message.bytes, message.operation,
                               message.entry};
  if (last_ && grouped == last_message_) return *last_;
  Places places;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    places[g] = groups_[g].of(message.chip, kMessageGroups[g].value(grouped));
  last_message_ = grouped;
  last_ = &kinds_[places];
  return *last_;
}

engine::Histogram MessageStats::whole() const {
  engine::Histogram all;
  for (const auto& [places, kind] : kinds_) all.merge(kind.whole);
  return all;
}

void MessageStats::add(const MessageTimes& message) {
  const u64 number = count_++;
  Kind& kind = kind_of(message);
  kind.whole.add(message.whole());
  kind.bytes += message.bytes;
  u64 from = message.start();
  for (const auto& [station, at] : message.way()) {
    if (station != Station::Rung) steps_[std::size_t(station)].add(at - from);
    from = at;
  }
  if ((number & (stride_ - 1)) == 0) {
    if (even_.size() == kMostEven) {
      stride_ *= 2;
      std::erase_if(even_, [&](const Kept& kept) { return kept.number % stride_; });
    }
    // All room at once: to grow in steps costs more than most messages do.
    if (even_.size() == kFewEven) even_.reserve(kMostEven);
    if ((number & (stride_ - 1)) == 0) even_.push_back({number, message});
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
  const engine::Histogram whole_of_all = whole();
  json steps = json::array();
  for (std::size_t s = 0; s < kStations; ++s)
    if (steps_[s].count()) {
      json step = figures_of(steps_[s]);
      step["step"] = kStationNames[s], step["count"] = steps_[s].count();
      // A step that some messages do not have takes none of their time.
      step["share"] =
          *steps_[s].mean() * double(steps_[s].count()) / (*whole_of_all.mean() * double(count_));
      steps.push_back(std::move(step));
    }
  json groups = json::array();
  for (std::size_t g = 0; g < groups_.size(); ++g) append_groups(groups, g, groups_[g], kinds_);
  json all{{"count", count()},
           {"whole", figures_of(whole_of_all)},
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
  json rows = json::array();
  std::vector<std::vector<Station>> ways;
  for (const Kept* kept : shown) {
    const MessageTimes& m = kept->times;
    std::vector<Station> steps_of_way;
    json::array_t row;
    row.reserve(kWayOfRow + kStations);
    for (const u64 value : {kept->number, u64{m.chip}, u64{m.qpn}, m.bytes, m.start(), u64{0}})
      row.push_back(value);
    u64 from = m.start();
    for (const auto& [station, at] : m.way()) {
      if (station != Station::Rung) {
        steps_of_way.push_back(station);
        row.push_back(at - from);
      }
      from = at;
    }
    const auto way = std::ranges::find(ways, steps_of_way);
    row[kWayOfRow] = way - ways.begin();
    if (way == ways.end()) ways.push_back(std::move(steps_of_way));
    rows.push_back(std::move(row));
  }
  all["ways"] = json::array();
  for (const std::vector<Station>& way : ways) {
    json names = json::array();
    for (const Station station : way) names.push_back(kStationNames[std::size_t(station)]);
    all["ways"].push_back(std::move(names));
  }
  all["messages"] = std::move(rows);
  return all;
}
}  // namespace hca::testbench
