// SPDX-License-Identifier: Apache-2.0
// The names of libibverbs, without their prefixes.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/interface/work_rows.h"

namespace hca::testbench {
// Without IBV_WC_.
std::string_view wc_opcode_name(proto::CqeOpcode opcode);
// All of them.
std::vector<std::string_view> wc_opcode_names();
// Without IBV_WR_; also SEND_WITH_INV.
std::optional<proto::WorkOpcode> work_opcode_of(std::string_view name);
// All names, for error messages.
std::string work_opcode_names();
}  // namespace hca::testbench
