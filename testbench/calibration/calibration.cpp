// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/calibration.h"

#include <algorithm>
#include <cmath>

namespace hca::testbench {
namespace {
constexpr double kOrderMargin = 1.02, kTimeKnee = 1.25, kRateKnee = 0.8;
template <class Value>
u64 knee(const Curve& curve, Value&& value) {
  const auto& p = curve.points;
  const auto [least, most] = std::minmax_element(
      p.begin(), p.end(), [&](const auto& a, const auto& b) { return value(a) < value(b); });
  if (value(*most) * kRateKnee <= value(*least)) return 0;
  if (row_of(curve.figure).is_time) {
    const auto found = std::find_if(
        p.begin(), p.end(),
        [&, bound = kTimeKnee * value(*least)](const auto& q) { return value(q) >= bound; });
    return found == p.end() ? p.back().x : found->x;
  }
  const auto high = [&, bound = kRateKnee * value(*most)](const auto& q) {
    return value(q) >= bound;
  };
  if (value(p.back()) >= value(p.front())) return std::find_if(p.begin(), p.end(), high)->x;
  return std::find_if(p.rbegin(), p.rend(), high)->x;
}
}  // namespace

static double error_of(const CurvePoint& p) { return std::abs(p.model - p.measured) / p.measured; }

double mean_error(const Curve& curve) {
  double sum = 0;
  for (const CurvePoint& p : curve.points) sum += error_of(p);
  return 100 * sum / double(curve.points.size());
}

double median_of(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const std::size_t half = errors.size() / 2;
  return errors.size() % 2 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
}

const CurvePoint& worst_point(const Curve& curve) {
  return *std::max_element(
      curve.points.begin(), curve.points.end(),
      [](const CurvePoint& a, const CurvePoint& b) { return error_of(a) < error_of(b); });
}

Knees knees_of(const Curve& curve) {
  return {knee(curve, [](const CurvePoint& p) { return p.measured; }),
          knee(curve, [](const CurvePoint& p) { return p.model; })};
}

Order order_of(const Calibration& c) {
  Order order;
  for (std::size_t i = 0; i < c.curves.size(); ++i)
    for (std::size_t k = i + 1; k < c.curves.size(); ++k) {
      const Curve &a = c.curves[i], &b = c.curves[k];
      if (row_of(a.figure).unit != row_of(b.figure).unit) continue;
      for (const CurvePoint& p : a.points)
        for (const CurvePoint& q : b.points) {
          if (p.x != q.x) continue;
          const CurvePoint &high = p.measured > q.measured ? p : q, &low = &high == &p ? q : p;
          if (high.measured <= kOrderMargin * low.measured) continue;
          ++order.pairs, order.kept += high.model > low.model;
        }
    }
  return order;
}
}  // namespace hca::testbench
