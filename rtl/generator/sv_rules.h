// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// What rtl/responder_check/responder_check.sv takes of the tables: its side bands, the rules of
// kRequestRules in their order with what each says, the operations of the opcodes, numbers.
std::string rules_part();
}  // namespace hca::testbench
