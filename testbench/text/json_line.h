// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "model/proto/types.h"

namespace hca::testbench {
// The line, from 1, of the value at this path of JsonAt ("events[3].sge[0][1]") in a whole JSON
// text; if it is missing, of the nearest enclosing value.
u64 line_of_json(std::string_view text, std::string_view path);
}  // namespace hca::testbench
