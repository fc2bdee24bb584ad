// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/time_series.h"

#include <fmt/format.h>

#include <numeric>
#include <tuple>

#include "testbench/text/rounded.h"

namespace hca::testbench {
namespace {
constexpr int kCsvDigits = 6;
}

std::size_t TimeSeries::add_column(Column column) {
  columns_.push_back(std::move(column));
  return columns_.size() - 1;
}

void TimeSeries::add_elsewhere(std::vector<double>& amounts, u64 from, u64 to, double amount) {
  make_room(std::max(from, to));
  if (const u64 bucket = bucket_of(from); to <= end_of(bucket)) return put(amounts, bucket, amount);
  for (u64 at = from; at < to;) {
    const u64 bucket = bucket_of(at), end = std::min(to, end_of(bucket));
    put(amounts, bucket, amount * double(end - at) / double(to - from));
    at = end;
  }
}

void TimeSeries::halve() {
  width_ *= 2;
  last_ = last_from_ = 0;
  for (Column& column : columns_) {
    std::vector<double>& a = column.amounts;
    if (a.size() % 2) a.push_back(0);
    for (std::size_t i = 0; i < a.size() / 2; ++i) a[i] = a[2 * i] + a[2 * i + 1];
    a.resize(a.size() / 2);
  }
}

std::vector<std::size_t> TimeSeries::shown() const {
  std::vector<std::size_t> order(columns_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const Column &x = columns_[a], &y = columns_[b];
    if (!x.key || !y.key) return !x.key && y.key;
    return std::tie(x.group, *x.key) < std::tie(y.group, *y.key);
  });
  return order;
}

std::size_t TimeSeries::rows() const {
  std::size_t rows = 0;
  for (const Column& column : columns_) rows = std::max(rows, column.amounts.size());
  return rows;
}

double TimeSeries::value(std::size_t column, std::size_t row) const {
  const Column& c = columns_[column];
  return row < c.amounts.size() ? c.amounts[row] * c.scale / double(width_) : 0;
}

std::vector<double> TimeSeries::values(std::size_t column) const {
  const Column& c = columns_[column];
  std::vector<double> all(rows());
  for (std::size_t row = 0; row < all.size(); ++row) all[row] = value(column, row);
  if (c.most == 0) return all;
  const double most = c.most * c.scale;
  for (std::size_t row = 0; row < all.size(); ++row) {
    if (all[row] <= most) continue;
    if (row + 1 < all.size()) all[row + 1] += all[row] - most;
    all[row] = most;
  }
  return all;
}

std::string TimeSeries::csv() const {
  std::string text = "time_us";
  const std::vector<std::size_t> order = shown();
  for (const std::size_t i : order) {  // names have commas
    const Column& c = columns_[i];
    text += fmt::format(",\"{}: {} ({})\"", c.group, c.name, c.unit);
  }
  text += '\n';
  std::vector<std::vector<double>> all;
  for (const std::size_t c : order) all.push_back(values(c));
  for (std::size_t row = 0; row < rows(); ++row) {
    append_rounded(text, double(row * width_) * 1e-6, kCsvDigits);
    for (const std::vector<double>& of_column : all) {
      text += ',';
      append_rounded(text, of_column[row], kCsvDigits);
    }
    text += '\n';
  }
  return text;
}
}  // namespace hca::testbench
