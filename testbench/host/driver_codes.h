// SPDX-License-Identifier: Apache-2.0
// The codes that the driver of AEQ-1 to AEQ-24 knows: the object that each names, and the driver's
// reaction. A code that is not in the table has the object of its source and is abnormal (AEQ-12).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::testbench {
// AEQ-7. QpAlone, CqAlone: the source is ignored.
enum class CodeObject : u8 { OfSource, Qp, QpAlone, CqAlone };

enum class Reaction : u8 {
  Abnormal,        // AEQ-12
  Nothing,         // AEQ-13
  Established,     // AEQ-17
  Closing,         // AEQ-18
  Closed,          // AEQ-19
  BadClose,        // AEQ-20
  Reset,           // AEQ-21
  Suspended,       // AEQ-22
  SendsFin,        // AEQ-23
  TakesTerminate,  // AEQ-23
  CqError          // AEQ-11
};

struct DriverCode {
  u16 code;
  CodeObject object;
  Reaction reaction;
  std::string_view name;
};
inline constexpr std::array kDriverCodes{
    // clang-format off
    DriverCode{0x11c, CodeObject::Qp,       Reaction::Abnormal, "privileged operation denied"},
    DriverCode{0x11d, CodeObject::Qp,       Reaction::Abnormal, "invalidate of a type 1 window"},
    DriverCode{0x11e, CodeObject::Qp,       Reaction::Abnormal, "bind of a zero based type 1 window"},
    DriverCode{0x11f, CodeObject::Qp,       Reaction::Abnormal, "fast registration: invalid list"},
    DriverCode{0x121, CodeObject::Qp,       Reaction::Abnormal, "fast registration: mismatch of the list"},
    DriverCode{0x132, CodeObject::Qp,       Reaction::Abnormal, "datagram too long"},
    DriverCode{0x133, CodeObject::Qp,       Reaction::Abnormal, "datagram with a bad PD"},
    DriverCode{0x134, CodeObject::Qp,       Reaction::Abnormal, "datagram too short"},
    DriverCode{0x135, CodeObject::Qp,       Reaction::Abnormal, "invalid length of a datagram"},
    DriverCode{0x201, CodeObject::Qp,       Reaction::BadClose, "bad close"},
    DriverCode{0x202, CodeObject::QpAlone,  Reaction::Closing,  "bad LLP close"},
    DriverCode{0x203, CodeObject::OfSource, Reaction::CqError,  "CQ operation error"},
    DriverCode{0x205, CodeObject::Qp,       Reaction::Abnormal, "READ while its depth is zero"},
    DriverCode{0x206, CodeObject::Qp,       Reaction::Abnormal, "key zero"},
    DriverCode{0x207, CodeObject::Qp,       Reaction::Abnormal, "READ request queue full"},
    DriverCode{0x208, CodeObject::Qp,       Reaction::Abnormal, "invalid request"},
    DriverCode{0x20a, CodeObject::Qp,       Reaction::Abnormal, "WQE with an unexpected opcode"},
    DriverCode{0x20d, CodeObject::Qp,       Reaction::Abnormal, "remote access error"},
    DriverCode{0x20e, CodeObject::Qp,       Reaction::Abnormal, "remote operational error"},
    DriverCode{0x304, CodeObject::Qp,       Reaction::Abnormal, "invalid DDP version"},
    DriverCode{0x305, CodeObject::Qp,       Reaction::Abnormal, "invalid message offset"},
    DriverCode{0x307, CodeObject::Qp,       Reaction::Abnormal, "invalid queue number"},
    DriverCode{0x308, CodeObject::Qp,       Reaction::Abnormal, "last segment missing"},
    DriverCode{0x311, CodeObject::Qp,       Reaction::Abnormal, "invalid RDMAP version"},
    DriverCode{0x312, CodeObject::Qp,       Reaction::Abnormal, "unexpected RDMAP opcode"},
    DriverCode{0x313, CodeObject::Qp,       Reaction::Abnormal, "invalid READ request"},
    DriverCode{0x314, CodeObject::Qp,       Reaction::Abnormal, "invalid WRITE or READ response"},
    DriverCode{0x316, CodeObject::Qp,       Reaction::Abnormal, "response length error"},
    DriverCode{0x380, CodeObject::QpAlone,  Reaction::Abnormal, "empty multicast group"},
    DriverCode{0x381, CodeObject::QpAlone,  Reaction::Abnormal, "bad multicast address"},
    DriverCode{0x382, CodeObject::QpAlone,  Reaction::Abnormal, "bad QP of a multicast group"},
    DriverCode{0x383, CodeObject::QpAlone,  Reaction::Abnormal, "multicast group of another protocol"},
    DriverCode{0x401, CodeObject::Qp,       Reaction::Abnormal, "invalid ARP entry"},
    DriverCode{0x402, CodeObject::Qp,       Reaction::Abnormal, "invalid TCP option"},
    DriverCode{0x403, CodeObject::Qp,       Reaction::Abnormal, "stale ARP entry"},
    DriverCode{0x406, CodeObject::Qp,       Reaction::Abnormal, "invalid address handle"},
    DriverCode{0x501, CodeObject::QpAlone,  Reaction::Closed,   "LLP close complete"},
    DriverCode{0x502, CodeObject::QpAlone,  Reaction::Reset,    "LLP connection reset"},
    DriverCode{0x503, CodeObject::QpAlone,  Reaction::Closing,  "LLP FIN received"},
    DriverCode{0x505, CodeObject::Qp,       Reaction::Abnormal, "MPA CRC error"},
    DriverCode{0x507, CodeObject::Qp,       Reaction::Abnormal, "segment too small"},
    DriverCode{0x508, CodeObject::QpAlone,  Reaction::Abnormal, "LLP SYN received"},
    DriverCode{0x509, CodeObject::QpAlone,  Reaction::TakesTerminate, "LLP terminate received"},
    DriverCode{0x50a, CodeObject::Qp,       Reaction::Abnormal, "too many retries"},
    DriverCode{0x50c, CodeObject::Qp,       Reaction::Nothing,  "doubtful reachability"},
    DriverCode{0x50e, CodeObject::Qp,       Reaction::Established, "LLP connection established"},
    DriverCode{0x50f, CodeObject::OfSource, Reaction::Abnormal, "too many RNR NAKs"},
    DriverCode{0x520, CodeObject::OfSource, Reaction::Nothing,  "resource exhausted"},
    DriverCode{0x601, CodeObject::Qp,       Reaction::BadClose, "reset sent"},
    DriverCode{0x602, CodeObject::Qp,       Reaction::SendsFin, "terminate sent"},
    DriverCode{0x603, CodeObject::Qp,       Reaction::Nothing,  "reset not sent"},
    DriverCode{0x700, CodeObject::Qp,       Reaction::Abnormal, "QP catastrophic"},
    DriverCode{0x701, CodeObject::OfSource, Reaction::Abnormal, "function catastrophic"},
    DriverCode{0x702, CodeObject::CqAlone,  Reaction::Abnormal, "CQ catastrophic"},
    DriverCode{0x900, CodeObject::Qp,       Reaction::Suspended, "QP suspend complete"},
    // clang-format on
};
inline constexpr DriverCode kUnknownCode{0, CodeObject::OfSource, Reaction::Abnormal, ""};

constexpr const DriverCode& driver_code(u16 code) {
  for (const DriverCode& row : kDriverCodes)
    if (row.code == code) return row;
  return kUnknownCode;
}
static_assert([] {
  for (const DriverCode& row : kDriverCodes)
    if (&driver_code(row.code) != &row) return false;
  return true;
}());
}  // namespace hca::testbench
