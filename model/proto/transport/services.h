// SPDX-License-Identifier: Apache-2.0
// The transport services (SVC-1), and sets of them for the rules.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/capabilities.h"

namespace hca::proto {
// OpCode[7:5].
enum class Service : u8 { Rc = 0, Uc = 1, Rd = 2, Ud = 3, Cnp = 4, Xrc = 5 };

constexpr std::string_view name_of(Service service) {
  constexpr std::array<std::string_view, 6> names{"RC", "UC", "RD", "UD", "CNP", "XRC"};
  return names[unsigned(service)];
}

inline constexpr std::array kServices{Service::Rc, Service::Uc, Service::Rd, Service::Ud,
                                      Service::Xrc};

// G24.1: a queue pair of XRC has one side, an initiator (INI) or a target (TGT). An EE context of RD
// is no queue pair: it has the transport state of both sides, but no work queues (G13.1).
enum class QpSide : u8 { Both, Initiator, Target, EeContext };

// One bit each.
enum ServiceBit : u8 { kRc = 1, kUc = 2, kRd = 4, kUd = 8, kXrc = 32 };
using Services = u8;
inline constexpr Services kConnected = kRc | kUc | kRd | kXrc;
inline constexpr Services kSenders = kConnected | kUd;
inline constexpr Services kReliable = kRc | kRd | kXrc;
// The services whose queue pairs a device executes.
inline constexpr Services kExecuted = kRc | kUc | kRd | kUd | kXrc;
// The others find their state by the queue pair alone.
inline constexpr Services kWithoutContext = kExecuted & ~kRd;

constexpr bool includes(Services set, Service service) { return set >> unsigned(service) & 1; }
// The devices that have a service.
constexpr Capability capability_of(Service service) {
  if (service == Service::Xrc) return Capability::Xrc;
  if (service == Service::Rd) return Capability::Rd;
  return includes(kExecuted, service) ? Capability::Base : Capability::Missing;
}
// T13: the kind of a queue pair: its service, but each side of XRC is its own kind, and so is an EE
// context.
enum QpKind : u8 { kEeContext = 16, kXrcInitiator = 64, kXrcTarget = 128 };
constexpr Services kind_of(Service service, QpSide side) {
  if (side == QpSide::EeContext) return kEeContext;
  if (service != Service::Xrc) return Services(1u << unsigned(service));
  return side == QpSide::Target ? kXrcTarget : kXrcInitiator;
}
// SVC-7: the other services have no answers and no repetitions.
constexpr bool is_reliable(Service service) { return includes(kReliable, service); }
// G6.1, G24.4: the other services have no end-to-end flow control.
constexpr bool counts_credits(Service service) { return service == Service::Rc; }
}  // namespace hca::proto
