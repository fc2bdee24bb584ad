// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/knob_table.h"

#include <algorithm>

namespace hca::testbench {
std::string nearest_path(const std::string& path, std::span<const std::string_view> known) {
  const std::size_t begin = path.rfind('.') + 1;
  const std::string_view above = std::string_view(path).substr(0, begin);
  std::vector<std::string_view> beside;
  for (const std::string_view name : known)
    if (begin && name.starts_with(above))
      beside.push_back(name.substr(begin, name.find('.', begin) - begin));
  if (beside.empty()) return engine::nearest_name(path, known);
  const std::string_view given = std::string_view(path).substr(begin);
  const auto longer = std::ranges::find_if(beside, [&](std::string_view name) {
    return ("_" + std::string(name) + "_").find("_" + std::string(given) + "_") !=
           std::string::npos;
  });
  const std::string nearest =
      longer == beside.end() ? engine::nearest_name(given, beside) : std::string(*longer);
  return nearest.empty() ? "" : std::string(above) + nearest;
}

KnobTable::Group& KnobTable::group_of(const std::string& prefix, const Type& type) {
  for (Group& group : groups_)
    if (group.type == &type && group.prefix == prefix) return group;
  return groups_.emplace_back(Group{prefix, &type, {}});
}

std::vector<KnobTable::Entry> KnobTable::entries() const {
  std::vector<Entry> all;
  for (const Group& group : groups_)
    for (std::size_t i = 0; i < group.type->knobs.size(); ++i) {
      const engine::KnobInfo& info = group.type->knobs[i];
      all.push_back({group.prefix + "." + std::string(info.name), info,
                     group.type->text(group.configs[0], i)});
    }
  return all;
}

// "hca.core, hca.dma" for "hca"; empty: no group has this path.
std::string KnobTable::keys_below(const std::string& path) const {
  std::vector<std::string> keys;
  const auto keep = [&](std::string key) {
    if (keys.empty() || keys.back() != key) keys.push_back(std::move(key));
  };
  const std::string above = path + ".";
  for (const Group& group : groups_)
    if (group.prefix.starts_with(above))
      keep(group.prefix.substr(0, group.prefix.find('.', above.size())));
    else if (group.prefix == path)
      for (const engine::KnobInfo& info : group.type->knobs) keep(above + std::string(info.name));
  std::string all;
  for (const std::string& key : keys) all += (all.empty() ? "" : ", ") + key;
  return all;
}

std::string KnobTable::nearest(const std::string& path) const {
  std::string text;  // of all paths, one after the other
  std::vector<std::size_t> ends;
  for (const Group& group : groups_)
    for (const engine::KnobInfo& info : group.type->knobs) {
      text.append(group.prefix).append(".").append(info.name);
      ends.push_back(text.size());
    }
  std::vector<std::string_view> known;
  known.reserve(ends.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    known.push_back(std::string_view(text).substr(begin, end - begin));
    begin = end;
  }
  return nearest_path(path, known);
}

std::optional<std::string> KnobTable::set(const std::string& path, std::string_view text) const {
  for (const Group& group : groups_) {
    const std::size_t dot = group.prefix.size();
    if (path.size() <= dot || path[dot] != '.' || !path.starts_with(group.prefix)) continue;
    const auto& knobs = group.type->knobs;
    const auto at =
        std::ranges::find(knobs, std::string_view(path).substr(dot + 1), &engine::KnobInfo::name);
    if (at == knobs.end()) continue;
    try {
      for (void* config : group.configs)
        group.type->set(config, std::size_t(at - knobs.begin()), text);
      return std::nullopt;
    } catch (const engine::ConfigError& error) {
      // The error knows the knob by its block; here it has a longer path.
      return path + (text.empty() ? ":" : "") + std::string(error.what()).substr(error.knob.size());
    }
  }
  if (const std::string below = keys_below(path); !below.empty())
    return path + ": is a group of keys; allowed: " + below;
  const std::string near = nearest(path);
  return path + ": is no known key; allowed: those that `hca config` lists" +
         (near.empty() ? "" : "; did you mean \"" + near + "\"?");
}
}  // namespace hca::testbench
