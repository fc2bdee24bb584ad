// SPDX-License-Identifier: Apache-2.0
// Mailbox commands. A command block of 256 bytes lies in host memory: header, then the command's
// structure. The HCA reads it by DMA, executes it between packets and writes header (and, for a
// query, the structure) back.
#pragma once
#include <array>

#include "model/proto/device.h"
#include "model/proto/framing.h"

namespace hca::proto {
inline constexpr u32 kCommandBytes = 256;

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
};
enum class CommandStatus : u8 { Ok, BadOpcode, BadObject, BadValue, BadState, NoResources };
struct CommandStatusRow {
  CommandStatus status;
  std::string_view name, meaning;
};
// In the order of the values.
inline constexpr std::array kCommandStatuses{
    // clang-format off
    CommandStatusRow{CommandStatus::Ok,          "Ok",          ""},
    CommandStatusRow{CommandStatus::BadOpcode,   "BadOpcode",   "no such command"},
    CommandStatusRow{CommandStatus::BadObject,   "BadObject",   "no such object, or it exists already"},
    CommandStatusRow{CommandStatus::BadValue,    "BadValue",    "a value is out of its range"},
    CommandStatusRow{CommandStatus::BadState,    "BadState",    "the transition or its mask is refused; nothing changed"},
    CommandStatusRow{CommandStatus::NoResources, "NoResources", "a number or key is beyond its limit"},
    // clang-format on
};
constexpr std::string_view name_of(CommandStatus status) {
  return unsigned(status) < kCommandStatuses.size() ? kCommandStatuses[unsigned(status)].name
                                                    : "unknown";
}
static_assert(name_of(CommandStatus::NoResources) == "NoResources");
struct CommandHeader {
  CommandOpcode opcode;
  CommandStatus status;
  bool done;  // written last, by the HCA
  u32 object;
};
template <>
struct Layout<CommandHeader> {
  static constexpr std::string_view name = "command header";
  static constexpr auto fields = std::make_tuple(
      field(&CommandHeader::opcode, "Opcode", 8, "see below"),
      field(&CommandHeader::status, "Status", 8, "written by the HCA, see below"), unused(15),
      field(&CommandHeader::done, "Done", 1, "written by the HCA: the command is over"),
      field(&CommandHeader::object, "Object", 32, "number of the object it is about"), unused(64));
};
inline constexpr u32 kCommandHeaderBytes = bytes_of<CommandHeader>();
static_assert(kCommandHeaderBytes == 16);

struct PortAttributes {  // SetPort, QueryPort
  u8 framing;            // enum Framing
  u32 mtu;               // largest payload of a packet
  u64 mac;
  u64 gid_high, gid_low;
  u16 lid;
  u16 pkey;  // entry 0 of the table
  u64 gid6_high, gid6_low;
};
template <>
struct Layout<PortAttributes> {
  static constexpr std::string_view name = "port attributes";
  static constexpr auto fields = std::make_tuple(
      field(&PortAttributes::framing, "Framing", 8, "0 IB local, 1 IB global, 2 RoCEv1, 3 RoCEv2"),
      unused(8), field(&PortAttributes::lid, "LID", 16, "of the port"),
      field(&PortAttributes::mtu, "MTU", 32, "largest payload of a packet"), unused(16),
      field(&PortAttributes::mac, "MAC", 48, "of the port"),
      field(&PortAttributes::gid_high, "GIDHigh", 64, "entry 0 of the GID table"),
      field(&PortAttributes::gid_low, "GIDLow", 64, "entry 0; ::ffff:a.b.c.d for IPv4"),
      field(&PortAttributes::gid6_high, "GID1High", 64, "entry 1"),
      field(&PortAttributes::gid6_low, "GID1Low", 64, "entry 1"),
      field(&PortAttributes::pkey, "P_Key", 16, "entry 0 of the P_Key table"), unused(48));
};

