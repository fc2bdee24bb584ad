// SPDX-License-Identifier: Apache-2.0
// Management datagrams of packets to QP0 and QP1: their kinds and their fields.
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/dissect.h"
#include "model/proto/wire/mad_tables.h"

namespace hca::proto {

// A kind of MAD, by its class and its attribute ID.
struct MadRow {
  u8 management_class;  // MgmtClass
  u16 attribute;
  std::string_view name;  // "REQ", "NodeInfo"
  // The layout of the class's data; nullptr: not shown.
  const HeaderInfo* header;
};
const MadRow* mad_row(u8 management_class, u64 attribute);  // nullptr: there is none
const FieldInfo* find_field(const HeaderInfo& header, std::string_view name);  // the same

inline constexpr u8 kCmClass = 0x07;
inline constexpr HeaderInfo kMad = mad_header("MAD", kMadFields);
inline constexpr HeaderInfo kIpCm = mad_header("IP CM", kIpCmFields);

// The reasons of a REJ (12.6.7.2) and statuses of a SIDR_REP (12.11.2.1) that testbench/cm sends.
enum class RejectReason : u16 {
  NoResources = 3,
  Timeout = 4,
  InvalidServiceId = 8,
  ConsumerReject = 28
};
enum class SidrStatus : u8 { Valid, ServiceIdNotSupported, RejectedByService, NoQp };
// The transport service in a REQ.
enum class TransportService : u8 { Rc, Uc };

// Adds the headers of the MAD that is the packet's payload, as far as `frame` has them, and returns
// its name: "CM REQ", "SMP Get NodeInfo". Adds nothing and returns "" for another packet.
std::string add_mad(std::span<const u8> frame, Dissection& d);

// The meaning of a field's value, as meaning_of() of print.h.
std::string mad_meaning_of(const HeaderInfo& info, const FieldInfo& field, const u8* header);

}  // namespace hca::proto
