// SPDX-License-Identifier: Apache-2.0
// The transport services (SVC-1), and sets of them for the rules.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
// OpCode[7:5].
enum class Service : u8 { Rc = 0, Uc = 1, Rd = 2, Ud = 3, Cnp = 4, Xrc = 5 };

constexpr std::string_view name_of(Service service) {
  constexpr std::array<std::string_view, 6> names{"RC", "UC", "RD", "UD", "CNP", "XRC"};
  return names[unsigned(service)];
}

inline constexpr std::array kServices{Service::Rc, Service::Uc, Service::Rd, Service::Ud,
                                      Service::Xrc};

// One bit each.
enum ServiceBit : u8 { kRc = 1, kUc = 2, kRd = 4, kUd = 8, kXrc = 32 };
using Services = u8;
inline constexpr Services kConnected = kRc | kUc | kRd | kXrc;
inline constexpr Services kSenders = kConnected | kUd;
inline constexpr Services kReliable = kRc | kRd | kXrc;
// The services whose queue pairs a device executes.
inline constexpr Services kExecuted = kRc | kUc | kUd;

constexpr bool includes(Services set, Service service) { return set >> unsigned(service) & 1; }
// SVC-7: the other services have no answers and no repetitions.
constexpr bool is_reliable(Service service) { return includes(kReliable, service); }
}  // namespace hca::proto
