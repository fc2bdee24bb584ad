// SPDX-License-Identifier: Apache-2.0
// The protocol tables as documents in Markdown.
#pragma once
#include <string>

namespace hca::testbench {

std::string headers_document();
std::string opcodes_document();
std::string packet_rules_document();
std::string syndromes_document();

}  // namespace hca::testbench
