// SPDX-License-Identifier: Apache-2.0
// The work requests of a send queue, and what completes, as tables (T3, T4).
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "model/proto/interface/work_operands.h"
#include "model/proto/transport/operation_rows.h"
#include "model/proto/transport/services.h"

namespace hca::proto {
// ---- Completions
enum class CqeOpcode : u8 {
  Send,
  RdmaWrite,
  RdmaRead,
  CompareSwap,
  FetchAdd,
  BindMw,
  LocalInvalidate,
  RegisterMr,
  AtomicWrite,
  Flush,
  ExtendedGet,
  ExtendedPut,
  Receive = 128,
  ReceiveRdmaImmediate = 129,
};
constexpr bool is_of_receive(CqeOpcode opcode) { return opcode >= CqeOpcode::Receive; }

struct CompletionRow {
  CqeOpcode opcode;
  std::string_view name;
  std::string_view word;  // after IBV_WC_, if libibverbs has it
  std::string_view meaning;
};
inline constexpr auto kCompletionRows = [] {
  using enum CqeOpcode;
  return std::array{
      // clang-format off
      CompletionRow{Send,                 "Send",                 "SEND",               "a SEND of any kind"},
      CompletionRow{RdmaWrite,            "RdmaWrite",            "RDMA_WRITE",         "an RDMA WRITE of any kind"},
      CompletionRow{RdmaRead,             "RdmaRead",             "RDMA_READ",          "an RDMA READ"},
      CompletionRow{CompareSwap,          "CompareSwap",          "COMP_SWAP",          "a CmpSwap"},
      CompletionRow{FetchAdd,             "FetchAdd",             "FETCH_ADD",          "a FetchAdd"},
      CompletionRow{BindMw,               "BindMw",               "BIND_MW",            "a Bind MW"},
      CompletionRow{LocalInvalidate,      "LocalInvalidate",      "LOCAL_INV",          "a Local Invalidate"},
      CompletionRow{RegisterMr,           "RegisterMr",           "REG_MR",             "a Fast Register MR"},
      CompletionRow{AtomicWrite,          "AtomicWrite",          "ATOMIC_WRITE",       "an ATOMIC WRITE"},
      CompletionRow{Flush,                "Flush",                "FLUSH",              "a FLUSH"},
      CompletionRow{ExtendedGet,          "ExtendedGet",          "EXTENDED_GET",       "a GET Memory"},
      CompletionRow{ExtendedPut,          "ExtendedPut",          "EXTENDED_PUT",       "a PUT Memory"},
      CompletionRow{Receive,              "Receive",              "RECV",               "a SEND arrived"},
      CompletionRow{ReceiveRdmaImmediate, "ReceiveRdmaImmediate", "RECV_RDMA_WITH_IMM", "a WRITE with Immediate arrived"},
      // clang-format on
  };
}();

// ---- Work requests
enum class WorkOpcode : u8 {
  Send,
  SendImmediate,
  SendInvalidate,
  RdmaWrite,
  RdmaWriteImmediate,
  RdmaRead,
  CompareSwap,
  FetchAdd,
  BindMw,
  LocalInvalidate,
  RegisterMr,
  AtomicWrite,
  Flush,
  ExtendedGet,
  ExtendedPut,
};

// One row per work request: its opcodes by position, its contents and its completion.
struct WorkRow {
  WorkOpcode opcode;
  std::string_view name;
  std::string_view word;         // after IBV_WR_, where libibverbs has it
  u8 first, middle, last, only;  // OpCode[4:0]
  CqeOpcode completion;
  bool immediate, invalidate;
  bool solicitable;   // BTH-5: SE may be set in its last packet
  bool takes_credit;  // G6.3: it consumes a receive WQE of the peer
  Answer answer;
  bool payload;           // its packets carry the data of its SGEs
  u32 exact_bytes;        // total size of its SGEs; 0: any
  Services services;      // services that have it (T4)
  Capability capability;  // capability of a device that has it
  Operands operands;      // between the WQE's control segment and its SGEs

