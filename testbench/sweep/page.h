// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace hca::testbench {
// testbench/report/sweep/page.html; SWEEP_DATA marks the place of its data.
extern const std::string_view kSweepPage;
}  // namespace hca::testbench
