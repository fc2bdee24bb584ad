// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hca::testbench {
// The pages without their data, as they were built into the program from testbench/report/; empty:
// they were not.
std::string_view run_page();          // `hca run --out`
std::string_view calibration_page();  // `hca calibrate --out`
// A page with its data, which are nothing but data there: no "<" is left in them.
std::string page_with(std::string_view page, const nlohmann::json& data);
// Writes it, or says on stderr that the program was built without. Throws std::runtime_error.
void write_page(const std::string& path, std::string_view page, const nlohmann::json& data);
}  // namespace hca::testbench
