// SPDX-License-Identifier: Apache-2.0
// The attributes of a queue pair set by software, and those needed on its way to a state.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/transport/qp_transitions.h"

namespace hca::testbench {
// The mask bit of a field of QpAttributes; the fields of the path share one. 0: only in queries.
u32 mask_of_field(std::string_view name);
// The states after Reset on the way to `last`; SQD and Error are not included.
std::vector<proto::QpState> states_on_the_way(proto::QpState last);
// Optional attributes that a set-up gives to each RD queue pair.
inline constexpr u32 kGivenToRd = proto::kQpAccess | proto::kQpMinRnrTimer;
// The attributes that the commands on this way carry.
u32 mask_on_the_way(proto::Services kind, proto::QpState last);
// For error messages: the names of the fields with one of these bits.
std::string names_of_attributes(u32 mask);
}  // namespace hca::testbench
