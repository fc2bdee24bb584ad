// SPDX-License-Identifier: Apache-2.0
// The work requests of a send queue as a table (T3, T4).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/device.h"
#include "model/proto/transport/operation_rows.h"
#include "model/proto/transport/services.h"

namespace hca::proto {
// One row per work request: its opcodes by position, what it carries and how it completes.
struct WorkRow {
  WorkOpcode opcode;
  std::string_view name;
  u8 first, middle, last, only;  // OpCode[4:0]
  CqeOpcode completion;
  bool immediate, invalidate;
  bool solicitable;   // BTH-5: SE may be set in its last packet
  bool takes_credit;  // G6.3: it consumes a receive WQE of the peer
  Answer answer;
  bool payload;           // its packets carry what its SGEs name
  u32 exact_bytes;        // that its SGEs have; 0: any number
  Services services;      // that have it (T4)
  Capability capability;  // of a device that has it
  u32 segment_bytes;      // between the WQE and its SGEs

  constexpr bool sends_payload() const { return payload; }
  constexpr bool is_local() const { return answer == Answer::Nothing; }
  // Its SGEs are where the data of the answer go.
  constexpr bool places_response() const {
    return answer == Answer::Read || answer == Answer::Atomic;
  }
};
inline constexpr u32 kAtomicBytes = 8;
inline constexpr auto kWorkRows = [] {
  using enum WorkOpcode;
  using A = Answer;
  using C = Capability;
  using Q = CqeOpcode;
  constexpr bool kYes = true, kNo = false;
  constexpr u32 kMemory = kMemorySegmentBytes;
  return std::array{
      // clang-format off
    //                                                        first middle last  only  completion       imm   inv   solicit credit answer      payload bytes     services    capability      segment
    WorkRow{Send,               "SEND",                       0x00, 0x01, 0x02, 0x04, Q::Send,            kNo,  kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kSenders,   C::Base,        0},
    WorkRow{SendImmediate,      "SEND with Immediate",        0x00, 0x01, 0x03, 0x05, Q::Send,            kYes, kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kSenders,   C::Base,        0},
    WorkRow{SendInvalidate,     "SEND with Invalidate",       0x00, 0x01, 0x16, 0x17, Q::Send,            kNo,  kYes, kYes, kYes, A::Acknowledge, kYes, 0,            kRc | kXrc, C::Base,        0},
    WorkRow{RdmaWrite,          "RDMA WRITE",                 0x06, 0x07, 0x08, 0x0a, Q::RdmaWrite,       kNo,  kNo,  kNo,  kNo,  A::Acknowledge, kYes, 0,            kConnected, C::Base,        0},
    WorkRow{RdmaWriteImmediate, "RDMA WRITE with Immediate",  0x06, 0x07, 0x09, 0x0b, Q::RdmaWrite,       kYes, kNo,  kYes, kYes, A::Acknowledge, kYes, 0,            kConnected, C::Base,        0},
    WorkRow{RdmaRead,           "RDMA READ",                  0x0c, 0x0c, 0x0c, 0x0c, Q::RdmaRead,        kNo,  kNo,  kNo,  kNo,  A::Read,        kNo,  0,            kReliable,  C::Base,        0},
    WorkRow{CompareSwap,        "CmpSwap",                    0x13, 0x13, 0x13, 0x13, Q::CompareSwap,     kNo,  kNo,  kNo,  kNo,  A::Atomic,      kNo,  kAtomicBytes, kReliable,  C::Base,        kAtomicOperandBytes},
    WorkRow{FetchAdd,           "FetchAdd",                   0x14, 0x14, 0x14, 0x14, Q::FetchAdd,        kNo,  kNo,  kNo,  kNo,  A::Atomic,      kNo,  kAtomicBytes, kReliable,  C::Base,        kAtomicOperandBytes},
    WorkRow{BindMw,             "Bind MW",                    0,    0,    0,    0,    Q::BindMw,          kNo,  kNo,  kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        kMemory},
    WorkRow{LocalInvalidate,    "Local Invalidate",           0,    0,    0,    0,    Q::LocalInvalidate, kNo,  kYes, kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        0},
    WorkRow{RegisterMr,         "Fast Register MR",           0,    0,    0,    0,    Q::RegisterMr,      kNo,  kNo,  kNo,  kNo,  A::Nothing,     kNo,  0,            kConnected, C::Base,        kMemory},
    WorkRow{AtomicWrite,        "ATOMIC WRITE",               0x1d, 0x1d, 0x1d, 0x1d, Q::AtomicWrite,     kNo,  kNo,  kNo,  kNo,  A::Empty,       kYes, kAtomicBytes, kRc,        C::AtomicWrite, 0},
    WorkRow{Flush,              "FLUSH",                      0x1c, 0x1c, 0x1c, 0x1c, Q::Flush,           kNo,  kNo,  kNo,  kNo,  A::Empty,       kNo,  0,            kReliable,  C::Flush,       kFlushOperandBytes},
      // clang-format on
  };
}();
constexpr const WorkRow* work_row(WorkOpcode opcode) {
  return std::size_t(opcode) < kWorkRows.size() ? &kWorkRows[std::size_t(opcode)] : nullptr;
}
// G23.1: a SEND takes the receive WQE of the peer by its first packet.
constexpr bool takes_credit_first(WorkOpcode opcode) {
  return kWorkRows[std::size_t(opcode)].completion == CqeOpcode::Send;
}
// Of a WQE that passed check_send_wqe.
constexpr const WorkRow& row_of(const SendWqe& wqe) { return kWorkRows[std::size_t(wqe.opcode)]; }

inline constexpr u64 kMaxMessageBytes = u64{1} << 31;  // C9-10, C9-16
}  // namespace hca::proto
