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
struct ReplayInputs {
  std::vector<std::string> captures;
  std::vector<Vector> vectors;
  std::size_t passed_over = 0;
  std::vector<std::string> unreadable;  // "file: what is wrong", of vectors and of captures
};
ReplayInputs find_inputs(std::span<const std::string> paths);
// A vector for a statement that is not in the list, or not active, counts as unreadable.
void check_statements(ReplayInputs& in, std::span<const Statement> statements);
// The first of these folders' file of this name.
std::optional<std::string> find_beside(std::span<const std::string> paths, const std::string& name);
}  // namespace hca::testbench
