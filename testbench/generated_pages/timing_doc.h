// SPDX-License-Identifier: Apache-2.0
// The knobs of the blocks as a document in Markdown.
#pragma once
#include <string>

namespace hca::testbench {

std::string timing_knob_table();

}  // namespace hca::testbench
