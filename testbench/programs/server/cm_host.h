// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "testbench/programs/server/cm_protocol.h"
#include "testbench/programs/server/device.h"

namespace hca::attach {
class CmId;

// What the programs of all HCAs share: which IP address is whose, ports, who listens.
class CmHost {
 public:
  // `patience`: ps; so long a request waits for a listener.
  CmHost(const std::vector<std::unique_ptr<Device>>& devices, const testbench::Testbed& testbed,
         const std::function<u64()>& patience);
  Device& device(s32 index) const { return *devices_[std::size_t(index)]; }
  u32 all() const { return (1u << devices_.size()) - 1; }

  // Of a channel or identifier: no other program has it.
  u32 give_handle() { return ++last_handle_; }

  // Of the port that has this GID; nothing: none has it.
  std::optional<u64> mac_of(const proto::Gid& gid) const;

  // ---- Addresses
  static bool is_any(const CmAddress& address);
  static bool is_multicast(const CmAddress& address);
  // Of this machine, and of no HCA: any HCA may be meant.
  static bool is_of_machine(const CmAddress& address);
  std::optional<s32> owner(const CmAddress& address) const;
  CmAddress address_of(s32 device, u8 family) const;
  // From which of these devices to which: one where somebody listens, then another one than the
  // sender's, then the first. Nothing: the address is nobody's.
  struct Ends {
    s32 from, to;
  };
  std::optional<Ends> choose(u32 from, const CmAddress& destination, u16 space) const;
  // Without the ends' ports.
  CmRoute route(Ends ends) const;

  // ---- Ports; `devices`: a bit for each
  bool is_free(u32 devices, u16 space, u16 port, bool reuses) const;
  u16 free_port(u32 devices, u16 space);  // 0: there is none
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
