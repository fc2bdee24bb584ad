// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hca::testbench {
// Reads a summary.json, or that of a folder. Throws std::runtime_error for a file that is
// unreadable or not a result of `hca run`.
nlohmann::json read_summary(const std::string& path);

// The figures of a result, in order: "READ 4096 B, Gb/s" and its value.
struct Figure {
  std::string of, name;  // "READ 4096 B", "Gb/s"
  double value;
};
std::vector<Figure> figures_of(const nlohmann::json& summary);

// The knobs that differ; each figure of both results and B / A; for each message that was followed
// alone in both, the change of each part in cycles, and the largest change. Counters are left out.
std::string compared(const nlohmann::json& a, const nlohmann::json& b);
}  // namespace hca::testbench
