// SPDX-License-Identifier: Apache-2.0
// The subnet management agent of an end port (chapter 14): what QP 0 answers to SMPs, LID routed and
// directed. It is host software: it changes the port by SetPort, and the device raises the events.
#pragma once
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "model/proto/interface/port_attributes.h"
#include "model/proto/wire/mad_tables.h"

namespace hca::sma {
using Smp = std::array<u8, proto::kMadBytes>;

// What the node is.
struct NodeFacts {
  u64 system_guid = 0x0200'00ff'fe00'0000, node_guid = 0x0200'00ff'fe00'0001;
  u32 device_id = 0x1001, revision = 1, vendor_id = 0x020000;
  std::string description = "hca";
  u8 ports = 1;
  bool echoes_key = false;  // an answer has the M_Key of its request; otherwise 0
  u8 vl_cap = 1;            // 1: VL0, 2: VL0-1, 3: VL0-3, 4: VL0-7, 5: VL0-14
};

// Entries of an arbitration table: VL and weight.
inline constexpr unsigned kArbitrationEntries = 32;
struct VlWeight {
  u8 vl = 0, weight = 0;
};
using ArbitrationTable = std::array<VlWeight, kArbitrationEntries>;

// What a manager sets at a port and the device does not hold.
struct ManagedPort {
  u64 m_key = 0;
  u8 protect = 0;
  u16 lease = 0;  // seconds; 0: it never ends
  u16 m_key_violations = 0;
  u64 lease_ends = 0;  // ns; 0: it does not run
  u8 sm_sl = 0, operational_vls = 1, vl_high_limit = 0, subnet_timeout = 0;
  std::array<u8, 16> sl_to_vl{};
  ArbitrationTable low{}, high{};
};

// The device's port, by its commands.
struct PortDevice {
  u8 number = 1;
  std::function<proto::PortAttributes()> query;
  std::function<bool(const proto::PortAttributes&)> set;  // false: it refuses
};

// A received SMP; `slid`: of its LRH.
struct Received {
  std::span<const u8> bytes;
  u16 slid = 0;
  u64 now_ns = 0;
};
struct Answer {
  Smp bytes;
  u16 dlid;
};

class SubnetAgent {
 public:
  SubnetAgent(NodeFacts facts, PortDevice device)
      : facts_(std::move(facts)), device_(std::move(device)) {}

  // Empty: it draws no answer.
  std::optional<Answer> take(const Received& received);
  const ManagedPort& port() const { return port_; }

 private:
  const NodeFacts facts_;
  PortDevice device_;
  ManagedPort port_;
};
}  // namespace hca::sma
