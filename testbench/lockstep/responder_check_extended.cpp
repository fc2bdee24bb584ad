// SPDX-License-Identifier: Apache-2.0
// Requests of extended operations.
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
using namespace proto;

// The rows of all packets: those of a functional class stand for their operations.
const std::vector<const OpcodeRow*>& packet_rows() {
  static const std::vector<const OpcodeRow*> rows = [] {
    std::vector<const OpcodeRow*> all;
    for (const OpcodeRow& row : kOpcodeRows)
      if (!row.is_class()) all.push_back(&row);
    for (const ExtendedRow& extended : kExtendedRows) all.push_back(&extended.row);
    return all;
  }();
  return rows;
}

// An EOETH that agrees with the RETH, and with the PUT in progress; else with one error.
void ResponderCheckStimulus::choose_extended(const Packet& p, const OpcodeRow& row,
                                             ExtHeaders& ext) {
  const ReceiveState& s = p.of->ahead;
  const bool begins = begins_message(row.position);
  if (!begins) {
    ext.eoeth.offset = s.write_bytes - s.write_left;
    ext.reth = {s.write_va - ext.eoeth.offset, s.write_rkey, s.write_bytes};
  } else {
    ext.eoeth.offset = 0;
  }
  const bool gets = row.traits().is_saved();
  ext.eoeth.extended_opcode = extended_opcode_of(row);
  ext.eoeth.response_length = gets ? ext.reth.dma_len : odd(1, 8) ? u32(random_()) : 0;
  if (!odd(1, begins ? 4 : 2)) return;
  const u32 bit = 1u << random_.below(32);
  switch (random_.below(begins ? 6 : 4)) {
    case 0:
      ext.eoeth.offset ^= bit;
      break;
    case 1:
      ext.reth.rkey ^= bit;
      break;
    case 2:
      ext.reth.va ^= u64{1} << random_.below(64);
      break;
    case 3:
      ext.reth.dma_len ^= bit;
      break;
    case 4:
      ext.eoeth.response_length ^= gets ? bit : 0;
      break;
    default:
      ext.eoeth.extended_opcode ^= u16(1u << random_.below(16));
  }
}
}  // namespace hca::testbench
