// SPDX-License-Identifier: Apache-2.0
#include "testbench/knob_table.h"

namespace hca::testbench {
KnobTable::Entry& KnobTable::enter(const std::string& path, const engine::KnobInfo& info) {
  const auto [place, is_new] = places_.try_emplace(path, entries_.size());
  return is_new ? entries_.emplace_back(Entry{path, info, {}, {}}) : entries_[place->second];
}

const KnobTable::Entry* KnobTable::find(const std::string& path) const {
  const auto place = places_.find(path);
  return place == places_.end() ? nullptr : &entries_[place->second];
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
  const Entry* const entry = find(path);
  if (!entry) {
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
