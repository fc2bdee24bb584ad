// SPDX-License-Identifier: Apache-2.0
#include "testbench/knob_table.h"

#include <algorithm>

namespace hca::testbench {
namespace {
auto find(auto& entries, std::string_view path) {
  return std::find_if(entries.begin(), entries.end(),
                      [&](const auto& entry) { return entry.path == path; });
}
}  // namespace

KnobTable::Entry& KnobTable::enter(const std::string& path, const engine::KnobInfo& info) {
  const auto found = find(entries_, path);
  return found == entries_.end() ? entries_.emplace_back(Entry{path, info, {}, {}}) : *found;
}

std::optional<std::string> KnobTable::set(const std::string& path, std::string_view text) const {
  const auto entry = find(entries_, path);
  if (entry == entries_.end()) {
    std::vector<std::string_view> known;
    for (const Entry& e : entries_) known.push_back(e.path);
    const std::string nearest = engine::nearest_name(path, known);
    return path + ": is no known key" +
           (nearest.empty() ? "; `hca config` lists them all"
                            : "; did you mean \"" + nearest + "\"?");
  }
  try {
    for (const auto& set_one : entry->set) set_one(text);
    return std::nullopt;
  } catch (const engine::ConfigError& error) {
    // The error knows the knob by its block; here it has a longer path.
    return path + (text.empty() ? ":" : "") + std::string(error.what()).substr(error.knob.size());
  }
}
}  // namespace hca::testbench
