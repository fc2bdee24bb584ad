// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "testbench/vectors/run.h"

namespace hca::testbench {
// The failures with reason and the packets around them; then one line with the totals.
std::string text_of(std::span<const VectorReport> reports);
// The vector is wrong, not the model.
bool is_broken(const VectorReport& report);
nlohmann::json json_of(const VectorReport& report);
}  // namespace hca::testbench
