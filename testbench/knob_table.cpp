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

// "hca.core, hca.dma" for "hca"; empty: no group has this path.
std::string KnobTable::keys_below(const std::string& path) const {
  std::vector<std::string> keys;
  for (const Entry& e : entries_) {
    if (!e.path.starts_with(path + ".")) continue;
    const std::string key = e.path.substr(0, e.path.find('.', path.size() + 1));
    if (keys.empty() || keys.back() != key) keys.push_back(key);
  }
  std::string all;
  for (const std::string& key : keys) all += (all.empty() ? "" : ", ") + key;
  return all;
}

std::optional<std::string> KnobTable::set(const std::string& path, std::string_view text) const {
  const auto entry = find(entries_, path);
  if (entry == entries_.end()) {
    if (const std::string below = keys_below(path); !below.empty())
      return path + ": is a group of keys; allowed: " + below;
    std::vector<std::string_view> known;
    for (const Entry& e : entries_) known.push_back(e.path);
    const std::string nearest = engine::nearest_name(path, known);
    return path + ": is no known key; allowed: those that `hca config` lists" +
           (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
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
