// SPDX-License-Identifier: Apache-2.0
// The allowed values of a capture's events.
#pragma once
#include "model/proto/interface/rights.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
// Checks one event by the table of its kind. Throws std::runtime_error with the path of a value
// that is missing, of another type, or does not fit its field.
void check_event_fields(std::string_view kind, const JsonAt& event);
// The rights in words such as "LW RW RR" (RightRow::word). Throws std::runtime_error for any other
// word.
proto::Rights access_of(const JsonAt& words);
}  // namespace hca::testbench
