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
  Drop,         // silently
  Nak,          // with `nak`, and nothing else changes (class B)
  NakAndFail,   // with `nak`, and the QP goes to Error (class A, C)
  RnrNak,       // class B with the RNR timer code
};
inline constexpr std::array<std::string_view, 7> kRequestActionNames{
    "Execute", "Acknowledge", "Repeat", "Drop", "Nak", "NakAndFail", "RnrNak"};
// Why; one counter each.
enum class RequestCause : u8 {
  Good,
  WrongService,
  BadQpState,
  WrongPath,
  BadPkey,
  Duplicate,
  NakPending,
  PsnAhead,
  BadSequence,
  Unsupported,
  TooManyReads,
  NoReceiveWqe,
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
    "Good",         "WrongService",    "BadQpState",      "WrongPath",     "BadPkey",
    "Duplicate",    "NakPending",      "PsnAhead",        "BadSequence",   "Unsupported",
    "TooManyReads", "NoReceiveWqe",    "BadLength",       "Misaligned",    "BadRkey",
    "NotSaved",     "ReceiveTooShort", "LocalProtection", "BadReceiveWqe", "UnreadableReceiveWqe",
    "BadInvalidate"};
static_assert(kRequestCauseNames.back() == "BadInvalidate");
}  // namespace hca::proto
