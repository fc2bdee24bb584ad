// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::engine {
// Exact values and how often each came; sorted only when read.
class Histogram {
 public:
  static constexpr u64 kNeededBeyond = 10;

  void add(u64 value, u64 times = 1) {
    if (!times) return;
    count_ += times;
    // In a steady stream many values are that of the last time.
    if (last_ < counts_.size() && counts_[last_].times && counts_[last_].value == value) {
      counts_[last_].times += times;
      return;
    }
    if ((used_ + 1) * 2 > counts_.size()) [[unlikely]]
      grow();
    Count& c = count_of(value);
    used_ += !c.times;
    c.value = value;
    c.times += times;
    last_ = std::size_t(&c - counts_.data());
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
  // An open hash table: many values are added, and most are there already.
  struct Count {
    u64 value = 0, times = 0;  // times 0: free
  };
  Count& count_of(u64 value) {
    const std::size_t mask = counts_.size() - 1;
    std::size_t at = std::size_t(value * 0x9e3779b97f4a7c15u >> shift_);
    while (counts_[at].times && counts_[at].value != value) at = (at + 1) & mask;
    return counts_[at];
  }
  void grow();
  u64 count_ = 0;
  std::size_t used_ = 0;
  unsigned shift_ = 64;  // 64 - log2 of the size
  std::vector<Count> counts_;
  std::size_t last_ = 0;  // in counts_: where the last value was
};
}  // namespace hca::engine