struct QueueAttributes {  // CreateCq, CreateEq
  u64 address;
  u8 log_entries;
  u32 eqn;  // of a CQ: where its events go; 0: none
};
template <>
struct Layout<QueueAttributes> {
  static constexpr std::string_view name = "queue attributes";
  static constexpr auto fields = std::make_tuple(
      field(&QueueAttributes::address, "Address", 64, "of the ring in host memory"),
      field(&QueueAttributes::log_entries, "LogEntries", 8, "entries as a power of two"),
      field(&QueueAttributes::eqn, "EQN", 24, "of a CQ: event queue for its events, 0 none"),
      unused(32));
};

enum Access : u8 {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
};
struct MrAttributes {  // RegisterMr: the object is the key's index, the result the key
  u64 start;           // virtual address
  u64 bytes;
  u64 physical;  // of the region's first byte; regions are contiguous
  u32 pd;
  u32 key;
  u8 access;
};
template <>
struct Layout<MrAttributes> {
  static constexpr std::string_view name = "MR attributes";
  static constexpr auto fields = std::make_tuple(
      field(&MrAttributes::start, "Start", 64, "virtual address of the first byte"),
      field(&MrAttributes::bytes, "Length", 64, "of the region"),
      field(&MrAttributes::physical, "Physical", 64,
            "address of its first byte; a region is contiguous"),
      unused(8), field(&MrAttributes::pd, "PD", 24, "protection domain"),
      field(&MrAttributes::key, "Key", 32, "L_Key and R_Key: index (24 bits) and key byte"),
      field(&MrAttributes::access, "Access", 8,
            "1 local write, 2 remote write, 4 remote read, 8 remote atomic"),
      unused(56));
};

enum class QpState : u8 { Reset, Init, Rtr, Rts, Sqd, Sqe, Error };
inline constexpr std::array<std::string_view, 7> kQpStateNames{"Reset", "Init", "RTR",  "RTS",
                                                               "SQD",   "SQE",  "Error"};
constexpr std::string_view name_of(QpState state) {
  return unsigned(state) < kQpStateNames.size() ? kQpStateNames[unsigned(state)] : "unknown";
}

struct QpCreate {  // CreateQp
  u8 service;      // enum Service
  bool signal_all;
  u32 pd, send_cq, receive_cq;
  u64 sq_address, rq_address;
  u8 sq_log_entries, rq_log_entries;
  u8 sq_log_stride, rq_log_stride;  // bytes of a WQE slot, as a power of two
};
template <>
struct Layout<QpCreate> {
  static constexpr std::string_view name = "QP creation";
  static constexpr auto fields = std::make_tuple(
      field(&QpCreate::service, "Service", 8, "OpCode[7:5] of its service"),
      field(&QpCreate::pd, "PD", 24, "protection domain"),
      field(&QpCreate::signal_all, "SignalAll", 1, "every send WQE is signaled"), unused(7),
      field(&QpCreate::send_cq, "SendCQ", 24, "CQN"), unused(8),
      field(&QpCreate::receive_cq, "ReceiveCQ", 24, "CQN"),
      field(&QpCreate::sq_log_entries, "SqLog", 8, "WQE slots as a power of two"),
      field(&QpCreate::rq_log_entries, "RqLog", 8, "WQE slots as a power of two"),
      field(&QpCreate::sq_log_stride, "SqStride", 8, "bytes of a slot as a power of two, 6 to 8"),
      field(&QpCreate::rq_log_stride, "RqStride", 8, "the same, 5 to 8"),
      field(&QpCreate::sq_address, "SqAddress", 64, "of the ring"),
      field(&QpCreate::rq_address, "RqAddress", 64, "of the ring"));
};

