// SPDX-License-Identifier: Apache-2.0
// Management datagrams of packets to QP0 and QP1: which they are, and their fields.
#pragma once
#include <span>
#include <string>

#include "model/proto/dissect.h"
#include "model/proto/mad_tables.h"

namespace hca::proto {

// One that a class and its attribute ID name.
struct MadRow {
  u8 management_class;  // MgmtClass
  u16 attribute;
  std::string_view name;  // "REQ", "NodeInfo"
  // What stands in the class's data, nullptr: not looked into.
  const HeaderInfo* header;
};
std::span<const MadRow> mad_rows();

// Adds the headers of the MAD that is the packet's payload, as far as `frame` has them, and returns
// what it is: "CM REQ", "SMP Get NodeInfo". Nothing and "" for another packet.
std::string add_mad(std::span<const u8> frame, Dissection& d);

// What a field's value stands for, as meaning_of() of print.h.
std::string mad_meaning_of(const HeaderInfo& info, const FieldInfo& field, const u8* header);

}  // namespace hca::proto
