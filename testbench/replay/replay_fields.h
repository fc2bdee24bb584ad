// SPDX-License-Identifier: Apache-2.0
// What the values of a capture's events may be.
#pragma once
#include "model/proto/interface/rights.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
// Checks one event by the table of its kind; throws std::runtime_error that names the path of the
// value that is missing, of another type, or does not fit its field.
void check_event_fields(std::string_view kind, const JsonAt& event);
// The rights that words such as "LW RW RR" give (RightRow::word). Throws the same for any other
// word.
proto::Rights access_of(const JsonAt& words);
}  // namespace hca::testbench
