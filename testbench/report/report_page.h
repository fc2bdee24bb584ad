// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hca::testbench {
// The pages without their data, compiled in from testbench/report/; empty: not compiled in.
std::string_view run_page();          // `hca run --out`
std::string_view calibration_page();  // `hca calibrate --out`
// The data of a run as its page takes them: numbers have five digits, shares below a twentieth of a
// per cent are left out, the figures of a step are a list (messages.js).
nlohmann::json slim(nlohmann::json run);
// {"version", "written"}: of this program, and now, UTC.
nlohmann::json origin_of_page();
// A page with its data, JSON text, embedded; "<" is escaped, so the data cannot be read as markup.
std::string page_with(std::string_view page, std::string_view data);
// Writes the page, or prints on stderr that the program was built without it. Throws
// std::runtime_error.
void write_page(const std::string& path, std::string_view page, std::string_view data);
}  // namespace hca::testbench
