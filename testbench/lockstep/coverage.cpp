// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
u64 BinCoverage::add_group(std::string crosses) {
  groups_.push_back(std::move(crosses));
  return bins_.size();
}

std::size_t BinCoverage::add_cross(std::span<const Dimension* const> dimensions, const Can& can) {
  std::string title;
  Cross cross{0, {}};
  for (const Dimension* d : dimensions) {
    title += (title.empty() ? "" : " x ") + std::string(d->name);
    cross.sizes.push_back(u32(d->values.size()));
  }
  cross.from = add_group(std::move(title));
  std::vector<u32> values(dimensions.size());
  for (bool more = true; more;) {
    std::string name;
    if (!can || can(values))
      for (std::size_t i = 0; i < values.size(); ++i)
        name += (i ? ", " : "") + dimensions[i]->values[values[i]];
    add(std::move(name));
    more = false;  // the next ones, the last dimension fastest
    for (std::size_t i = values.size(); i-- && !more;)
      more = ++values[i] < cross.sizes[i] || (values[i] = 0);
  }
  crosses_.push_back(std::move(cross));
  return crosses_.size() - 1;
}

void BinCoverage::hit_cross(std::size_t cross, std::initializer_list<u32> values) {
  const Cross& c = crosses_[cross];
  u64 index = 0;
  std::size_t i = 0;
  for (const u32 value : values) index = index * c.sizes[i++] + value;
  hit(c.from + index);
}

std::vector<BinCoverage::Group> BinCoverage::groups() const {
  std::vector<Group> groups;
  for (const std::string& crosses : groups_) groups.push_back({crosses});
  for (const Bin& bin : bins_) {
    if (bin.name.empty()) continue;
    ++groups[bin.group].bins;
    groups[bin.group].hit += bin.packets != 0;
  }
  return groups;
}

std::vector<std::string> BinCoverage::holes() const {
  std::vector<std::string> names;
  for (const Bin& bin : bins_)
    if (bin.packets == 0 && !bin.name.empty()) names.push_back(bin.name);
  return names;
}

std::string BinCoverage::text() const {
  constexpr std::size_t kHoles = 10;
  std::string out;
  for (const Group& group : groups())
    out += fmt::format("  coverage: {} of {} bins, {}\n", group.hit, group.bins, group.crosses);
  const std::vector<std::string> names = holes();
  for (std::size_t i = 0; i < std::min(names.size(), kHoles); ++i)
    out += fmt::format("    not tried: {}\n", names[i]);
  if (names.size() > kHoles) out += fmt::format("    and {} more\n", names.size() - kHoles);
  return out;
}

std::vector<std::string> stream_names() {
  std::vector<std::string> names;
  for (const StreamRow& stream : kStreams) names.push_back(stream.name());
  return names;
}
std::vector<std::string> opcode_names() {
  std::vector<std::string> names;
  for (const proto::OpcodeRow& row : proto::kOpcodeRows)
    names.push_back(fmt::format("{} {:#04x}", row.name, row.code));
  return names;
}
std::vector<std::string> start_names() { return {kStartNames.begin(), kStartNames.end()}; }

u32 index_of_opcode(u8 code) {
  return index_in(proto::kOpcodeRows, [&](const auto& row) { return row.code == code; });
}
u32 stream_of(proto::Framing framing, bool vlan) {
  return index_in(kStreams,
                  [&](const StreamRow& row) { return row.framing == framing && row.vlan == vlan; });
}
}  // namespace hca::testbench
