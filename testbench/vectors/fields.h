// SPDX-License-Identifier: Apache-2.0
// Headers and device structures by the field names of the tables.
#pragma once
#include <vector>

#include "model/proto/wire/layout.h"
#include "testbench/packets/frame_text.h"
#include "testbench/vectors/symbols.h"

namespace hca::testbench {
// nullptr: the header has no such field.
const proto::FieldInfo* find_field(const proto::HeaderInfo& header, std::string_view name);

// Writes `json` into a field of the header at `header`. Refuses a value wider than the field.
void set_field(u8* header, const proto::FieldInfo& field, const JsonAt& json,
               const Symbols& symbols);

// Empty if the field has the value `json`; otherwise the difference.
std::optional<FieldDifference> compare_field(const u8* header, const proto::HeaderInfo& info,
                                             const proto::FieldInfo& field, const JsonAt& json,
                                             const Symbols& symbols);

// For error messages: the names of all used fields.
std::string names_of_fields(const proto::HeaderInfo& header);
}  // namespace hca::testbench
