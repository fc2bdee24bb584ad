// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "testbench/vectors/vector.h"

namespace hca::testbench {
// The vectors that a --filter selects: those for a statement ("G8.2", or by its number in the
// standard: "C9-130"), of a theme ("psn"), or of a case ("ahead_draws_one_nak",
// "psn/ahead_draws_one_nak"). With *, ? or [] it is a glob over all of these.
class VectorFilter {
 public:
  explicit VectorFilter(std::string text) : text_(std::move(text)) {}  // "": all
  bool takes(const Vector& vector) const;
  // Throws std::runtime_error, with similar names, if it selects none of them.
  void must_take_one(std::span<const Vector> vectors) const;

 private:
  std::string text_;
};
}  // namespace hca::testbench
