// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hca::testbench {
// The page of `hca run --out` without its data, as it was built into the program; empty: it was
// not.
std::string_view report_page();
// The page with the data of a run, which are nothing but data there: no "<" is left in them.
std::string page_with(std::string_view page, const nlohmann::json& run);
}  // namespace hca::testbench
