// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/parsed_side_band.h"

namespace hca::testbench {
using namespace proto;

void clear_headers(rtl::Parsed& out) {
  out.address = {};
  out.address.hop_limit = 0;
  out.address.udp_source_port = 0;
  out.address.framing = Framing::IbLocal;
  out.bth = {};
  static_cast<ExtHeaders&>(out) = {};
}

void put_transport(const ParsedPacket& packet, const Addressing& a, rtl::Parsed& out) {
  out.bth = packet.bth;
  out.address = address_vector(packet.framing, a);
}

void put_ext(const OpcodeRow& row, const ExtHeaders& p, ExtHeaders& out) {
  row.ext.for_each([&](Ext ext) { with_ext(ext, [&](auto member) { out.*member = p.*member; }); });
}
}  // namespace hca::testbench
