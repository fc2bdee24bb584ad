// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "testbench/programs/server/cm_protocol.h"
#include "testbench/programs/server/device.h"

namespace hca::attach {
class CmId;

// State shared by the programs of all HCAs: the owners of IP addresses, ports, and listeners.
class CmHost {
 public:
  // `patience`: ps; how long a request waits for a listener.
  CmHost(const std::vector<std::unique_ptr<Device>>& devices, const testbench::Testbed& testbed,
         const std::function<u64()>& patience);
  Device& device(s32 index) const { return *devices_[std::size_t(index)]; }
  u32 all() const { return (1u << devices_.size()) - 1; }

  // A new handle for a channel or identifier; unique among all programs.
  u32 give_handle() { return ++last_handle_; }

  // The MAC address of the port with this GID; empty: there is none.
  std::optional<u64> mac_of(const proto::Gid& gid) const;

  // ---- Addresses
  static bool is_any(const CmAddress& address);
  static bool is_multicast(const CmAddress& address);
  // An address of this machine that belongs to no HCA: any HCA may be used.
  static bool is_of_machine(const CmAddress& address);
  std::optional<s32> owner(const CmAddress& address) const;
  CmAddress address_of(s32 device, u8 family) const;
  // Chooses the source and destination device: first one with a listener, then a device other than
  // the sender's, then the first. Empty: the address belongs to no device.
  struct Ends {
    s32 from, to;
  };
  std::optional<Ends> choose(u32 from, const CmAddress& destination, u16 space) const;
  // The route without the ports of its ends.
  CmRoute route(Ends ends) const;

  // ---- Ports; `devices`: one bit each
  bool is_free(u32 devices, u16 space, u16 port, bool reuses) const;
  u16 free_port(u32 devices, u16 space);  // 0: none is free
  void bind(CmId& id, u32 devices, u16 space, u16 port);
  void unbind(const CmId& id);
  CmId* listener(s32 device, u16 space, u16 port) const;

 private:
  struct Bound {
    CmId* id;
    u32 devices;
    u16 space, port;
  };
  cm::Listener take_request(s32 device, const cm::Mad& mad);

  const std::vector<std::unique_ptr<Device>>& devices_;
  std::vector<std::array<CmAddress, 2>> addresses_;  // IPv4, IPv6
  std::vector<Bound> bound_;
  u16 next_port_ = 0;
  u32 last_handle_ = 0;
};
}  // namespace hca::attach
