// SPDX-License-Identifier: Apache-2.0
// Checks the arguments of the functions on single frames.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/proto/wire/packet.h"

namespace hca::testbench {
// Empty: the arguments are a frame. Otherwise the value and the allowed ones.
std::string wrong_frame(u32 bytes, u32 link);

// Looks up a field such as "BTH.PSN" in the tables.
struct FieldName {
  const proto::HeaderInfo* header = nullptr;
  const proto::FieldInfo* field = nullptr;
  std::string wrong{};  // the given and the allowed names
};
FieldName field_name(std::string_view name);
}  // namespace hca::testbench
