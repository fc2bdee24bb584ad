// SPDX-License-Identifier: Apache-2.0
// Wake-ups that can be removed, in copies of the sources (scripts/wakeup_mutations.py).
#pragma once
#include <cstdlib>
#include <string_view>

namespace hca::mutants {
// The environment says which one is.
inline bool is_removed(std::string_view name) {
  static const char* const chosen = std::getenv("REMOVED_WAKE");
  return chosen && name == chosen;
}
}  // namespace hca::mutants
