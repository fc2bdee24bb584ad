// SPDX-License-Identifier: Apache-2.0
// The side band at the input of rtl/packetizer/packetizer.sv: `descriptor_t` of hca_pkg.
#pragma once
#include "model/proto/wire/packet.h"
#include "rtl/common/side_band.h"

namespace hca::rtl {
inline constexpr u32 kMaxPayload = 4096;  // the largest path MTU

// The name of an extension header in a side band: "ext.reth".
template <class Header>
inline constexpr auto kExtPath = [] {
  constexpr std::string_view front = "ext.", name = proto::Layout<Header>::name;
  std::array<char, front.size() + name.size()> path{};
  std::size_t i = 0;
  for (const char c : front) path[i++] = c;
  for (const char c : name) path[i++] = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return path;
}();
template <class T, class Header>
constexpr auto ext_part(const proto::ExtRow<Header>& row) {
  if constexpr (std::is_empty_v<Header>)  // a CNP's header has no information
    return make_rows();
  else
    return make_rows(Part<T, Header>{{kExtPath<Header>.data(), kExtPath<Header>.size()}, row.at});
}
// The parts of a side band with all headers; those of `ext` in the order of proto::Ext.
template <class T>
constexpr auto header_parts() {
  using namespace proto;
  return with_rows(
      [](const auto&... row) {
        return join_all(
            make_rows(Part<T, AddressVector>{"address", &T::address}, Part<T, Bth>{"bth", &T::bth}),
            ext_part<T>(row)...);
      },
      kExtRows);
}

// Each beat has its place; the first one also has the fields of the packet.
struct DescriptorStart {
  bool first;
  bool last;
  u8 bytes;  // bytes of the payload in this beat: all; in the last one fewer, 0 without a payload
  u16 payload_bytes;
  u16 ip_id;
};
struct Descriptor : DescriptorStart, proto::ExtHeaders {
  proto::AddressVector address;
  proto::Bth bth;

  static constexpr std::string_view kName = "descriptor";
  static constexpr auto parts() {
    return join_rows(make_rows(Part<Descriptor, DescriptorStart>{}), header_parts<Descriptor>());
  }
};
}  // namespace hca::rtl

namespace hca::proto {
template <>
struct Layout<rtl::DescriptorStart> {
  using D = rtl::DescriptorStart;
  static constexpr std::string_view name = "descriptor start";
  static constexpr auto fields = make_rows(reserved("spare", 2, ""),                       //
                                           field(&D::ip_id, "ip_id", 16),                  //
                                           field(&D::payload_bytes, "payload_bytes", 13),  //
                                           field(&D::first, "first", 1),                   //
                                           field(&D::last, "last", 1),                     //
                                           field(&D::bytes, "bytes", 7));
};
template <>
struct Layout<AddressVector> {
  using A = AddressVector;
  static constexpr std::string_view name = "address";
  static constexpr auto fields = make_rows(
      field(&A::source_gid, "source_gid", 128), field(&A::destination_gid, "destination_gid", 128),
      field(&A::source_mac, "source_mac", 48), field(&A::destination_mac, "destination_mac", 48),
      field(&A::source_lid, "source_lid", 16), field(&A::destination_lid, "destination_lid", 16),
      field(&A::udp_source_port, "udp_source_port", 16),
      field(&A::traffic_class, "traffic_class", 8), field(&A::hop_limit, "hop_limit", 8),
      field(&A::service_level, "service_level", 4), field(&A::virtual_lane, "virtual_lane", 4),
      field(&A::flow_label, "flow_label", 20), field(&A::vlan_id, "vlan_id", 12),
      field(&A::priority, "vlan_priority", 3), reserved("spare", 1, ""),
      field(&A::framing, "framing", 3), field(&A::has_vlan, "vlan", 1));
};
static_assert(bytes_of<rtl::DescriptorStart>() == 5 && bytes_of<AddressVector>() == 58);
}  // namespace hca::proto
