// SPDX-License-Identifier: Apache-2.0
// The attributes that the agent answers: one row each.
#pragma once
#include "testbench/sma/subnet_agent.h"

namespace hca::sma {
// Status bits 4:2 of a MAD (13.4.7).
enum class SmpStatus : u16 {
  Good = 0,
  BadVersion = 1 << 2,
  BadMethod = 2 << 2,
  BadAttribute = 3 << 2,  // the combination of method and attribute
  BadValue = 7 << 2       // a field of the attribute or its modifier
};

// One request at work: `data` is the attribute of the answer; of a Set, at first what it asks.
struct Access {
  const NodeFacts& facts;
  ManagedPort& port;
  PortDevice& device;
  u32 modifier;
  std::span<u8, proto::kSmpDataBytes> data;
  bool key_matches;
};
using AccessFunction = SmpStatus(Access&);

// A null function: the attribute has no such method.
struct AttributeRow {
  u16 id;
  AccessFunction* get;
  AccessFunction* set;
  bool needs_lanes = false;  // exists only with several data VLs
};
// nullptr: the agent has no such attribute.
const AttributeRow* attribute_row(u16 id, const NodeFacts& facts);

AccessFunction get_node_description, get_node_info, get_guid_info, set_guid_info, get_pkey_table,
    set_pkey_table, get_sl_to_vl, set_sl_to_vl, get_vl_arbitration, set_vl_arbitration;
AccessFunction get_port_info, set_port_info;  // port_info.cpp
}  // namespace hca::sma
