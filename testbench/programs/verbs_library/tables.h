// SPDX-License-Identifier: Apache-2.0
// Tables between the verbs API and the device.
#pragma once
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/proto/interface/commands.h"
#include "model/proto/transport/services.h"
#include "model/proto/transport/work_rules.h"

namespace hca::verbs_library {
// The row with this value in a column; nullptr: none.
template <class Row, std::size_t kRows, class Value>
constexpr const Row* find_row(const std::array<Row, kRows>& rows, Value Row::*column, Value value) {
  for (const Row& row : rows)
    if (row.*column == value) return &row;
  return nullptr;
}

struct ServiceWord {
  ibv_qp_type type;
  proto::Service service;
  proto::QpSide side = proto::QpSide::Both;
  bool may_have_srq = false;
};
inline constexpr std::array kServices{
    ServiceWord{IBV_QPT_RC, proto::Service::Rc, proto::QpSide::Both, true},
    ServiceWord{IBV_QPT_UC, proto::Service::Uc},
    ServiceWord{IBV_QPT_UD, proto::Service::Ud, proto::QpSide::Both, true},
    ServiceWord{IBV_QPT_XRC_SEND, proto::Service::Xrc, proto::QpSide::Initiator},
    ServiceWord{IBV_QPT_XRC_RECV, proto::Service::Xrc, proto::QpSide::Target}};

struct AccessWord {
  unsigned flag;
  proto::Rights access;
};
inline constexpr std::array kAccessWords{AccessWord{IBV_ACCESS_LOCAL_WRITE, proto::kLocalWrite},
                                         AccessWord{IBV_ACCESS_REMOTE_WRITE, proto::kRemoteWrite},
                                         AccessWord{IBV_ACCESS_REMOTE_READ, proto::kRemoteRead},
                                         AccessWord{IBV_ACCESS_REMOTE_ATOMIC, proto::kRemoteAtomic},
                                         AccessWord{IBV_ACCESS_MW_BIND, proto::kBindWindow},
                                         AccessWord{IBV_ACCESS_ZERO_BASED, proto::kZeroBased}};
// Hints that regions may ignore. Huge pages are a hint for memory on demand, which does not exist
// here.
constexpr unsigned kHints = unsigned(IBV_ACCESS_OPTIONAL_RANGE) | unsigned(IBV_ACCESS_HUGETLB);
// Empty: a flag is not supported by the device.
constexpr std::optional<proto::Rights> access_of(unsigned flags) {
  proto::Rights access = 0;
  for (const AccessWord& word : kAccessWords)
    if (flags & word.flag) {
      access |= word.access;
      flags &= ~word.flag;
    }
  return flags ? std::nullopt : std::optional<proto::Rights>(access);
}
// T4; for an optional operation, only if the device has it.
inline bool may_send(proto::Service service, const proto::DeviceAttributes& device,
                     proto::WorkOpcode opcode) {
  const proto::WorkRow& row = *proto::work_row(opcode);
  return proto::may_send(service, row) && proto::has(device, row.capability);
}
// The verbs have one right for both: a right to write includes ATOMIC WRITE, if the device has it.
constexpr proto::Rights with_atomic_write(proto::Rights access, const proto::DeviceAttributes& of) {
  const bool writes = access & proto::kRemoteWrite && of.atomic_write;
  return proto::Rights(access | (writes ? proto::kRemoteAtomicWrite : 0));
}
constexpr unsigned flags_of(proto::Rights access) {
  unsigned flags = 0;
  for (const AccessWord& word : kAccessWords)
    if (access & word.access) flags |= word.flag;
  return flags;
}

// Windows of type 2 are those that belong to a queue pair and its domain.
struct WindowWord {
  ibv_mw_type type;
  proto::KeyKind kind;
  u8 offered;  // bit in the device's window types
  unsigned capability;
};
inline constexpr std::array kWindows{
    WindowWord{IBV_MW_TYPE_1, proto::KeyKind::Window1, 1, IBV_DEVICE_MEM_WINDOW},
    WindowWord{IBV_MW_TYPE_2, proto::KeyKind::Window2B, 4, IBV_DEVICE_MEM_WINDOW_TYPE_2B}};

// A work request's opcode, its flag in the extended API, and its data.
struct WorkWord {
  ibv_wr_opcode word;
  proto::WorkOpcode opcode;
  u64 flag;  // of ibv_qp_create_send_ops_flags
};
inline constexpr std::array kWork{
    // clang-format off
    WorkWord{IBV_WR_SEND,                 proto::WorkOpcode::Send,               IBV_QP_EX_WITH_SEND},
    WorkWord{IBV_WR_SEND_WITH_IMM,        proto::WorkOpcode::SendImmediate,      IBV_QP_EX_WITH_SEND_WITH_IMM},
    WorkWord{IBV_WR_SEND_WITH_INV,        proto::WorkOpcode::SendInvalidate,     IBV_QP_EX_WITH_SEND_WITH_INV},
    WorkWord{IBV_WR_RDMA_WRITE,           proto::WorkOpcode::RdmaWrite,          IBV_QP_EX_WITH_RDMA_WRITE},
    WorkWord{IBV_WR_RDMA_WRITE_WITH_IMM,  proto::WorkOpcode::RdmaWriteImmediate, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM},
    WorkWord{IBV_WR_RDMA_READ,            proto::WorkOpcode::RdmaRead,           IBV_QP_EX_WITH_RDMA_READ},
    WorkWord{IBV_WR_ATOMIC_CMP_AND_SWP,   proto::WorkOpcode::CompareSwap,        IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP},
    WorkWord{IBV_WR_ATOMIC_FETCH_AND_ADD, proto::WorkOpcode::FetchAdd,           IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD},
    WorkWord{IBV_WR_BIND_MW,              proto::WorkOpcode::BindMw,             IBV_QP_EX_WITH_BIND_MW},
    WorkWord{IBV_WR_LOCAL_INV,            proto::WorkOpcode::LocalInvalidate,    IBV_QP_EX_WITH_LOCAL_INV},
    WorkWord{IBV_WR_ATOMIC_WRITE,         proto::WorkOpcode::AtomicWrite,        IBV_QP_EX_WITH_ATOMIC_WRITE},
    // clang-format on
};

struct CompletionWord {
  proto::CqeOpcode opcode;
  ibv_wc_opcode word;
};
inline constexpr std::array kCompletions{
    // clang-format off
    CompletionWord{proto::CqeOpcode::Send,                 IBV_WC_SEND},
    CompletionWord{proto::CqeOpcode::RdmaWrite,            IBV_WC_RDMA_WRITE},
    CompletionWord{proto::CqeOpcode::RdmaRead,             IBV_WC_RDMA_READ},
    CompletionWord{proto::CqeOpcode::CompareSwap,          IBV_WC_COMP_SWAP},
    CompletionWord{proto::CqeOpcode::FetchAdd,             IBV_WC_FETCH_ADD},
    CompletionWord{proto::CqeOpcode::BindMw,               IBV_WC_BIND_MW},
    CompletionWord{proto::CqeOpcode::LocalInvalidate,      IBV_WC_LOCAL_INV},
    CompletionWord{proto::CqeOpcode::AtomicWrite,          IBV_WC_ATOMIC_WRITE},
    CompletionWord{proto::CqeOpcode::Receive,              IBV_WC_RECV},
    CompletionWord{proto::CqeOpcode::ReceiveRdmaImmediate, IBV_WC_RECV_RDMA_WITH_IMM},
    // clang-format on
};

// An asynchronous event; its object number is a column of proto::kAsyncEvents.
struct EventWord {
  proto::EventType type;
  ibv_event_type word;
};
inline constexpr std::array kEvents{
    // clang-format off
    EventWord{proto::EventType::QpFatal,          IBV_EVENT_QP_FATAL},
    EventWord{proto::EventType::QpReqErr,         IBV_EVENT_QP_REQ_ERR},
    EventWord{proto::EventType::QpAccessErr,      IBV_EVENT_QP_ACCESS_ERR},
    EventWord{proto::EventType::CqErr,            IBV_EVENT_CQ_ERR},
    EventWord{proto::EventType::CommEst,          IBV_EVENT_COMM_EST},
    EventWord{proto::EventType::SqDrained,        IBV_EVENT_SQ_DRAINED},
    EventWord{proto::EventType::QpLastWqeReached, IBV_EVENT_QP_LAST_WQE_REACHED},
    EventWord{proto::EventType::SrqLimitReached,  IBV_EVENT_SRQ_LIMIT_REACHED},
    EventWord{proto::EventType::SrqErr,           IBV_EVENT_SRQ_ERR},
    EventWord{proto::EventType::DeviceFatal,      IBV_EVENT_DEVICE_FATAL},
    EventWord{proto::EventType::PortErr,          IBV_EVENT_PORT_ERR},
    EventWord{proto::EventType::PortActive,       IBV_EVENT_PORT_ACTIVE},
    EventWord{proto::EventType::LidChange,        IBV_EVENT_LID_CHANGE},
    EventWord{proto::EventType::GidChange,        IBV_EVENT_GID_CHANGE},
    EventWord{proto::EventType::PkeyChange,       IBV_EVENT_PKEY_CHANGE},
    EventWord{proto::EventType::SmChange,         IBV_EVENT_SM_CHANGE},
    EventWord{proto::EventType::ClientReregister, IBV_EVENT_CLIENT_REREGISTER},
    EventWord{proto::EventType::PathMig,          IBV_EVENT_PATH_MIG},
    EventWord{proto::EventType::PathMigErr,       IBV_EVENT_PATH_MIG_ERR},
    // clang-format on
};
// libibverbs has no word for QP_SUSPENDED, and programs cannot ask for it.
// libibverbs has no events of EE contexts.
static_assert(kEvents.size() + 1 +
                  std::ranges::count(proto::kAsyncEvents, proto::EventObject::Eec,
                                     &proto::EventRow::object) ==
              proto::kAsyncEvents.size());

// The states have the same values.
static_assert(int(IBV_MIG_MIGRATED) == int(proto::PathMigState::Migrated) &&
              int(IBV_MIG_REARM) == int(proto::PathMigState::Rearm) &&
              int(IBV_MIG_ARMED) == int(proto::PathMigState::Armed));
static_assert(int(IBV_QPS_RESET) == int(proto::QpState::Reset) &&
              int(IBV_QPS_ERR) == int(proto::QpState::Error) &&
              int(IBV_QPS_SQE) == int(proto::QpState::Sqe));
// And the completion statuses.
static_assert(int(IBV_WC_REM_ABORT_ERR) == int(proto::WcStatus::RemAbortErr) &&
              int(IBV_WC_WR_FLUSH_ERR) == int(proto::WcStatus::WrFlushErr));
}  // namespace hca::verbs_library