  constexpr u32 segment_bytes() const { return row_of(operands).layout.bytes; }
  constexpr bool sends_payload() const { return payload; }
  // Its data may be in its WQE, unless a response is written to its SGEs.
  constexpr bool may_be_inline() const { return payload && !places_response(); }
  constexpr bool is_local() const { return answer == Answer::Nothing; }
  // The data of the answer are written to its SGEs.
  constexpr bool places_response() const { return answer_row(answer).has_data; }
};
inline constexpr auto kWorkRows = [] {
  using enum WorkOpcode;
  using A = Answer;
  using C = Capability;
  using O = Operands;
  using Q = CqeOpcode;
  constexpr bool kYes = true, kNo = false;
  return std::array{
      // clang-format off
    //                                                                             first middle last  only  completion       imm   inv   solicit credit answer      payload bytes     services    capability      operands
    WorkRow{Send,               "SEND",                       "SEND",                 0x00, 0x01, 0x02, 0x04, Q::Send,            kNo,  kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kSenders,   C::Base,        O::None},
    WorkRow{SendImmediate,      "SEND with Immediate",        "SEND_WITH_IMM",        0x00, 0x01, 0x03, 0x05, Q::Send,            kYes, kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kSenders,   C::Base,        O::None},
    WorkRow{SendInvalidate,     "SEND with Invalidate",       "SEND_WITH_INV",        0x00, 0x01, 0x16, 0x17, Q::Send,            kNo,  kYes, kYes, kYes, A::Acknowledge, kYes, 0,            kRc | kXrc, C::Base,        O::None},
    WorkRow{RdmaWrite,          "RDMA WRITE",                 "RDMA_WRITE",           0x06, 0x07, 0x08, 0x0a, Q::RdmaWrite,       kNo,  kNo,  kNo,  kNo,  A::Acknowledge, kYes, 0,            kConnected, C::Base,        O::None},
    WorkRow{RdmaWriteImmediate, "RDMA WRITE with Immediate",  "RDMA_WRITE_WITH_IMM",  0x06, 0x07, 0x09, 0x0b, Q::RdmaWrite,       kYes, kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kConnected, C::Base,        O::None},
    WorkRow{RdmaRead,           "RDMA READ",                  "RDMA_READ",            0x0c, 0x0c, 0x0c, 0x0c, Q::RdmaRead,        kNo,  kNo,  kNo,  kNo,  A::Read,        kNo,  0,            kReliable,  C::Base,        O::None},
    WorkRow{CompareSwap,        "CmpSwap",                    "ATOMIC_CMP_AND_SWP",   0x13, 0x13, 0x13, 0x13, Q::CompareSwap,     kNo,  kNo,  kNo,  kNo,  A::Atomic,      kNo,  kAtomicBytes, kReliable,  C::Base,        O::Atomic},
    WorkRow{FetchAdd,           "FetchAdd",                   "ATOMIC_FETCH_AND_ADD", 0x14, 0x14, 0x14, 0x14, Q::FetchAdd,        kNo,  kNo,  kNo,  kNo,  A::Atomic,      kNo,  kAtomicBytes, kReliable,  C::Base,        O::Atomic},
    WorkRow{BindMw,             "Bind MW",                    "BIND_MW",              0,    0,    0,    0,    Q::BindMw,          kNo,  kNo,  kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        O::Memory},
    WorkRow{LocalInvalidate,    "Local Invalidate",           "LOCAL_INV",            0,    0,    0,    0,    Q::LocalInvalidate, kNo,  kYes, kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        O::None},
    WorkRow{RegisterMr,         "Fast Register MR",           "REG_MR",               0,    0,    0,    0,    Q::RegisterMr,      kNo,  kNo,  kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        O::Memory},
    WorkRow{AtomicWrite,        "ATOMIC WRITE",               "ATOMIC_WRITE",         0x1d, 0x1d, 0x1d, 0x1d, Q::AtomicWrite,     kNo,  kNo,  kNo,  kNo,  A::Empty,       kYes, kAtomicBytes, kRc,        C::AtomicWrite, O::None},
    WorkRow{Flush,              "FLUSH",                      "FLUSH",                0x1c, 0x1c, 0x1c, 0x1c, Q::Flush,           kNo,  kNo,  kNo,  kNo,  A::Empty,       kNo,  0,            kReliable,  C::Flush,       O::Flush},
    WorkRow{ExtendedGet,        "GET Memory",                 "EXTENDED_GET",         0x1a, 0x1a, 0x1a, 0x1a, Q::ExtendedGet,     kNo,  kNo,  kNo,  kNo,  A::Read,        kYes, 0,            kReliable,  C::Extended,    O::Get},
    WorkRow{ExtendedPut,        "PUT Memory",                 "EXTENDED_PUT",         0x1b, 0x1b, 0x1b, 0x1b, Q::ExtendedPut,     kNo,  kNo,  kNo,  kNo,  A::Acknowledge, kYes, 0,            kReliable,  C::Extended,    O::None},
      // clang-format on
  };
}();
constexpr const WorkRow* work_row(WorkOpcode opcode) {
  return std::size_t(opcode) < kWorkRows.size() ? &kWorkRows[std::size_t(opcode)] : nullptr;
}
// G23.1: the first packet of a SEND takes the receive WQE of the peer.
constexpr bool takes_credit_first(WorkOpcode opcode) {
  return kWorkRows[std::size_t(opcode)].completion == CqeOpcode::Send;
}

// The change of memory by a work request; its packets have the same opcodes in each service.
constexpr Change change_of(const WorkRow& work) {
  return work.is_local() ? Change::None : opcode_row(work.only)->traits().change;
}
// The operands of an ATOMIC as libibverbs gives them: one is compare_add; of two, swap is the new
// value and compare_add the expected one.
constexpr bool has_two_operands(Change change) { return change_row(change).operands == 2; }
constexpr AtomicOperands atomic_operands(const WorkRow& work, u64 compare_add, u64 swap) {
  if (has_two_operands(change_of(work))) return {.swap_or_add = swap, .compare = compare_add};
  return {.swap_or_add = compare_add, .compare = 0};
}
static_assert(std::ranges::all_of(kWorkRows, [](const WorkRow& work) {
  const u8 operands = work.is_local() ? 0 : change_row(change_of(work)).operands;
  return work.operands != Operands::Atomic || operands == 1 || operands == 2;
}));

// The completion of each work request has a row.
static_assert(std::ranges::all_of(kWorkRows, [](const WorkRow& work) {
  return std::ranges::any_of(
      kCompletionRows, [&](const CompletionRow& row) { return row.opcode == work.completion; });
}));

inline constexpr u64 kMaxMessageBytes = u64{1} << 31;  // C9-10, C9-16
}  // namespace hca::proto
