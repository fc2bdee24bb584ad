// SPDX-License-Identifier: Apache-2.0
#include <deque>

#include "model/proto/wire/opcodes.h"
#include "testbench/mutants/mistake.h"

namespace hca::proto {
namespace {
// "headers:SEND Only^RETH": an opcode of RC has an extension header more, or less.
struct OpcodeMutant {
  mutants::Mutant mutant;
  OpcodeRow row;
  OpcodeMutant(const OpcodeRow& right, Ext e)
      : mutant("headers:" + std::string(right.name) + "^" +
               std::string(kExtHeaders[unsigned(e)].name)),
        row(right) {
    row.ext = right.ext.toggled(e);
    row.ext_bytes = u8(row.ext.bytes());
  }
};
const std::deque<OpcodeMutant> kOpcodeMutants = [] {
  std::deque<OpcodeMutant> all;
  for (const OpcodeRow& row : kOpcodeRows)
    for (unsigned e = 0; row.service == Service::Rc && e < kExtCount; ++e)
      all.emplace_back(row, Ext(e));
  return all;
}();
}  // namespace

// nullptr: the correct one. Called by the copy of opcodes.h.
const OpcodeRow* mistaken_opcode_row(u8 code);
const OpcodeRow* mistaken_opcode_row(u8 code) {
  for (const OpcodeMutant& m : kOpcodeMutants)
    if (m.row.code == code && m.mutant.on()) return &m.row;
  return nullptr;
}
}  // namespace hca::proto
