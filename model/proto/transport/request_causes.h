// SPDX-License-Identifier: Apache-2.0
// What may happen to a request, and why.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
// What happens to a request.
enum class RequestAction : u8 {
  Execute,
  Acknowledge,  // a duplicate SEND or WRITE: answer again, execute nothing (G3.1)
  Repeat,       // a duplicate READ or ATOMIC: answer from what is saved, or drop (G3.3, G3.4)
  Nak,          // with `nak`, and nothing else changes (class B)
  NakAndFail,   // with `nak`, and the QP goes to Error (class A, C)
  RnrNak,       // class B with the RNR timer code
  Fail,         // silently, and the QP goes to Error (class A of an unreliable service)
  Drop,         // silently (class D)
  Abandon,      // silently, and with it the message that it is in (class D1)
};
inline constexpr std::array<std::string_view, 9> kRequestActionNames{
    "Execute", "Acknowledge", "Repeat", "Nak", "NakAndFail", "RnrNak", "Fail", "Drop", "Abandon"};
// Nothing of it is executed and nobody is told.
constexpr bool is_silent(RequestAction action) { return action >= RequestAction::Drop; }
// It has its place in the order of answers; it happens only if nothing before it fails its queue
// pair.
constexpr bool is_refusal(RequestAction action) {
  return action >= RequestAction::Nak && action < RequestAction::Drop;
}
// Why; one counter each.
enum class RequestCause : u8 {
  Good,
  WrongService,
  BadQpState,
  WrongPath,
  WrongVl,
  BadPkey,
  BadQkey,
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
    "BadInvalidate"};
static_assert(kRequestCauseNames.back() == "BadInvalidate");
}  // namespace hca::proto
