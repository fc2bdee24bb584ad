// SPDX-License-Identifier: Apache-2.0
// The work requests of a send queue as a table (T3, T4).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/device.h"
#include "model/proto/transport/services.h"

namespace hca::proto {
// What a request is answered with, beyond an Acknowledge packet that may stand for many. Nothing:
// it sends no packet, it changes the key table (G5.4, G22.6).
enum class Answer : u8 { Acknowledge, Read, Atomic, Nothing };
constexpr bool has_response(Answer answer) {
  return answer == Answer::Read || answer == Answer::Atomic;
}

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
  Services services;      // that have it (T4)
  u32 segment_bytes = 0;  // between the WQE and its SGEs

  constexpr bool sends_payload() const { return answer == Answer::Acknowledge; }
  constexpr bool is_local() const { return answer == Answer::Nothing; }
};
inline constexpr std::array kWorkRows{
    // clang-format off
    //                                                                    first middle last  only                           immediate invalidate solicit credit
    WorkRow{WorkOpcode::Send,               "SEND",                        0x00, 0x01, 0x02, 0x04, CqeOpcode::Send,        false, false, true,  true,  Answer::Acknowledge, kSenders},
    WorkRow{WorkOpcode::SendImmediate,      "SEND with Immediate",         0x00, 0x01, 0x03, 0x05, CqeOpcode::Send,        true,  false, true,  true,  Answer::Acknowledge, kSenders},
    WorkRow{WorkOpcode::SendInvalidate,     "SEND with Invalidate",        0x00, 0x01, 0x16, 0x17, CqeOpcode::Send,        false, true,  true,  true,  Answer::Acknowledge, kRc | kXrc},
    WorkRow{WorkOpcode::RdmaWrite,          "RDMA WRITE",                  0x06, 0x07, 0x08, 0x0a, CqeOpcode::RdmaWrite,   false, false, false, false, Answer::Acknowledge, kConnected},
    WorkRow{WorkOpcode::RdmaWriteImmediate, "RDMA WRITE with Immediate",   0x06, 0x07, 0x09, 0x0b, CqeOpcode::RdmaWrite,   true,  false, true,  true,  Answer::Acknowledge, kConnected},
    WorkRow{WorkOpcode::RdmaRead,           "RDMA READ",                   0x0c, 0x0c, 0x0c, 0x0c, CqeOpcode::RdmaRead,    false, false, false, false, Answer::Read, kReliable},
    WorkRow{WorkOpcode::CompareSwap,        "CmpSwap",                     0x13, 0x13, 0x13, 0x13, CqeOpcode::CompareSwap, false, false, false, false, Answer::Atomic, kReliable, kAtomicOperandBytes},
    WorkRow{WorkOpcode::FetchAdd,           "FetchAdd",                    0x14, 0x14, 0x14, 0x14, CqeOpcode::FetchAdd,    false, false, false, false, Answer::Atomic, kReliable, kAtomicOperandBytes},
    WorkRow{WorkOpcode::BindMw,             "Bind MW",                     0,    0,    0,    0,    CqeOpcode::BindMw,      false, false, false, false, Answer::Nothing, kConnected, kMemorySegmentBytes},
    WorkRow{WorkOpcode::LocalInvalidate,    "Local Invalidate",            0,    0,    0,    0,    CqeOpcode::LocalInvalidate, false, true, false, false, Answer::Nothing, kConnected},
    WorkRow{WorkOpcode::RegisterMr,         "Fast Register MR",            0,    0,    0,    0,    CqeOpcode::RegisterMr,  false, false, false, false, Answer::Nothing, kConnected, kMemorySegmentBytes},
    // clang-format on
};
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
inline constexpr u32 kAtomicBytes = 8;
}  // namespace hca::proto
