// SPDX-License-Identifier: Apache-2.0
// The names of libibverbs, without their prefixes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/interface/work_rows.h"

namespace hca::testbench {
// Behind IBV_WC_.
std::string_view wc_opcode_name(proto::CqeOpcode opcode);
// All of them.
std::vector<std::string_view> wc_opcode_names();
// Behind IBV_WR_, and SEND_WITH_INV.
std::optional<proto::WorkOpcode> work_opcode_of(std::string_view name);
// For an error: all of them.
std::string work_opcode_names();
}  // namespace hca::testbench
