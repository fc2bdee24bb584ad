// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/queue_attributes.h"

#include <algorithm>
#include <array>

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::array<std::string_view, 12> kPathFields{
    "SgidIndex",     "SL",   "TClass",   "HopLimit", "DLID",      "FlowLabel",
    "UdpSourcePort", "DMAC", "DGIDHigh", "DGIDLow",  "RateLimit", "PathBits"};
constexpr std::string_view kAlternate = "Alt";
}  // namespace

u32 mask_of_field(std::string_view name) {
  if (std::find(kPathFields.begin(), kPathFields.end(), name) != kPathFields.end()) return kQpPath;
  if (name.starts_with(kAlternate)) return kQpAltPath;
  const auto found = std::find(kQpMaskNames.begin(), kQpMaskNames.end(), name);
  return found == kQpMaskNames.end() ? 0 : u32{1} << (found - kQpMaskNames.begin());
}

std::vector<QpState> states_on_the_way(QpState last) {
  std::vector<QpState> states;
  for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts})
    if (last == QpState::Error || last == QpState::Sqd || u8(state) <= u8(last))
      states.push_back(state);
  return states;
}

u32 mask_on_the_way(Services kind, QpState last) {
  u32 mask = kQpState;
  QpState from = QpState::Reset;
  for (const QpState to : states_on_the_way(last))
    mask |= find_transition(kind, std::exchange(from, to), to)->required;
  return mask;
}

std::string names_of_attributes(u32 mask) {
  std::string names;
  for (const FieldInfo& field : kHeaderInfo<QpAttributes>)
    if (!field.is_reserved && (mask_of_field(field.name) & mask))
      names += (names.empty() ? "" : ", ") + std::string(field.name);
  return names;
}
}  // namespace hca::testbench
