// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/verbs_names.h"

namespace hca::testbench {
using namespace proto;

std::string_view wc_opcode_name(CqeOpcode opcode) {
  for (const CompletionRow& row : kCompletionRows)
    if (row.opcode == opcode) return row.word;
  return "?";
}

std::vector<std::string_view> wc_opcode_names() {
  std::vector<std::string_view> names;
  for (const CompletionRow& row : kCompletionRows) names.push_back(row.word);
  return names;
}

std::optional<WorkOpcode> work_opcode_of(std::string_view name) {
  for (const WorkRow& row : kWorkRows)
    if (row.word == name) return row.opcode;
  return std::nullopt;
}

std::string work_opcode_names() {
  std::string names;
  for (const WorkRow& row : kWorkRows) names += (names.empty() ? "" : ", ") + std::string(row.word);
  return names;
}
}  // namespace hca::testbench
