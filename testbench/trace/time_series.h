// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// Amounts over time, in buckets of one width for all columns. When a run outgrows them, neighbours
// are merged and the width doubles: there are never more than kMost, and the same run gives the
// same buckets.
class TimeSeries {
 public:
  static constexpr std::size_t kMost = 400;
  static constexpr u64 kFirstWidth = 100'000;  // ps
  // A value is `amount` for each picosecond of a bucket, times `scale`.
  struct Column {
    std::string group, name, unit;
    double scale = 1;
    double most = 0;  // maximum in a picosecond; 0: unlimited
    // Columns with one are shown after all others, by group and key: they may come in any order.
    std::optional<u64> key{};
    std::vector<double> amounts{};
  };

  std::size_t add_column(Column column);
  // Adds an amount, spread evenly between two times in picoseconds; all at once if they are equal.
  void add(std::size_t column, u64 from, u64 to, double amount) {
    std::vector<double>& amounts = columns_[column].amounts;
    // Nearly always all in the bucket that was asked for last.
    if (from - last_from_ < width_ && to - last_from_ < width_) [[likely]]
      put(amounts, last_, amount);
    else
      add_elsewhere(amounts, from, to, amount);
  }
  // The bucket of a time, ps: what lies within it stays in one bucket.
  struct Bucket {
    u64 from, to;
  };
  Bucket bucket_at(u64 picoseconds) {
    make_room(picoseconds);
    const u64 bucket = bucket_of(picoseconds);
    return {bucket * width_, end_of(bucket)};
  }
  const std::vector<Column>& columns() const { return columns_; }
  std::vector<std::size_t> shown() const;  // the columns in the order in which they are shown
  std::size_t rows() const;
  u64 width() const { return width_; }
  // The least width of a run that has reached this time, ps: it depends on nothing else.
  static u64 width_at(u64 picoseconds) {
    u64 width = kFirstWidth;
    while (picoseconds >= kMost * width) width *= 2;
    return width;
  }
  double value(std::size_t column, std::size_t row) const;
  // The values of all rows. Some amounts are reported as a whole at their beginning (an item that
  // takes an interval, an MMIO write on a full line): the part above a bucket's maximum is moved to
  // the next bucket.
  std::vector<double> values(std::size_t column) const;
  // A header line, then one line a bucket, beginning with the first microsecond.
  std::string csv() const;

 private:
  static void put(std::vector<double>& amounts, u64 bucket, double amount) {
    if (bucket >= amounts.size()) [[unlikely]]
      amounts.resize(bucket + 1);
    amounts[bucket] += amount;
  }
  void add_elsewhere(std::vector<double>& amounts, u64 from, u64 to, double amount);
  void halve();
  // The bucket of a time; times come close to each other.
  u64 bucket_of(u64 at) {
    if (at - last_from_ >= width_) {
      last_ = at / width_;
      last_from_ = last_ * width_;
    }
    return last_;
  }
  u64 end_of(u64 bucket) const { return (bucket + 1) * width_; }
  // Doubles the width until a time has a bucket.
  void make_room(u64 at) {
    while (at >= kMost * width_) [[unlikely]] halve();
  }
  std::vector<Column> columns_;
  u64 width_ = kFirstWidth;
  u64 last_ = 0, last_from_ = 0;  // the bucket that was asked for last, and its begin
};
}  // namespace hca::testbench
