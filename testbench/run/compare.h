// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace hca::testbench {
// A summary.json, or the one of a folder. What cannot be read, or is no result of `hca run`, throws
// std::runtime_error.
nlohmann::json read_summary(const std::string& path);

// The figures of a result in its order: "READ 4096 B, Gb/s" and its value.
struct Figure {
  std::string of, name;  // "READ 4096 B", "Gb/s"
  double value;
};
std::vector<Figure> figures_of(const nlohmann::json& summary);

// Knobs that differ; each figure of both and B / A; for each message that both followed alone, the
// cycles that each part got longer or shorter, and which got most; counters are left out.
std::string compared(const nlohmann::json& a, const nlohmann::json& b);
}  // namespace hca::testbench
