// SPDX-License-Identifier: Apache-2.0
// The attributes of SetPort and QueryPort: a port and its tables.
#pragma once
#include <array>

#include "model/proto/interface/device.h"

namespace hca::proto {
inline constexpr u16 kMaxVlan = 0xfff;
inline constexpr unsigned kGidEntries = 8, kPkeyEntries = 16;

// Values as in ibv_port_state. Init and Armed are for a port with a subnet manager: in Init only
// QP 0 sends and receives, in Armed the others receive too.
enum class PortState : u8 { AsItIs = 0, Down = 1, Init = 2, Armed = 3, Active = 4 };

struct PortAttributes {
  u8 framing = 0;  // enum Framing
  PortState state{};
  u16 lid = 0;
  u8 lmc = 0;      // the port has the 2^LMC LIDs from `lid` on, a multiple of 2^LMC
  u32 mtu = 4096;  // largest payload of a packet
  u64 mac = 0;
  u16 vlan = 0;  // 0: none
  // G34.4: the VLAN priority of service level i in bits 4 i + 2 .. 4 i.
  u64 priorities = 0x7654'3210'7654'3210;
  std::array<Gid, kGidEntries> gids{};
  std::array<u16, kPkeyEntries> pkeys{0xffff};
  // G18.2, G19.2: counts of violations; they saturate.
  u16 bad_pkeys = 0, bad_qkeys = 0;
  u16 sm_lid = 0;
  bool reregister = false;
};
template <>
struct Layout<PortAttributes> {
  static constexpr std::string_view name = "port attributes";
  static constexpr auto fields =
      make_rows(field(&PortAttributes::framing, "Framing", 8,
                      "0 IB local, 1 IB global, 2 RoCEv1, 3 and 4 RoCEv2"),
                field(&PortAttributes::state, "State", 8,
                      "1 Down: nothing is sent, arriving frames are dropped; 4 Active; option "
                      "`managed_ports`: 2 Init, only QP 0 sends and receives; 3 Armed, only QP 0 "
                      "sends; SetPort: 0 unchanged, the first time Active. Down while its cable is "
                      "broken, then the "
                      "state that SetPort requested last"),
                field(&PortAttributes::lid, "LID", 16, "of the port"),
                field(&PortAttributes::mtu, "MTU", 32, "largest payload of a packet"),
                field(&PortAttributes::vlan, "VLAN", 16,
                      "1 .. 4095: frames carry its tag, others are dropped; 0: sent frames have no "
                      "tag, received tags are ignored"),
                field(&PortAttributes::mac, "MAC", 48, "of the port"),
                field(&PortAttributes::gids, "GIDs", 128 * kGidEntries,
                      "8 entries of 16 bytes; ::ffff:a.b.c.d for IPv4"),
                field(&PortAttributes::pkeys, "P_Keys", 16 * kPkeyEntries, "16 entries of 2 bytes"),
                field(&PortAttributes::bad_pkeys, "BadPkeys", 16,
                      "packets dropped for their P_Key, 0xffff at most; SetPort sets it"),
                field(&PortAttributes::bad_qkeys, "BadQkeys", 16, "the same for the Q_Key"),
                field(&PortAttributes::sm_lid, "SmLID", 16, "of the subnet manager"), unused(12),
                field(&PortAttributes::lmc, "LMC", 3,
                      "the port has the 2^LMC LIDs whose other bits are those of LID"),
                field(&PortAttributes::reregister, "Reregister", 1,
                      "SetPort: clients must register again; not stored"),
                field(&PortAttributes::priorities, "Priorities", 64,
                      "VLAN priority of service level i: bits 4 i + 2 .. 4 i"));
};

// The LIDs of a port differ in these bits.
constexpr u16 path_bits_of(const PortAttributes& port) { return u16((1u << port.lmc) - 1); }

inline bool is_down(const PortAttributes& port) { return port.state == PortState::Down; }
inline bool is_active(const PortAttributes& port) { return port.state == PortState::Active; }

constexpr u8 vlan_priority(const PortAttributes& port, u8 service_level) {
  return u8(port.priorities >> 4 * (service_level & 15) & 7);
}

// An entry of the GID table from two numbers, its high and low half.
constexpr Gid make_gid(u64 high, u64 low) {
  Gid gid;
  store_be<8>(gid.bytes.data(), high);
  store_be<8>(gid.bytes.data() + 8, low);
  return gid;
}
}  // namespace hca::proto
