// SPDX-License-Identifier: Apache-2.0
// The actions on a request, and their causes.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
// The action on a request.
enum class RequestAction : u8 {
  Execute,
  Acknowledge,  // a duplicate SEND or WRITE: answer again, execute nothing (G3.1)
  Repeat,       // a duplicate READ or ATOMIC: answer from the saved state, or drop (G3.3, G3.4)
  Nak,          // send `nak`; no other change (class B)
  NakAndFail,   // send `nak`; the QP enters Error (class A, C)
  NakAndEnd,    // send `nak`; the message ends, queue pair and EE context go on (RD: class B or F)
  RnrNak,       // class B with the RNR timer code
  Fail,         // silent; the QP enters Error (class A of an unreliable service)
  Drop,         // silent (class D)
  Abandon,      // silent; also abandons the message that it belongs to (class D1)
};
inline constexpr std::array<std::string_view, 10> kRequestActionNames{
    "Execute",   "Acknowledge", "Repeat", "Nak",  "NakAndFail",
    "NakAndEnd", "RnrNak",      "Fail",   "Drop", "Abandon"};
// The request is not executed, and nothing is reported.
constexpr bool is_silent(RequestAction action) { return action >= RequestAction::Drop; }
// It sends a NAK code.
constexpr bool is_nak(RequestAction action) {
  return action >= RequestAction::Nak && action <= RequestAction::NakAndEnd;
}
// The action has its place in the order of answers; it takes effect only if no earlier request
// fails the queue pair.
constexpr bool is_refusal(RequestAction action) {
  return action >= RequestAction::Nak && action < RequestAction::Drop;
}
// The cause; one counter each.
enum class RequestCause : u8 {
  Good,
  WrongService,
  BadQpState,
  WrongPath,
  WrongVl,
  BadPkey,
  BadQkey,
  NoXrcSrq,
  WrongXrcDomain,
  NoRdQueue,
  WrongRdDomain,
  Duplicate,
  NakPending,
  PsnAhead,
  BadSequence,
  Unsupported,
  TooManyReads,
  NoReceiveWqe,
  SharedQueueFailed,
  BadLength,
  Misaligned,
  BadRkey,
  NotSaved,
  ReceiveTooShort,
  LocalProtection,
  BadReceiveWqe,
  UnreadableReceiveWqe,
  BadInvalidate,
  UnreadableMemory,
  Count,
};
inline constexpr std::array<std::string_view, std::size_t(RequestCause::Count)> kRequestCauseNames{
    "Good",
    "WrongService",
    "BadQpState",
    "WrongPath",
    "WrongVl",
    "BadPkey",
    "BadQkey",
    "NoXrcSrq",
    "WrongXrcDomain",
    "NoRdQueue",
    "WrongRdDomain",
    "Duplicate",
    "NakPending",
    "PsnAhead",
    "BadSequence",
    "Unsupported",
    "TooManyReads",
    "NoReceiveWqe",
    "SharedQueueFailed",
    "BadLength",
    "Misaligned",
    "BadRkey",
    "NotSaved",
    "ReceiveTooShort",
    "LocalProtection",
    "BadReceiveWqe",
    "UnreadableReceiveWqe",
    "BadInvalidate",
    "UnreadableMemory"};
static_assert(kRequestCauseNames.back() == "UnreadableMemory");
}  // namespace hca::proto
