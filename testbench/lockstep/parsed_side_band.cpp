// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/parsed_side_band.h"

namespace hca::testbench {
using namespace proto;

void clear_headers(rtl::Parsed& out) {
  out.address = {}, out.address.hop_limit = 0, out.address.udp_source_port = 0;
  out.address.framing = Framing::IbLocal;
  out.bth = {};
  static_cast<ExtHeaders&>(out) = {};
}

void put_transport(const ParsedPacket& packet, const Addressing& a, rtl::Parsed& out) {
  out.bth = packet.bth;
  out.address = address_vector(packet.framing, a);
}

void put_ext(const OpcodeRow& row, const ExtHeaders& p, ExtHeaders& out) {
  if (row.has(Ext::Rdeth)) out.rdeth = p.rdeth;
  if (row.has(Ext::Deth)) out.deth = p.deth;
  if (row.has(Ext::XrcEth)) out.xrc_eth = p.xrc_eth;
  if (row.has(Ext::Eoeth)) out.eoeth = p.eoeth;
  if (row.has(Ext::Feth)) out.feth = p.feth;
  if (row.has(Ext::Reth)) out.reth = p.reth;
  if (row.has(Ext::AtomicEth)) out.atomic_eth = p.atomic_eth;
  if (row.has(Ext::Aeth)) out.aeth = p.aeth;
  if (row.has(Ext::AtomicAckEth)) out.atomic_ack_eth = p.atomic_ack_eth;
  if (row.has(Ext::ImmDt)) out.imm_dt = p.imm_dt;
  if (row.has(Ext::Ieth)) out.ieth = p.ieth;
}
}  // namespace hca::testbench
