// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/packet.h"

namespace hca::proto {
namespace {

void take_ethernet(const u8* frame, const FrameShape& shape, Addressing& out) {
  const Ethernet ethernet = decode<Ethernet>(frame);
  out.destination_mac = ethernet.destination;
  out.source_mac = ethernet.source;
  out.has_vlan = shape.network_offset > bytes_of<Ethernet>();
  if (!out.has_vlan) return;
  const Vlan vlan = decode<Vlan>(frame + bytes_of<Ethernet>());
  out.priority = vlan.priority;
  out.vlan_id = vlan.vlan_id;
}

void take_lrh(const u8* frame, Addressing& out) {
  const Lrh lrh = decode<Lrh>(frame);
  out.dlid = lrh.dlid;
  out.slid = lrh.slid;
  out.service_level = lrh.sl;
  out.virtual_lane = lrh.vl;
}

void take_grh(const u8* network, Addressing& out) {
  const Grh grh = decode<Grh>(network);
  out.source_gid = grh.sgid;
  out.destination_gid = grh.dgid;
  out.traffic_class = grh.tclass;
  out.flow_label = grh.flow_label;
  out.hop_limit = grh.hop_lmt;
}

void take_ipv4(const u8* network, Addressing& out) {
  const Ipv4 ip = decode<Ipv4>(network);
  out.source_gid = gid_of_ipv4(ip.source);
  out.destination_gid = gid_of_ipv4(ip.destination);
  out.traffic_class = ip.tos;
  out.hop_limit = ip.ttl;
  out.udp_source_port = decode<Udp>(network + bytes_of<Ipv4>()).source_port;
}

void take_ipv6(const u8* network, Addressing& out) {
  const Ipv6 ip = decode<Ipv6>(network);
  out.source_gid = ip.source;
  out.destination_gid = ip.destination;
  out.traffic_class = ip.traffic_class;
  out.flow_label = ip.flow_label;
  out.hop_limit = ip.hop_limit;
  out.udp_source_port = decode<Udp>(network + bytes_of<Ipv6>()).source_port;
}

}  // namespace

Addressing addressing_of(const u8* frame, const FrameShape& shape) {
  Addressing out{};
  const u8* const network = frame + shape.network_offset;
  if (is_native(shape.framing))
    take_lrh(frame, out);
  else
    take_ethernet(frame, shape, out);
  switch (shape.framing) {
    case Framing::IbLocal:
      break;
    case Framing::IbGlobal:
    case Framing::RoceV1:
      take_grh(network, out);
      break;
    case Framing::RoceV2Ip4:
      take_ipv4(network, out);
      break;
    case Framing::RoceV2Ip6:
      take_ipv6(network, out);
      break;
  }
  return out;
}

AddressVector address_vector(Framing framing, const Addressing& a) {
  return {.framing = framing,
          .source_mac = a.source_mac,
          .destination_mac = a.destination_mac,
          .has_vlan = a.has_vlan,
          .priority = a.priority,
          .vlan_id = a.vlan_id,
          .source_lid = a.slid,
          .destination_lid = a.dlid,
          .service_level = a.service_level,
          .virtual_lane = a.virtual_lane,
          .source_gid = a.source_gid,
          .destination_gid = a.destination_gid,
          .traffic_class = a.traffic_class,
          .flow_label = a.flow_label,
          .hop_limit = a.hop_limit,
          .udp_source_port = a.udp_source_port};
}

}  // namespace hca::proto
