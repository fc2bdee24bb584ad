// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// Amounts over time, in buckets of one width for all columns. When a run outgrows them, neighbours
// become one and the width doubles: there are never more than kMost, and the same run has the same.
class TimeSeries {
 public:
  static constexpr std::size_t kMost = 400;
  static constexpr u64 kFirstWidth = 100'000;  // ps
  // A value is `amount` for each picosecond of a bucket, times `scale`.
  struct Column {
    std::string group, name, unit;
    double scale = 1;
    double most = 0;  // that there can be of it in a picosecond; 0: any amount
    std::vector<double> amounts{};
  };

  std::size_t add_column(Column column);
  // Spread evenly from one time to the other; at once where they are equal. Picoseconds.
  void add(std::size_t column, u64 from, u64 to, double amount);
  const std::vector<Column>& columns() const { return columns_; }
  std::size_t rows() const;
  u64 width() const { return width_; }
  double value(std::size_t column, std::size_t row) const;
  // Of all rows. Amounts are told in one number, some of them when they begin (an item that takes
  // an interval, an MMIO write on a line that is full): what is more than a bucket can have is of
  // the one behind it.
  std::vector<double> values(std::size_t column) const;
  // A line of names, then a line a bucket, from its first microsecond on.
  std::string csv() const;

 private:
  void put(std::vector<double>& amounts, u64 bucket, double amount);
  void halve();
  std::vector<Column> columns_;
  u64 width_ = kFirstWidth;
};
}  // namespace hca::testbench
