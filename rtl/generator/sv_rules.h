// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// The tables that rtl/responder_check/responder_check.sv uses: its side bands, the rules of
// kRequestRules in their order with their effects, the operations of the opcodes, numbers.
std::string rules_part();
}  // namespace hca::testbench
