// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/requirements.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench {
// What files and folders hold: captures (.pcap, .pcapng; the JSON beside one belongs to it),
// vectors, and others, which in a folder are passed over and elsewhere an error.
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
// A vector for a statement that is not in the list, or not active, counts as unreadable.
void check_statements(ReplayInputs& in, std::span<const Statement> statements);
// The file of this name in the first of these folders that has it; if none does, in the first of
// the folders above them, the nearest first.
std::optional<std::string> find_beside(std::span<const std::string> paths, const std::string& name);
}  // namespace hca::testbench
