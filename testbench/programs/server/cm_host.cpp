// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/cm_host.h"

#include <ifaddrs.h>

#include <algorithm>
#include <tuple>

#include "testbench/programs/server/cm_address.h"
#include "testbench/programs/server/cm_session.h"

namespace hca::attach {
namespace {
constexpr u16 kFirstPort = 32768, kLastPort = 60999;  // as Linux gives them
constexpr u8 kAckTimeout = 14;                        // 67 ms

CmAddress ipv4_of(const proto::Gid& gid) {
  CmAddress address{kIpv4, 0, {}};
  std::copy_n(gid.bytes.begin() + kIpv4At, 4, address.ip.begin() + kIpv4At);
  return address;
}
// As in ibv_mtu.
u8 mtu_code(u32 bytes) {
  return u8(1 + (std::ranges::find(proto::kPathMtus, bytes) - proto::kPathMtus.begin()));
}
}  // namespace

CmHost::CmHost(const std::vector<std::unique_ptr<Device>>& devices,
               const testbench::Testbed& testbed, const std::function<u64()>& patience)
    : devices_(devices) {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const proto::PortAttributes port = testbed.port_of({unsigned(i), 0});
    addresses_.push_back({ipv4_of(port.gids[0]), {kIpv6, 0, port.gids[1].bytes}});
    devices_[i]->cm().set_host(
        {.find_listener = [this, i](const cm::Mad& mad) { return take_request(s32(i), mad); },
         .patience = patience,
         .mac_of = [this](const proto::Gid& gid) { return mac_of(gid); }});
  }
}

std::optional<u64> CmHost::mac_of(const proto::Gid& gid) const {
  for (const auto& device : devices_)
    for (const proto::PortAttributes& port : device->ports())
      if (std::ranges::find(port.gids, gid) != port.gids.end()) return port.mac;
  return std::nullopt;
}

// ---- Addresses
bool CmHost::is_any(const CmAddress& address) {
  return !address.family || std::ranges::all_of(address.ip, [](u8 byte) { return !byte; });
}
bool CmHost::is_multicast(const CmAddress& address) {
  return address.family == kIpv4 ? address.ip[kIpv4At] >> 4 == 0xe : address.ip[0] == 0xff;
}
bool CmHost::is_of_machine(const CmAddress& address) {
  constexpr u8 kLoopBack = 127;
  if (address.family == kIpv4 && address.ip[kIpv4At] == kLoopBack) return true;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all)) return false;
  bool found = false;
  for (const ifaddrs* at = all; at && !found; at = at->ifa_next)
    found = is_same_host(attach::address_of(at->ifa_addr), address);
  freeifaddrs(all);
  return found;
}

std::optional<s32> CmHost::owner(const CmAddress& address) const {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    for (const CmAddress& known : addresses_[i])
      if (is_same_host(known, address)) return s32(i);
  return std::nullopt;
}
CmAddress CmHost::address_of(s32 device, u8 family) const {
  return addresses_[std::size_t(device)][family == kIpv6];
}

std::optional<CmHost::Ends> CmHost::choose(u32 from, const CmAddress& destination,
                                           u16 space) const {
  const std::optional<s32> named = owner(destination);
  const bool group = is_multicast(destination);
  if (!from || (!named && !group && !is_of_machine(destination))) return std::nullopt;
  std::optional<std::tuple<bool, bool, s32, s32>> best;
  for (s32 source = 0; source < s32(devices_.size()); ++source)
    for (s32 to = 0; to < s32(devices_.size()); ++to) {
      if (!(from >> source & 1) || (named && *named != to)) continue;
      const std::tuple each{!group && !listener(to, space, destination.port),
                            (to == source) != group, source, to};
      if (!best || each < *best) best = each;
    }
  return Ends{std::get<2>(*best), std::get<3>(*best)};
}

CmRoute CmHost::route(Ends ends) const {
  CmRoute route;
  const proto::PortAttributes &here = device(ends.from).cm().port(),
                              &there = device(ends.to).cm().port();
  route.device = ends.from;
  route.sgid = here.gids[0].bytes;
  route.dgid = there.gids[0].bytes;
  route.slid = here.lid;
  route.dlid = there.lid;
  route.global = proto::Framing(here.framing) != proto::Framing::IbLocal;
  if (!proto::is_native(proto::Framing(here.framing))) route.slid = route.dlid = 0;
  route.hop_limit = kHopLimit;
  route.ack_timeout = kAckTimeout;
  route.mtu = mtu_code(std::min(here.mtu, there.mtu));
  return route;
}

// ---- Ports
bool CmHost::is_free(u32 devices, u16 space, u16 port, bool reuses) const {
  return std::ranges::none_of(bound_, [&](const Bound& b) {
    return (b.devices & devices) && b.space == space && b.port == port &&
           !(reuses && b.id->reuses() && !b.id->listens());
  });
}
u16 CmHost::free_port(u32 devices, u16 space) {
  constexpr u16 kPorts = kLastPort - kFirstPort + 1;
  for (u16 tried = 0; tried < kPorts; ++tried) {
    const u16 port = u16(kFirstPort + next_port_++ % kPorts);
    if (is_free(devices, space, port, false)) return port;
  }
  return 0;
}
void CmHost::bind(CmId& id, u32 devices, u16 space, u16 port) {
  bound_.push_back({&id, devices, space, port});
}
void CmHost::unbind(const CmId& id) {
  std::erase_if(bound_, [&](const Bound& b) { return b.id == &id; });
}
CmId* CmHost::listener(s32 device, u16 space, u16 port) const {
  for (const Bound& b : bound_)
    if ((b.devices >> device & 1) && b.space == space && b.port == port && b.id->listens())
      return b.id;
  return nullptr;
}

cm::Listener CmHost::take_request(s32 device, const cm::Mad& mad) {
  const u64 service = mad.get("ServiceID");
  const u16 space = u16(service >> 16), port = u16(service);
  if (service != cm::service_id(space, port)) return {};
  CmId* const id = listener(device, space, port);
  return id ? id->session().take_request(*id, device, mad) : cm::Listener{};
}
}  // namespace hca::attach
