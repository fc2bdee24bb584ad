// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/coverage.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
u64 BinCoverage::add_group(std::string_view crosses) {
  groups_.push_back(crosses);
  return bins_.size();
}

std::vector<BinCoverage::Group> BinCoverage::groups() const {
  std::vector<Group> groups;
  for (const std::string_view crosses : groups_) groups.push_back({crosses});
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

u32 stream_of(proto::Framing framing, bool vlan) {
  return index_in(kStreams,
                  [&](const StreamRow& row) { return row.framing == framing && row.vlan == vlan; });
}
}  // namespace hca::testbench
