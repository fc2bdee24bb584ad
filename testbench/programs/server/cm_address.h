// SPDX-License-Identifier: Apache-2.0
// Addresses of IPv4 and IPv6 as both sides of cm_protocol.h have them.
#pragma once
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "testbench/programs/server/cm_protocol.h"

namespace hca::attach {
// A family of 0: there is none, or one that is neither. IPv4-mapped addresses are those of IPv4.
inline CmAddress address_of(const sockaddr* address) {
  CmAddress out;
  if (address && address->sa_family == AF_INET) {
    const auto& in = *reinterpret_cast<const sockaddr_in*>(address);
    out.family = kIpv4, out.port = ntohs(in.sin_port);
    std::memcpy(out.ip.data() + kIpv4At, &in.sin_addr, sizeof in.sin_addr);
  } else if (address && address->sa_family == AF_INET6) {
    const auto& in = *reinterpret_cast<const sockaddr_in6*>(address);
    out.family = kIpv6, out.port = ntohs(in.sin6_port);
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
