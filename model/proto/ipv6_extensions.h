// SPDX-License-Identifier: Apache-2.0
// Extension headers of IPv6 in captures. The device itself neither sends nor takes them.
#pragma once
#include "model/proto/link_headers.h"

namespace hca::proto {

// RFC 8200: extension headers between IPv6 and what it carries. Of those with options `length`
// counts 8 bytes, without the first 8.
struct HopByHop {
  u8 next_header, length;
};
struct Routing {
  u8 next_header, length, type, segments_left;
};
struct DestinationOptions {
  u8 next_header, length;
};
struct Ipv6Fragment {
  u8 next_header;
  u16 offset;  // in 8 bytes
  bool has_more;
  u32 identification;
};
template <>
struct Layout<HopByHop> {
  static constexpr std::string_view name = "IPv6 hop-by-hop options";
  static constexpr auto fields =
      make_rows(field(&HopByHop::next_header, "NextHeader", 8, Show::Dec),
                field(&HopByHop::length, "Length", 8, Show::Dec));
};
template <>
struct Layout<Routing> {
  static constexpr std::string_view name = "IPv6 routing";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Routing::next_header,   "NextHeader",   8, Show::Dec),
      field(&Routing::length,        "Length",       8, Show::Dec),
      field(&Routing::type,          "Type",         8, Show::Dec),
      field(&Routing::segments_left, "SegmentsLeft", 8, Show::Dec));
  // clang-format on
};
template <>
struct Layout<DestinationOptions> {
  static constexpr std::string_view name = "IPv6 destination options";
  static constexpr auto fields =
      make_rows(field(&DestinationOptions::next_header, "NextHeader", 8, Show::Dec),
                field(&DestinationOptions::length, "Length", 8, Show::Dec));
};
template <>
struct Layout<Ipv6Fragment> {
  static constexpr std::string_view name = "IPv6 fragment";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Ipv6Fragment::next_header,    "NextHeader",     8, Show::Dec),
      reserved("Reserved", 8, ""),
      field(&Ipv6Fragment::offset,         "FragmentOffset", 13, Show::Dec),
      reserved("Reserved2", 2, ""),
      field(&Ipv6Fragment::has_more,       "M",              1),
      field(&Ipv6Fragment::identification, "Identification", 32));
  // clang-format on
};

static_assert(bytes_of<HopByHop>() == 2 && bytes_of<Routing>() == 4 &&
              bytes_of<DestinationOptions>() == 2 && bytes_of<Ipv6Fragment>() == 8);

}  // namespace hca::proto
