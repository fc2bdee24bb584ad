// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// The device interface in Markdown: BAR, queue entries, commands, field by field.
std::string device_document();
}  // namespace hca::testbench
