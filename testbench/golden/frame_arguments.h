// SPDX-License-Identifier: Apache-2.0
// What the functions on frames by themselves are given, checked.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "model/proto/wire/packet.h"

namespace hca::testbench {
// Empty: they are a frame. Else the value and what is allowed.
std::string wrong_frame(u32 bytes, u32 link);

// "BTH.PSN" by the tables.
struct FieldName {
  const proto::HeaderInfo* header = nullptr;
  const proto::FieldInfo* field = nullptr;
  std::string wrong{};  // what is, and what is allowed
};
FieldName field_name(std::string_view name);
}  // namespace hca::testbench
