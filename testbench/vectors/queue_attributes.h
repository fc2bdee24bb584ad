// SPDX-License-Identifier: Apache-2.0
// Which attributes of a queue pair software gives, and which of them its way to a state takes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/transport/qp_transitions.h"

namespace hca::testbench {
// Of a field of QpAttributes: its bit, which the fields of the path share. 0: only a query has it.
u32 mask_of_field(std::string_view name);
// The states behind Reset that a queue pair passes on its way to `last`, which is none of them if
// it is SQD or Error.
std::vector<proto::QpState> states_on_the_way(proto::QpState last);
// What the commands on this way carry.
u32 mask_on_the_way(proto::Service service, proto::QpState last);
// The names of the fields with one of these bits, for an error.
std::string names_of_attributes(u32 mask);
}  // namespace hca::testbench
