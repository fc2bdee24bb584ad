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
  AddressVector& to = out.address;
  to.framing = packet.framing;
  to.source_mac = a.source_mac, to.destination_mac = a.destination_mac;
  to.has_vlan = a.has_vlan, to.priority = a.priority, to.vlan_id = a.vlan_id;
  to.source_lid = a.slid, to.destination_lid = a.dlid;
  to.service_level = a.service_level, to.virtual_lane = a.virtual_lane;
  to.source_gid = a.source_gid, to.destination_gid = a.destination_gid;
  to.traffic_class = a.traffic_class, to.flow_label = a.flow_label, to.hop_limit = a.hop_limit;
  to.udp_source_port = a.udp_source_port;
}

void put_ext(const ParsedPacket& p, ExtHeaders& out) {
  if (p.has(Ext::Rdeth)) out.rdeth = p.rdeth;
  if (p.has(Ext::Deth)) out.deth = p.deth;
  if (p.has(Ext::XrcEth)) out.xrc_eth = p.xrc_eth;
  if (p.has(Ext::Eoeth)) out.eoeth = p.eoeth;
  if (p.has(Ext::Feth)) out.feth = p.feth;
  if (p.has(Ext::Reth)) out.reth = p.reth;
  if (p.has(Ext::AtomicEth)) out.atomic_eth = p.atomic_eth;
  if (p.has(Ext::Aeth)) out.aeth = p.aeth;
  if (p.has(Ext::AtomicAckEth)) out.atomic_ack_eth = p.atomic_ack_eth;
  if (p.has(Ext::ImmDt)) out.imm_dt = p.imm_dt;
  if (p.has(Ext::Ieth)) out.ieth = p.ieth;
}
}  // namespace hca::testbench
