// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/contents.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
std::vector<u8> pattern_bytes(u64 seed, u64 bytes) {
  std::vector<u8> all(bytes);
  for (u64 i = 0; i < bytes; ++i) all[i] = pattern(seed, i);
  return all;
}
}  // namespace

MemoryPlace& Contents::add(const std::string& name, const MemoryPlace& place, u64 seed) {
  MemoryPlace& made = places_[name] = place;
  made.expected = pattern_bytes(seed, std::min(place.bytes, kCompared));
  memory_.write(made.physical, made.expected);
  return made;
}

const MemoryPlace& Contents::find(const JsonAt& name) const {
  const auto found = places_.find(name.text());
  if (found != places_.end()) return found->second;
  std::string names;
  for (const auto& [known, unused] : places_) names += " " + known;
  name.refuse("there is no region '" + name.text() + "'", "a region of the set-up:" + names);
}

std::vector<u8> Contents::bytes_of(const JsonAt& json, const Symbols& symbols) const {
  if (json.value().is_string()) return json.hex();
  if (json.has("hex")) return json["hex"].hex();
  const u64 bytes = symbols.value(json["bytes"], kMaxBytes);
  if (!json.has("of"))
    return pattern_bytes(json.has("seed") ? symbols.value(json["seed"]) : 0, bytes);
  const MemoryPlace& place = find(json["of"]);
  const u64 at = json.has("at") ? symbols.value(json["at"]) : 0;
  if (at > place.expected.size() || bytes > place.expected.size() - at)
    json.refuse(fmt::format("{} bytes at {} leave the region", bytes, at),
                fmt::format("0 .. {}", place.expected.size()));
  const auto from = place.expected.begin() + std::ptrdiff_t(at);
  return {from, from + std::ptrdiff_t(bytes)};
}

std::pair<MemoryPlace*, u64> Contents::place_of(const JsonAt& json, u64 bytes,
                                                const Symbols& symbols) {
  auto& place = const_cast<MemoryPlace&>(find(json["region"]));
  const u64 at = symbols.value_or(json, "at", 0);
  if (at > place.expected.size() || bytes > place.expected.size() - at)
    json.refuse(fmt::format("{} bytes at {} leave the region", bytes, at),
                fmt::format("0 .. {}", place.expected.size()));
  return {&place, at};
}

void Contents::expect(const JsonAt& json, const Symbols& symbols) {
  if (json.has("undefined")) {
    const u64 bytes = symbols.value(json["bytes"]);
    const auto [place, at] = place_of(json, bytes, symbols);
    return place->may_differ.push_back({at, bytes});
  }
  const std::vector<u8> bytes = bytes_of(json["is"], symbols);
  const auto [place, at] = place_of(json, bytes.size(), symbols);
  std::copy(bytes.begin(), bytes.end(), place->expected.begin() + std::ptrdiff_t(at));
}

void Contents::write(const JsonAt& json, const Symbols& symbols) {
  expect(json, symbols);
  const std::vector<u8> bytes = bytes_of(json["is"], symbols);
  const auto [place, at] = place_of(json, bytes.size(), symbols);
  memory_.write(place->physical + at, bytes);
}

void Contents::may_change(u64 va, u64 bytes) {
  for (auto& [name, place] : places_)
    if (va >= place.va && va - place.va < place.bytes)
      place.may_differ.push_back({va - place.va, bytes});
}

std::optional<std::string> Contents::difference() const {
  for (const auto& [name, place] : places_) {
    std::vector<u8> got(place.expected.size());
    memory_.read(place.physical, got.data(), got.size());
    for (u64 i = 0; i < got.size(); ++i) {
      const bool free = std::any_of(
          place.may_differ.begin(), place.may_differ.end(),
          [&](const auto& range) { return i >= range.first && i - range.first < range.second; });
      if (got[i] == place.expected[i] || free) continue;
      return fmt::format("region {} offset {} (VA {:#x}): expected {:02x}, got {:02x}", name, i,
                         place.va + i, place.expected[i], got[i]);
    }
  }
  return std::nullopt;
}
}  // namespace hca::testbench
