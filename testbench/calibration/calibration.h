// SPDX-License-Identifier: Apache-2.0
// How near the model is to a published measurement.
#pragma once
#include "testbench/calibration/calibration_file.h"

namespace hca::testbench {
// |model - measured| / measured: its mean over a curve in percent, and the point with the maximum.
double mean_error(const Curve& curve);
// Of errors of curves; at least one.
double median_of(std::vector<double> errors);
const CurvePoint& worst_point(const Curve& curve);

// Where a curve bends. For a time: the first x with 1.25 times its minimum. For a rising rate: the
// first x with 0.8 of its maximum; for a falling rate: the last x with 0.8 of it. 0: it does not
// bend.
struct Knees {
  u64 measured, model;
  bool agree() const { return measured <= 2 * model && model <= 2 * measured; }
};
Knees knees_of(const Curve& curve);

// For pairs of curves with one unit, at their common x: how often the measurement puts one above
// the other by more than 2 %, and how often the model agrees.
struct Order {
  u32 pairs = 0, kept = 0;
};
Order order_of(const Calibration& calibration);
}  // namespace hca::testbench
