// SPDX-License-Identifier: Apache-2.0
// Wake-ups that can be removed, in copies of the sources (scripts/try_wakeups.py).
#pragma once
#include <cstdlib>
#include <string_view>

namespace hca::mutants {
// Selected by the environment.
inline std::string_view removed() {
  static const char* const chosen = std::getenv("REMOVED_WAKE");
  return chosen ? chosen : "";
}
inline bool is_removed(std::string_view name) { return name == removed(); }
// One that is called by a name, or `*` with the end of it.
inline bool is_removed(std::string_view kind, std::string_view name) {
  if (!removed().starts_with(kind)) return false;
  const std::string_view rest = removed().substr(kind.size());
  return rest.starts_with('*') ? name.ends_with(rest.substr(1)) : name == rest;
}
// Not of what stands in a test for the neighbours of a block.
inline bool reader_is_removed(std::string_view name, std::string_view reader) {
  return reader != "taker" && reader != "memory" && is_removed("reader of ", name);
}
}  // namespace hca::mutants
