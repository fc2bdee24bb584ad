// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace hca::testbench {
// testbench/report/sweep/page.html; SWEEP_DATA stands where its data belong.
extern const std::string_view kSweepPage;
}  // namespace hca::testbench
