// SPDX-License-Identifier: Apache-2.0
// The side band at the output of rtl/rx_parser/rx_parser.sv: `parsed_t` of hca_pkg.
#pragma once
#include "rtl/packetizer/descriptor.h"

namespace hca::rtl {
struct ParsedStart {
  proto::PacketVerdict verdict;  // with the last beat; in earlier beats the verdict on the headers
  u16 payload_bytes;             // of the packet, as its headers announce
  bool first;
  bool last;
  u8 bytes;  // bytes of the payload in this beat
};
// The headers are valid in all beats of a packet; those that it does not have are 0.
struct Parsed : ParsedStart, proto::ExtHeaders {
  proto::AddressVector address;
  proto::Bth bth;

  static constexpr std::string_view kName = "parsed";
  static constexpr auto parts() {
    return join_rows(make_rows(Part<Parsed, ParsedStart>{}), header_parts<Parsed>());
  }
};
}  // namespace hca::rtl

namespace hca::proto {
template <>
struct Layout<rtl::ParsedStart> {
  using P = rtl::ParsedStart;
  static constexpr std::string_view name = "parsed start";
  static constexpr auto fields = make_rows(reserved("spare", 2, ""),                       //
                                           field(&P::verdict, "verdict", 5),               //
                                           field(&P::payload_bytes, "payload_bytes", 16),  //
                                           field(&P::first, "first", 1),                   //
                                           field(&P::last, "last", 1),                     //
                                           field(&P::bytes, "bytes", 7));
};
static_assert(bytes_of<rtl::ParsedStart>() == 4);
}  // namespace hca::proto
