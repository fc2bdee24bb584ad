// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::engine {
// Exact values and how often each came; sorted only when read.
class Histogram {
 public:
  static constexpr u64 kNeededBeyond = 10;

  void add(u64 value, u64 times = 1) {
    counts_[value] += times;
    count_ += times;
  }
  void merge(const Histogram& other);

  u64 count() const { return count_; }
  std::optional<u64> min() const;
  std::optional<u64> max() const;
  std::optional<double> mean() const;

  // The smallest value that at least `percent` of the samples do not exceed (nearest rank; exact to
  // 0.001 %). Nothing when fewer than kNeededBeyond samples lie beyond it: it would be the fate of
  // single samples.
  std::optional<u64> percentile(double percent) const;
  // The number of samples ranked after that percentile; for percentiles under 50, before it.
  u64 beyond(double percent) const;

  std::vector<std::pair<u64, u64>> sorted() const;  // (value, how often), by value

 private:
  u64 rank(double percent) const;  // 1 .. count()
  u64 count_ = 0;
  std::unordered_map<u64, u64> counts_;
};
}  // namespace hca::engine
