// SPDX-License-Identifier: Apache-2.0
// Extension headers of IPv6 in captures. The device itself neither sends nor accepts them.
#pragma once
#include "model/proto/wire/link_headers.h"

namespace hca::proto {

// RFC 8200: extension headers between IPv6 and its payload. In headers with options, `length`
// counts units of 8 bytes, without the first 8.
struct Ipv6Options {
  u8 next_header, length;
};
struct HopByHop : Ipv6Options {};
struct DestinationOptions : Ipv6Options {};
struct Routing {
  u8 next_header, length, type, segments_left;
};
struct Ipv6Fragment {
  u8 next_header;
  u16 offset;  // in 8 bytes
  bool has_more;
  u32 identification;
};
template <>
struct Layout<Ipv6Options> {
  static constexpr auto fields =
      make_rows(field(&Ipv6Options::next_header, "NextHeader", 8, Show::Dec),
                field(&Ipv6Options::length, "Length", 8, Show::Dec));
};
template <>
struct Layout<HopByHop> : Layout<Ipv6Options> {
  static constexpr std::string_view name = "IPv6 hop-by-hop options";
};
template <>
struct Layout<DestinationOptions> : Layout<Ipv6Options> {
  static constexpr std::string_view name = "IPv6 destination options";
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
