// SPDX-License-Identifier: Apache-2.0
#include "testbench/sma/attributes.h"

#include <algorithm>

namespace hca::sma {
using namespace proto;

namespace {
// SwitchInfo and the forwarding tables are of switches, SMInfo of a node with a manager.
constexpr std::array kAttributes{
    AttributeRow{0x10, get_node_description, nullptr},
    AttributeRow{0x11, get_node_info, nullptr},
    AttributeRow{0x14, get_guid_info, set_guid_info},
    AttributeRow{0x15, get_port_info, set_port_info},
    AttributeRow{0x16, get_pkey_table, set_pkey_table},
    AttributeRow{0x17, get_sl_to_vl, set_sl_to_vl, true},
    AttributeRow{0x18, get_vl_arbitration, set_vl_arbitration, true},
};
constexpr u8 kChannelAdapter = 1;
constexpr unsigned kBlockOf32 = 32;
constexpr u8 kManagementLane = 15;

void put(Access& a, const HeaderInfo& header, std::string_view name, u64 value) {
  for (const FieldInfo& field : header)
    if (field.name == name) return set_bits(a.data.data(), field.bit_at, field.bits, value);
}
void clear(Access& a) { std::ranges::fill(a.data, u8{0}); }
}  // namespace

const AttributeRow* attribute_row(u16 id, const NodeFacts& facts) {
  const auto row = std::ranges::find(kAttributes, id, &AttributeRow::id);
  if (row == kAttributes.end()) return nullptr;
  return row->needs_lanes && facts.vl_cap < 2 ? nullptr : row;
}

SmpStatus get_node_description(Access& a) {
  clear(a);
  std::copy_n(a.facts.description.begin(), std::min(a.facts.description.size(), a.data.size()),
              a.data.begin());
  return SmpStatus::Good;
}

SmpStatus get_node_info(Access& a) {
  static constexpr HeaderInfo kNodeInfo = mad_header("NodeInfo", kNodeInfoFields);
  clear(a);
  put(a, kNodeInfo, "BaseVersion", 1);
  put(a, kNodeInfo, "ClassVersion", 1);
  put(a, kNodeInfo, "NodeType", kChannelAdapter);
  put(a, kNodeInfo, "NumPorts", a.facts.ports);
  put(a, kNodeInfo, "SystemImageGuid", a.facts.system_guid);
  put(a, kNodeInfo, "NodeGuid", a.facts.node_guid);
  put(a, kNodeInfo, "PortGuid", load_be<8>(a.device.query().gids[0].bytes.data() + 8));
  put(a, kNodeInfo, "PartitionCap", kPkeyEntries);
  put(a, kNodeInfo, "DeviceID", a.facts.device_id);
  put(a, kNodeInfo, "Revision", a.facts.revision);
  put(a, kNodeInfo, "LocalPortNum", a.device.number);
  put(a, kNodeInfo, "VendorID", a.facts.vendor_id);
  return SmpStatus::Good;
}

// ---- GUIDInfo: blocks of eight; entry 0 of block 0 is the port's own, read only.
SmpStatus get_guid_info(Access& a) {
  if (a.modifier) return SmpStatus::BadValue;
  const PortAttributes port = a.device.query();
  for (unsigned i = 0; i < kGidEntries; ++i)
    std::copy_n(port.gids[i].bytes.begin() + 8, 8, a.data.begin() + 8 * i);
  return SmpStatus::Good;
}
SmpStatus set_guid_info(Access& a) {
  if (a.modifier) return SmpStatus::BadValue;
  PortAttributes port = a.device.query();
  const u64 prefix = load_be<8>(port.gids[0].bytes.data());
  for (unsigned i = 1; i < kGidEntries; ++i) {
    const u64 guid = load_be<8>(a.data.data() + 8 * i);
    port.gids[i] = guid ? make_gid(prefix, guid) : Gid{};
  }
  if (!a.device.set(port)) return SmpStatus::BadValue;
  return get_guid_info(a);
}

// ---- P_KeyTable: blocks of 32; the port has half of the first one.
SmpStatus get_pkey_table(Access& a) {
  if (a.modifier & 0xffff) return SmpStatus::BadValue;
  clear(a);
  const PortAttributes port = a.device.query();
  for (unsigned i = 0; i < kPkeyEntries; ++i) store_be<2>(a.data.data() + 2 * i, port.pkeys[i]);
  return SmpStatus::Good;
}
SmpStatus set_pkey_table(Access& a) {
  if (a.modifier & 0xffff) return SmpStatus::BadValue;
  PortAttributes port = a.device.query();
  for (unsigned i = 0; i < kPkeyEntries; ++i) port.pkeys[i] = load_be<2>(a.data.data() + 2 * i);
  if (!a.device.set(port)) return SmpStatus::BadValue;
  return get_pkey_table(a);
}

// ---- SLtoVLMappingTable: 16 half bytes, SL 0 first.
SmpStatus get_sl_to_vl(Access& a) {
  clear(a);
  for (unsigned sl = 0; sl < a.port.sl_to_vl.size(); ++sl)
    set_bits(a.data.data(), 4 * sl, 4, a.port.sl_to_vl[sl]);
  return SmpStatus::Good;
}
SmpStatus set_sl_to_vl(Access& a) {
  for (unsigned sl = 0; sl < a.port.sl_to_vl.size(); ++sl)
    a.port.sl_to_vl[sl] = u8(get_bits(a.data.data(), 4 * sl, 4));
  return get_sl_to_vl(a);
}

// ---- VLArbitrationTable: block 1 is the low priority table, 3 the high one; 2 and 4, their upper
// halves, exist only in tables of more than 32 entries.
namespace {
ArbitrationTable* table_of(Access& a) {
  const u32 block = a.modifier >> 16;
  return block == 1 ? &a.port.low : block == 3 ? &a.port.high : nullptr;
}
}  // namespace
SmpStatus get_vl_arbitration(Access& a) {
  const ArbitrationTable* const table = table_of(a);
  if (!table) return SmpStatus::BadValue;
  clear(a);
  for (unsigned i = 0; i < kBlockOf32; ++i) {
    a.data[2 * i] = (*table)[i].vl;
    a.data[2 * i + 1] = (*table)[i].weight;
  }
  return SmpStatus::Good;
}
SmpStatus set_vl_arbitration(Access& a) {
  ArbitrationTable* const table = table_of(a);
  if (!table) return SmpStatus::BadValue;
  for (unsigned i = 0; i < kBlockOf32; ++i)
    if ((a.data[2 * i] & 15) == kManagementLane) return SmpStatus::BadValue;  // is never arbitrated
  for (unsigned i = 0; i < kBlockOf32; ++i)
    (*table)[i] = {u8(a.data[2 * i] & 15), a.data[2 * i + 1]};
  return get_vl_arbitration(a);
}
}  // namespace hca::sma
