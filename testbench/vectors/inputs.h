// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/requirements.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench {
// The inputs in files and folders: captures (.pcap, .pcapng, each with the JSON beside it),
// vectors, and others, which are skipped in a folder and otherwise an error.
struct Unreadable {
  std::string path, what;  // what: "file: what is wrong"
  bool is_capture = false;
};
struct ReplayInputs {
  std::vector<std::string> captures;
  std::vector<Vector> vectors;
  std::size_t passed_over = 0;
  std::vector<Unreadable> unreadable;
};
ReplayInputs find_inputs(std::span<const std::string> paths);
// A vector for an unknown or inactive statement counts as unreadable.
void check_statements(ReplayInputs& in, std::span<const Statement> statements);
// The file of this name in the first of these folders that has it; otherwise in the nearest parent
// folder of the first.
std::optional<std::string> find_beside(std::span<const std::string> paths, const std::string& name);
}  // namespace hca::testbench
