// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/engine/knob_text.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kNearNames = 8;

// All that a filter may name of a vector.
std::vector<std::string> names_of(const Vector& v) {
  std::vector<std::string> names = v.statements;
  names.insert(names.end(), v.ibta.begin(), v.ibta.end());
  const std::size_t slash = v.name.find('/');
  names.push_back(v.name);
  names.push_back(v.name.substr(0, slash));
  if (slash != v.name.npos) names.push_back(v.name.substr(slash + 1));
  return names;
}
}  // namespace

bool VectorFilter::takes(const Vector& vector) const {
  if (text_.empty()) return true;
  const bool is_glob = text_.find_first_of("*?[") != text_.npos;
  const std::vector<std::string> names = names_of(vector);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return is_glob ? !fnmatch(text_.c_str(), name.c_str(), 0) : name == text_;
  });
}

void VectorFilter::must_take_one(std::span<const Vector> vectors) const {
  if (text_.empty() ||
      std::any_of(vectors.begin(), vectors.end(), [&](const Vector& v) { return takes(v); }))
    return;
  // Names that contain it come first, then those that differ by the fewest letters.
  std::set<std::pair<std::size_t, std::string>> near;
  for (const Vector& v : vectors)
    for (const std::string& name : names_of(v))
      near.emplace(name.find(text_) != name.npos ? 0 : engine::edit_distance(text_, name), name);
  std::vector<std::string> nearest;
  for (const auto& [unused, name] : near)
    if (nearest.size() < kNearNames) nearest.push_back(name);
  throw std::runtime_error(fmt::format(
      "--filter {}: no vector is for it, nor is a theme or case so named; near: {}", text_,
      nearest.empty() ? "nothing, there are no vectors"
                      : fmt::format("{}", fmt::join(nearest, ", "))));
}
}  // namespace hca::testbench