// Which attributes a ModifyQp carries.
enum QpMask : u32 {
  kQpState = 1 << 0,
  kQpPkeyIndex = 1 << 1,
  kQpPort = 1 << 2,
  kQpAccess = 1 << 3,
  kQpPath = 1 << 4,
  kQpPathMtu = 1 << 5,
  kQpDestQpn = 1 << 6,
  kQpRqPsn = 1 << 7,
  kQpMaxDestRdAtomic = 1 << 8,
  kQpMinRnrTimer = 1 << 9,
  kQpTimeout = 1 << 10,
  kQpRetryCount = 1 << 11,
  kQpRnrRetry = 1 << 12,
  kQpSqPsn = 1 << 13,
  kQpMaxRdAtomic = 1 << 14,
  kQpQkey = 1 << 15,
};
struct QpAttributes {  // ModifyQp, QueryQp
  u32 mask;
  QpState state;
  u8 port, access;
  u16 pkey_index;
  u32 path_mtu, dest_qpn, rq_psn, sq_psn, qkey;
  u8 max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
  u8 timeout, retry_count, rnr_retry;
  // The path.
  u64 dmac, dgid_high, dgid_low;
  u8 sgid_index, traffic_class, hop_limit, sl;
  u32 flow_label;
  u16 dlid, udp_source_port;
  // Read only: what QueryQp adds.
  u32 sq_posted, sq_completed, rq_posted, rq_consumed, unacked_psn, msn;
};
template <>
struct Layout<QpAttributes> {
  static constexpr std::string_view name = "QP attributes";
  static constexpr auto fields = std::make_tuple(
      field(&QpAttributes::mask, "Mask", 32, "which attributes are given, one bit each, see below"),
      field(&QpAttributes::state, "State", 8,
            "0 Reset, 1 Init, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 Error"),
      field(&QpAttributes::port, "Port", 8, "1"),
      field(&QpAttributes::pkey_index, "P_KeyIndex", 16, "in the P_Key table"),
      field(&QpAttributes::access, "Access", 8, "as of a region"),
      field(&QpAttributes::dest_qpn, "DestQP", 24, "the peer's queue pair"),
      field(&QpAttributes::path_mtu, "PathMTU", 32, "bytes"), unused(8),
      field(&QpAttributes::rq_psn, "RqPSN", 24, "first PSN expected; queried: the next one"),
      unused(8),
      field(&QpAttributes::sq_psn, "SqPSN", 24, "first PSN to send; queried: the next one"),
      field(&QpAttributes::qkey, "Q_Key", 32, "of UD"),
      field(&QpAttributes::max_rd_atomic, "MaxRdAtomic", 8, "READs and ATOMICs in flight"),
      field(&QpAttributes::max_dest_rd_atomic, "MaxDestRdAtomic", 8, "the same as responder"),
      field(&QpAttributes::min_rnr_timer, "MinRnrTimer", 8, "timer code of RNR NAKs"),
      field(&QpAttributes::timeout, "Timeout", 8, "T = 4.096 us * 2^timeout, 0 off"),
      field(&QpAttributes::retry_count, "RetryCount", 8, "0 to 7"),
      field(&QpAttributes::rnr_retry, "RnrRetry", 8, "0 to 6, 7 for ever"),
      field(&QpAttributes::sgid_index, "SgidIndex", 8, "in the GID table"),
      field(&QpAttributes::sl, "SL", 8, "service level"),
      field(&QpAttributes::traffic_class, "TClass", 8, "of the path"),
      field(&QpAttributes::hop_limit, "HopLimit", 8, "of the path"),
      field(&QpAttributes::dlid, "DLID", 16, "of the path"),
      field(&QpAttributes::flow_label, "FlowLabel", 32, "of the path"),
      field(&QpAttributes::udp_source_port, "UdpSourcePort", 16, kUdpSourcePorts),
      field(&QpAttributes::dmac, "DMAC", 48, "of the path"),
      field(&QpAttributes::dgid_high, "DGIDHigh", 64, "of the path"),
      field(&QpAttributes::dgid_low, "DGIDLow", 64, "of the path"),
      field(&QpAttributes::sq_posted, "SqPosted", 32, "queried: send WQEs begun"),
      field(&QpAttributes::sq_completed, "SqCompleted", 32, "queried: send WQEs completed"),
      field(&QpAttributes::rq_posted, "RqPosted", 32, "queried: receive WQEs posted"),
      field(&QpAttributes::rq_consumed, "RqConsumed", 32, "queried: receive WQEs taken"), unused(8),
      field(&QpAttributes::unacked_psn, "UnackedPSN", 24, "queried: oldest unacknowledged PSN"),
      unused(8), field(&QpAttributes::msn, "MSN", 24, "queried: messages executed as responder"));
};
static_assert(kCommandHeaderBytes + bytes_of<QpAttributes>() <= kCommandBytes);
}  // namespace hca::proto
