// SPDX-License-Identifier: Apache-2.0
// Conversions of IPv4 and IPv6 addresses to those of cm_protocol.h, for both sides.
#pragma once
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "testbench/programs/server/cm_protocol.h"

namespace hca::attach {
// Family 0: no address, or another family. IPv4-mapped addresses count as IPv4.
inline CmAddress address_of(const sockaddr* address) {
  CmAddress out;
  if (address && address->sa_family == AF_INET) {
    const auto& in = *reinterpret_cast<const sockaddr_in*>(address);
    out.family = kIpv4;
    out.port = ntohs(in.sin_port);
    std::memcpy(out.ip.data() + kIpv4At, &in.sin_addr, sizeof in.sin_addr);
  } else if (address && address->sa_family == AF_INET6) {
    const auto& in = *reinterpret_cast<const sockaddr_in6*>(address);
    out.family = kIpv6;
    out.port = ntohs(in.sin6_port);
    std::memcpy(out.ip.data(), &in.sin6_addr, sizeof in.sin6_addr);
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      out.family = kIpv4;
      std::fill_n(out.ip.begin(), kIpv4At, u8{0});
    }
  }
  return out;
}
inline bool is_same_host(const CmAddress& a, const CmAddress& b) {
  return a.family == b.family && a.ip == b.ip;
}
}  // namespace hca::attach
