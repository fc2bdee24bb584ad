// SPDX-License-Identifier: Apache-2.0
#include "model/engine/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "model/engine/random.h"

namespace hca::engine {
void Histogram::merge(const Histogram& other) {
  for (const auto& [value, times] : other.sorted()) add(value, times);
}

void Histogram::grow() {
  constexpr std::size_t kFirst = 16;
  std::vector<Count> before = std::exchange(counts_, {});
  counts_.resize(std::max(kFirst, before.size() * 2));
  shift_ = 64 - unsigned(std::countr_zero(counts_.size()));
  for (const Count& c : before)
    if (c.times) count_of(c.value) = c;
}

std::vector<std::pair<u64, u64>> Histogram::sorted() const {
  std::vector<std::pair<u64, u64>> all;
  for (const Count& c : counts_)
    if (c.times) all.emplace_back(c.value, c.times);
  std::sort(all.begin(), all.end());
  return all;
}

std::optional<u64> Histogram::min() const {
  if (!count_) return std::nullopt;
  return sorted().front().first;
}

std::optional<u64> Histogram::max() const {
  if (!count_) return std::nullopt;
  return sorted().back().first;
}

std::optional<double> Histogram::mean() const {
  if (!count_) return std::nullopt;
  u128 sum = 0;
  for (const Count& c : counts_) sum += u128{c.value} * c.times;
  return double(sum) / double(count_);
}

// In whole thousandths of a percent: 99.9 / 100 * 10000 must not become 9990.000000000001.
u64 Histogram::rank(double percent) const {
  const u64 thousandths = u64(std::llround(std::clamp(percent, 0.0, 100.0) * 1000));
  const u64 rank = u64((u128{count_} * thousandths + 99'999) / 100'000);
  return std::max<u64>(rank, 1);
}

u64 Histogram::beyond(double percent) const {
  if (!count_) return 0;
  return percent < 50 ? rank(percent) - 1 : count_ - rank(percent);
}

std::optional<u64> Histogram::percentile(double percent) const {
  if (beyond(percent) < kNeededBeyond) return std::nullopt;
  u64 left = rank(percent);
  for (const auto& [value, times] : sorted()) {
    if (left <= times) return value;
    left -= times;
  }
  return std::nullopt;
}
}  // namespace hca::engine
