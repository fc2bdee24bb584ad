// SPDX-License-Identifier: Apache-2.0
// The device interface: what host software and the HCA share through the BAR and host memory. All
// structures are big-endian, bit 7 of byte 0 first, as the packet headers are.
#pragma once
#include "model/proto/interface/work_rows.h"
#include "model/proto/wire/layout.h"

namespace hca::proto {
// ---- The BAR
// One user page each 4 KiB; a doorbell is one 64-bit write.
enum class BarOffset : u32 {
  SendDoorbell = 0x000,
  ReceiveDoorbell = 0x008,
  CqDoorbell = 0x010,
  EqDoorbell = 0x018,
  CommandDoorbell = 0x020,
  SharedDoorbell = 0x028,
  PushBuffer = 0x800,
};
inline constexpr u32 kUserPageBytes = 4096;
inline constexpr u32 kPushBytes = 256;  // the largest WQE that can be pushed with its doorbell

// Allowed slot sizes of a ring of WQEs in bytes, as powers of two.
struct Strides {
  u8 least, most;
  constexpr bool include(u8 log_stride) const { return log_stride >= least && log_stride <= most; }
};
inline constexpr Strides kSendStrides{6, 9}, kReceiveStrides{5, 8};
inline constexpr u32 kMaxSendWqeBytes = 1u << kSendStrides.most,
                     kMaxReceiveWqeBytes = 1u << kReceiveStrides.most;
// A write at this offset continues a push that arrives as several writes: its WQE is fetched.
constexpr bool is_rest_of_push(u32 offset) {
  return offset > u32(BarOffset::PushBuffer) &&
         offset < u32(BarOffset::PushBuffer) + 8 + kPushBytes;
}

struct QueueDoorbell {  // SendDoorbell, ReceiveDoorbell
  u32 qpn;
  u16 producer;
};
template <>
struct Layout<QueueDoorbell> {
  static constexpr std::string_view name = "queue doorbell";
  static constexpr auto fields = make_rows(
      unused(8), field(&QueueDoorbell::qpn, "QPN", 24, "queue pair"), unused(16),
      field(&QueueDoorbell::producer, "ProducerIndex", 16, "WQEs posted so far, low 16 bits"));
};
static_assert(bytes_of<QueueDoorbell>() == 8);

enum class Arm : u8 { None, Next, Solicited };
struct CqDoorbell {
  Arm arm;
  u32 cqn;
  u32 consumer;
};
template <>
struct Layout<CqDoorbell> {
  static constexpr std::string_view name = "CQ doorbell";
  static constexpr auto fields = make_rows(
      unused(6),
      field(&CqDoorbell::arm, "Arm", 2,
            "0 none, 1 next completion, 2 next solicited one or error; unread ones count too"),
      field(&CqDoorbell::cqn, "CQN", 24, "completion queue"),
      field(&CqDoorbell::consumer, "ConsumerIndex", 32, "CQEs consumed so far"));
};
static_assert(bytes_of<CqDoorbell>() == 8);

struct EqDoorbell {
  bool arm;
  u32 eqn;
  u32 consumer;
};
template <>
struct Layout<EqDoorbell> {
  static constexpr std::string_view name = "EQ doorbell";
  static constexpr auto fields = make_rows(
      unused(7), field(&EqDoorbell::arm, "Arm", 1, "the next EQE, or an unread one, interrupts"),
      field(&EqDoorbell::eqn, "EQN", 24, "event queue"),
      field(&EqDoorbell::consumer, "ConsumerIndex", 32, "EQEs consumed so far"));
};
static_assert(bytes_of<EqDoorbell>() == 8);

struct CommandDoorbell {
  u64 address;  // address of a command block
};
template <>
struct Layout<CommandDoorbell> {
  static constexpr std::string_view name = "command doorbell";
  static constexpr auto fields = make_rows(
      field(&CommandDoorbell::address, "Address", 64, "of a command block in host memory"));
};

// ---- Work queue entries
// A send WQE: this control segment, the operands of its work request (work_rows.h), then SGEs (16
// bytes each) or inline data, up to the queue's stride.
struct SendWqe {
  WorkOpcode opcode;
  bool signaled, solicited, fence, inline_data;
  u8 sge_count;
  u16 index;  // the WQE's index in its queue, to check the form
  u32 immediate;
  u64 remote_va;
  u32 rkey;
  u32 inline_bytes;
  u32 remote_srqn = 0;
};
template <>
struct Layout<SendWqe> {
  static constexpr std::string_view name = "send WQE";
  static constexpr auto fields = make_rows(
      field(&SendWqe::opcode, "Opcode", 8, "work request, see below"),
      field(&SendWqe::signaled, "Signaled", 1, "a CQE also when it succeeds"),
      field(&SendWqe::solicited, "Solicited", 1, "BTH:SE in its last packet"),
      field(&SendWqe::fence, "Fence", 1, "waits for earlier READs and ATOMICs"),
      field(&SendWqe::inline_data, "Inline", 1, "the WQE contains the data, not SGEs"), unused(4),
      field(&SendWqe::sge_count, "SgeCount", 8, "SGEs that follow"), unused(8),
      field(&SendWqe::index, "Index", 16,
            "low 16 bits of the WQE's index, checked against its slot"),
      unused(16), field(&SendWqe::immediate, "Immediate", 32, "ImmDt, or the R_Key to invalidate"),
      field(&SendWqe::inline_bytes, "InlineBytes", 32, "of inline data"),
      field(&SendWqe::remote_va, "RemoteVA", 64, "RETH:VA"),
      field(&SendWqe::rkey, "R_Key", 32, "RETH:R_Key, or the new key of BIND_MW and REG_MR"),
      unused(8), field(&SendWqe::remote_srqn, "RemoteSRQ", 24, "XRC: XRCETH:XRCSRQ"));
};
inline constexpr u32 kSendWqeBytes = bytes_of<SendWqe>();
static_assert(kSendWqeBytes == 32);
// The row of a WQE that passed check_send_wqe.
constexpr const WorkRow& row_of(const SendWqe& wqe) { return kWorkRows[std::size_t(wqe.opcode)]; }

// After the control segment of every work request of a UD queue pair: its destination (PSR-10).
struct AddressHandle {
  u32 dest_qpn, qkey;
  bool global;  // native InfiniBand: has a GRH
  u8 sgid_index, sl, traffic_class, hop_limit;
  u32 flow_label;
  u16 dlid, udp_source_port;
  u64 dmac, dgid_high, dgid_low;
};
template <>
struct Layout<AddressHandle> {
  using A = AddressHandle;
  static constexpr std::string_view name = "address handle";
  static constexpr auto fields = make_rows(
      unused(8), field(&A::dest_qpn, "DestQP", 24, "queue pair there"),
      field(&A::qkey, "Q_Key", 32, "of the DETH; with bit 31 set, that of the own queue pair"),
      field(&A::global, "Global", 1, "native InfiniBand: with a GRH"), unused(7),
      field(&A::sgid_index, "SgidIndex", 8, "in the GID table"), field(&A::sl, "SL", 8, ""),
      field(&A::traffic_class, "TClass", 8, ""), field(&A::hop_limit, "HopLimit", 8, ""), unused(4),
      field(&A::flow_label, "FlowLabel", 20, ""), field(&A::dlid, "DLID", 16, ""),
      field(&A::udp_source_port, "UdpSourcePort", 16, "RoCEv2: 0xC000 to 0xFFFF"), unused(16),
      field(&A::dmac, "DMAC", 48, ""), field(&A::dgid_high, "DGIDHigh", 64, ""),
      field(&A::dgid_low, "DGIDLow", 64, ""), unused(32));
};
inline constexpr u32 kAddressHandleBytes = bytes_of<AddressHandle>();
static_assert(kAddressHandleBytes == 48);

// After the operands of every work request with packets of an RD queue pair: its destination (G13.2).
struct RdAddress {
  u32 eecn, dest_qpn, qkey;
};
template <>
struct Layout<RdAddress> {
  using A = RdAddress;
  static constexpr std::string_view name = "RD address";
  static constexpr auto fields = make_rows(
      unused(8), field(&A::eecn, "EEC", 24, "EE context of this device"), unused(8),
      field(&A::dest_qpn, "DestQP", 24, "queue pair at its other end"),
      field(&A::qkey, "Q_Key", 32, "of the DETH; with bit 31 set, that of the own queue pair"),
      unused(32));
};
inline constexpr u32 kRdAddressBytes = bytes_of<RdAddress>();
static_assert(kRdAddressBytes == 16);
// The destination that each work request of a service names.
constexpr u32 destination_bytes(Service service) {
  if (service == Service::Rd) return kRdAddressBytes;
  return service == Service::Ud ? kAddressHandleBytes : 0;
}

// A receive WQE: this header, then its SGEs.
struct ReceiveWqe {
  u8 sge_count;
  u16 index;
};
template <>
struct Layout<ReceiveWqe> {
  static constexpr std::string_view name = "receive WQE";
  static constexpr auto fields =
      make_rows(unused(8), field(&ReceiveWqe::sge_count, "SgeCount", 8, "SGEs that follow"),
                field(&ReceiveWqe::index, "Index", 16,
                      "low 16 bits of the WQE's index, checked against its slot"),
                unused(64), unused(32));
};
inline constexpr u32 kReceiveWqeBytes = bytes_of<ReceiveWqe>();
static_assert(kReceiveWqeBytes == 16);

struct Sge {
  u64 va;
  u32 lkey;
  u32 bytes;
};
template <>
struct Layout<Sge> {
  static constexpr std::string_view name = "SGE";
  static constexpr auto fields = make_rows(field(&Sge::va, "VA", 64, "virtual address"),
                                           field(&Sge::lkey, "L_Key", 32, "of its region"),
                                           field(&Sge::bytes, "Length", 32, "bytes; 0 is nothing"));
};
inline constexpr u32 kSgeBytes = bytes_of<Sge>();
static_assert(kSgeBytes == 16);

// ---- Completion and event queues
// T14: the values are those of ibv_wc_status.
enum class WcStatus : u8 {
  Success = 0,
  LocLenErr = 1,
  LocQpOpErr = 2,
  LocEecOpErr = 3,
  LocProtErr = 4,
  WrFlushErr = 5,
  MwBindErr = 6,
  BadRespErr = 7,
  LocAccessErr = 8,
  RemInvReqErr = 9,
  RemAccessErr = 10,
  RemOpErr = 11,
  RetryExcErr = 12,
  RnrRetryExcErr = 13,
  LocRddViolErr = 14,
  RemInvRdReqErr = 15,
  RemAbortErr = 16,
  InvEecnErr = 17,
  InvEecStateErr = 18,
};
// By value, as in ibv_wc_status without IBV_WC_.
inline constexpr std::array<std::string_view, 19> kWcStatusNames{
    "SUCCESS",        "LOC_LEN_ERR",       "LOC_QP_OP_ERR",    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",   "WR_FLUSH_ERR",      "MW_BIND_ERR",      "BAD_RESP_ERR",
    "LOC_ACCESS_ERR", "REM_INV_REQ_ERR",   "REM_ACCESS_ERR",   "REM_OP_ERR",
    "RETRY_EXC_ERR",  "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",  "INV_EECN_ERR",      "INV_EEC_STATE_ERR"};
constexpr std::string_view name_of(WcStatus status) {
  return unsigned(status) < kWcStatusNames.size() ? kWcStatusNames[unsigned(status)] : "unknown";
}
static_assert(name_of(WcStatus::InvEecStateErr) == kWcStatusNames.back());
static_assert(name_of(WcStatus::RetryExcErr) == "RETRY_EXC_ERR");

struct Cqe {
  CqeOpcode opcode;
  WcStatus status;
  bool with_immediate, with_invalidate, solicited;
  bool has_grh;
  u8 vendor_error;
  u32 qpn;
  u16 wqe_index;
  u32 byte_len;
  u32 immediate;
  u32 src_qp;
  u16 slid, pkey_index;
  u8 sl;
  u32 srqn;    // XRC
  bool phase;  // ownership bit: flips each time the ring wraps
};
template <>
struct Layout<Cqe> {
  static constexpr std::string_view name = "CQE";
  static constexpr auto fields = make_rows(
      field(&Cqe::opcode, "Opcode", 8, "what completed, see below"),
      field(&Cqe::status, "Status", 8, "value of ibv_wc_status"),
      field(&Cqe::with_immediate, "Immediate", 1, "ImmDt is valid"),
      field(&Cqe::with_invalidate, "Invalidate", 1, "ImmDt holds the R_Key invalidated"),
      field(&Cqe::solicited, "Solicited", 1, "the message had SE = 1"),
      field(&Cqe::has_grh, "Grh", 1, "UD: the first 40 bytes of the buffer hold a header"),
      unused(4), field(&Cqe::vendor_error, "VendorError", 8, "0"), unused(8),
      field(&Cqe::qpn, "QPN", 24, "queue pair"), unused(16),
      field(&Cqe::wqe_index, "WqeIndex", 16, "low 16 bits of the index of its WQE"),
      field(&Cqe::byte_len, "ByteLen", 32, "bytes of the message"),
      field(&Cqe::immediate, "ImmDt", 32, "immediate data"), unused(8),
      field(&Cqe::src_qp, "SrcQP", 24, "sender's queue pair (UD, RD)"),
      field(&Cqe::slid, "SLID", 16, "UD, native InfiniBand"),
      field(&Cqe::pkey_index, "P_KeyIndex", 16, "UD: entry that matched"),
      field(&Cqe::sl, "SL", 4, "UD, native InfiniBand"), unused(3),
      field(&Cqe::srqn, "SRQN", 24, "receive WQEs of XRC: their SRQ"),
      field(&Cqe::phase, "Phase", 1,
            "1 on the first pass of the ring, then 0, 1 ...: a change marks a new entry"));
};
inline constexpr u32 kCqeBytes = bytes_of<Cqe>();
static_assert(kCqeBytes == 32);

}  // namespace hca::proto
