// SPDX-License-Identifier: Apache-2.0
// Mailbox commands. A command block of 512 bytes lies in host memory: header, then the command's
// structure. The HCA reads it by DMA, executes it between packets and writes header (and, for a
// query, the structure) back.
#pragma once
#include <array>

#include "model/proto/interface/drop_counters.h"
#include "model/proto/interface/object_attributes.h"
#include "model/proto/interface/port_attributes.h"
#include "model/proto/interface/qp_attributes.h"
#include "model/proto/interface/srq_attributes.h"
#include "model/proto/interface/transport_counters.h"

namespace hca::proto {
inline constexpr u32 kCommandBytes = 512;

enum class CommandOpcode : u8 {
  None,
  SetPort,
  QueryPort,
  CreateEq,
  CreateCq,
  RegisterMr,
  DeregisterMr,
  CreateQp,
  ModifyQp,
  QueryQp,
  DestroyQp,
  QueryDevice,
  AllocPd,
  QueryPd,
  DeallocPd,
  QueryMr,
  QueryCq,
  DestroyCq,
  QueryEq,
  DestroyEq,
  SetVector,
  QueryVector,
  QueryDrops,
  AllocMw,
  DeallocMw,
  QueryMw,
  BindMw,
  AllocMr,
  ReregisterMr,
  QueryQpCreate,
  CreateSrq,
  ModifySrq,
  QuerySrq,
  DestroySrq,
  AttachMulticast,
  DetachMulticast,
  QueryTransport,
  SetContextMemory,
  ModifyCq,
  AllocXrcd,
  QueryXrcd,
  DeallocXrcd,
  RegisterSharedMr,
  AllocRdd,
  QueryRdd,
  DeallocRdd,
  CreateEec,
  ModifyEec,
  QueryEec,
  DestroyEec,
};
struct CommandOpcodeRow {
  CommandOpcode opcode;
  std::string_view name, meaning;
};
inline constexpr std::array kCommandOpcodes{
    // clang-format off
    CommandOpcodeRow{CommandOpcode::SetPort,      "SetPort",      "object: port number; port attributes"},
    CommandOpcodeRow{CommandOpcode::QueryPort,    "QueryPort",    "object: port number; returns port attributes"},
    CommandOpcodeRow{CommandOpcode::CreateEq,     "CreateEq",     "object: EQN; queue attributes. Vector must exist"},
    CommandOpcodeRow{CommandOpcode::CreateCq,     "CreateCq",     "object: CQN; queue attributes. EQN is 0 or exists"},
    CommandOpcodeRow{CommandOpcode::RegisterMr,   "RegisterMr",   "MR attributes. PD must exist, the key's index be free; remote write or atomic needs local write"},
    CommandOpcodeRow{CommandOpcode::DeregisterMr, "DeregisterMr", "object: key; Busy while a window is bound to it"},
    CommandOpcodeRow{CommandOpcode::CreateQp,     "CreateQp",     "object: QPN; QP creation. PD, CQs and SRQ must exist; QPN 0 and 1 are of UD. An XRC initiator has only PD and SendCQ, an XRC target only XRCD; the others of these are 0. RD has no SRQ"},
    CommandOpcodeRow{CommandOpcode::ModifyQp,     "ModifyQp",     "object: QPN; QP attributes"},
    CommandOpcodeRow{CommandOpcode::QueryQp,      "QueryQp",      "object: QPN; returns QP attributes"},
    CommandOpcodeRow{CommandOpcode::DestroyQp,    "DestroyQp",    "object: QPN; Busy while a window of type 2A is bound with it, or it is attached to a multicast group"},
    CommandOpcodeRow{CommandOpcode::QueryDevice,  "QueryDevice",  "returns device attributes"},
    CommandOpcodeRow{CommandOpcode::AllocPd,      "AllocPd",      "object: PD, not 0"},
    CommandOpcodeRow{CommandOpcode::QueryPd,      "QueryPd",      "object: PD; returns PD attributes"},
    CommandOpcodeRow{CommandOpcode::DeallocPd,    "DeallocPd",    "object: PD; Busy while an MR, MW, QP, SRQ or XRC domain belongs to it"},
    CommandOpcodeRow{CommandOpcode::QueryMr,      "QueryMr",      "object: key; returns MR attributes"},
    CommandOpcodeRow{CommandOpcode::QueryCq,      "QueryCq",      "object: CQN; returns queue attributes"},
    CommandOpcodeRow{CommandOpcode::DestroyCq,    "DestroyCq",    "object: CQN; Busy while a QP or an SRQ of XRC uses it"},
    CommandOpcodeRow{CommandOpcode::QueryEq,      "QueryEq",      "object: EQN; returns queue attributes"},
    CommandOpcodeRow{CommandOpcode::DestroyEq,    "DestroyEq",    "object: EQN; Busy while a CQ names it"},
    CommandOpcodeRow{CommandOpcode::SetVector,    "SetVector",    "object: vector; interrupt vector. Unmasking sends a pending message"},
    CommandOpcodeRow{CommandOpcode::QueryVector,  "QueryVector",  "object: vector; returns interrupt vector"},
    CommandOpcodeRow{CommandOpcode::QueryDrops,   "QueryDrops",   "object: port number; returns drop counters"},
    CommandOpcodeRow{CommandOpcode::AllocMw,      "AllocMw",      "MW attributes: PD, Key, Type. PD must exist, the key's index be free"},
    CommandOpcodeRow{CommandOpcode::DeallocMw,    "DeallocMw",    "object: key; a bound window is unbound"},
    CommandOpcodeRow{CommandOpcode::QueryMw,      "QueryMw",      "object: key; returns MW attributes"},
    CommandOpcodeRow{CommandOpcode::BindMw,       "BindMw",       "object: key of a window of type 1; MW attributes; returns Key with a new key byte"},
    CommandOpcodeRow{CommandOpcode::AllocMr,      "AllocMr",      "MR attributes: PD, Key. A region for fast registration; its key is Free"},
    CommandOpcodeRow{CommandOpcode::ReregisterMr, "ReregisterMr", "object: key; MR attributes. Like DeregisterMr and then RegisterMr; if it is refused, nothing changes"},
    CommandOpcodeRow{CommandOpcode::QueryQpCreate, "QueryQpCreate", "object: QPN; returns QP creation as given to CreateQp"},
    CommandOpcodeRow{CommandOpcode::CreateSrq,    "CreateSrq",    "object: SRQN, not 0; SRQ attributes. PD must exist; for an SRQ of XRC also XRCD and CQN"},
    CommandOpcodeRow{CommandOpcode::ModifySrq,    "ModifySrq",    "object: SRQN; SRQ attributes. A new ring must have room for all remaining WQEs, which software has copied there; BadState if the SRQ has failed"},
    CommandOpcodeRow{CommandOpcode::QuerySrq,     "QuerySrq",     "object: SRQN; returns SRQ attributes; BadState if it has failed"},
    CommandOpcodeRow{CommandOpcode::DestroySrq,   "DestroySrq",   "object: SRQN; Busy while a QP uses it"},
    CommandOpcodeRow{CommandOpcode::AttachMulticast, "AttachMulticast", "object: QPN of a UD queue pair; multicast attributes: datagrams to QP 0xFFFFFF with this DGID (and DLID) reach it too; BadState if it is already attached"},
    CommandOpcodeRow{CommandOpcode::DetachMulticast, "DetachMulticast", "object: QPN; multicast attributes as given to AttachMulticast"},
    CommandOpcodeRow{CommandOpcode::QueryTransport, "QueryTransport", "object: port number; returns transport counters"},
    CommandOpcodeRow{CommandOpcode::SetContextMemory, "SetContextMemory", "context memory: before the first CQ and QP, if the device needs it; afterwards BadState"},
    CommandOpcodeRow{CommandOpcode::ModifyCq,     "ModifyCq",     "object: CQN; queue attributes: those that Mask names; a new ring must have room for all unread CQEs. Returns queue attributes like QueryCq: CQEs from ProducerIndex on go to the new ring, software copies the earlier ones. BadState if the CQ has overflowed"},
    CommandOpcodeRow{CommandOpcode::AllocXrcd,    "AllocXrcd",    "object: XRC domain, not 0; XRC domain attributes. PD is 0 or exists; BadOpcode without XRC"},
    CommandOpcodeRow{CommandOpcode::QueryXrcd,    "QueryXrcd",    "object: XRC domain; returns XRC domain attributes"},
    CommandOpcodeRow{CommandOpcode::DeallocXrcd,  "DeallocXrcd",  "object: XRC domain; Busy while an SRQ or a target queue pair belongs to it"},
    CommandOpcodeRow{CommandOpcode::RegisterSharedMr, "RegisterSharedMr", "object: key of a region; MR attributes: Start, PD, Key, Access. Another region with the same memory"},
    CommandOpcodeRow{CommandOpcode::AllocRdd,     "AllocRdd",     "object: RD domain, not 0; BadOpcode without RD"},
    CommandOpcodeRow{CommandOpcode::QueryRdd,     "QueryRdd",     "object: RD domain; returns RD domain attributes"},
    CommandOpcodeRow{CommandOpcode::DeallocRdd,   "DeallocRdd",   "object: RD domain; Busy while a queue pair or an EE context belongs to it"},
    CommandOpcodeRow{CommandOpcode::CreateEec,    "CreateEec",    "object: EE context number; EE context creation; BadOpcode without RD"},
    CommandOpcodeRow{CommandOpcode::ModifyEec,    "ModifyEec",    "object: EE context number; QP attributes"},
    CommandOpcodeRow{CommandOpcode::QueryEec,     "QueryEec",     "object: EE context number; returns QP attributes"},
    CommandOpcodeRow{CommandOpcode::DestroyEec,   "DestroyEec",   "object: EE context number; queue pairs that ask for it end in error"},
    // clang-format on
};
static_assert([] {
  for (std::size_t i = 0; i < kCommandOpcodes.size(); ++i)
    if (std::size_t(kCommandOpcodes[i].opcode) != i + 1) return false;
  return true;
}());

enum class CommandStatus : u8 { Ok, BadOpcode, BadObject, BadValue, BadState, NoResources, Busy };
struct CommandStatusRow {
  CommandStatus status;
  std::string_view name, meaning;
};
// In the order of the values.
inline constexpr std::array kCommandStatuses{
    // clang-format off
    CommandStatusRow{CommandStatus::Ok,          "Ok",          ""},
    CommandStatusRow{CommandStatus::BadOpcode,   "BadOpcode",   "no such command"},
    CommandStatusRow{CommandStatus::BadObject,   "BadObject",   "no such object, or it already exists; or a referenced one does not exist"},
    CommandStatusRow{CommandStatus::BadValue,    "BadValue",    "a value is out of its range"},
    CommandStatusRow{CommandStatus::BadState,    "BadState",    "the transition or its mask is refused"},
    CommandStatusRow{CommandStatus::NoResources, "NoResources", "a number or key is beyond its limit"},
    CommandStatusRow{CommandStatus::Busy,        "Busy",        "another object uses it"},
    // clang-format on
};
constexpr std::string_view name_of(CommandStatus status) {
  return unsigned(status) < kCommandStatuses.size() ? kCommandStatuses[unsigned(status)].name
                                                    : "unknown";
}
static_assert(name_of(CommandStatus::Busy) == "Busy");
struct CommandHeader {
  CommandOpcode opcode;
  CommandStatus status;
  bool done;  // written last, by the HCA
  u32 object;
};
template <>
struct Layout<CommandHeader> {
  static constexpr std::string_view name = "command header";
  static constexpr auto fields = make_rows(
      field(&CommandHeader::opcode, "Opcode", 8, "see below"),
      field(&CommandHeader::status, "Status", 8, "written by the HCA, see below"), unused(15),
      field(&CommandHeader::done, "Done", 1, "written by the HCA: the command is over"),
      field(&CommandHeader::object, "Object", 32, "number of the object"), unused(64));
};
inline constexpr u32 kCommandHeaderBytes = bytes_of<CommandHeader>();
static_assert(kCommandHeaderBytes == 16);

template <class... Body>
inline constexpr bool kFitsBlock = ((kCommandHeaderBytes + bytes_of<Body>() <= kCommandBytes) &&
                                    ...);
static_assert(
    kFitsBlock<DeviceAttributes, ContextMemoryAttributes, PortAttributes, QueueAttributes,
               MrAttributes, MwAttributes, QpCreate, QpAttributes, SrqAttributes, VectorAttributes,
               PdAttributes, DropCounters, MulticastAttributes, TransportCounters>);
}  // namespace hca::proto
