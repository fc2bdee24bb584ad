// SPDX-License-Identifier: Apache-2.0
// The operations as a table: the responder's treatment of each operation's packets (T3, T7, G22,
// G23, G29).
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "model/proto/interface/capabilities.h"
#include "model/proto/interface/rights.h"

namespace hca::proto {
enum class Operation : u8 {
  Send,
  Write,
  ReadRequest,
  ReadResponse,
  Acknowledge,
  AtomicAcknowledge,
  CompareSwap,
  FetchAdd,
  Resync,
  Get,
  Put,
  Flush,
  AtomicWrite,
  CongestionNotification,
};

// The message in progress at the responder: that of the latest First or Middle (T7).
enum class InMessage : u8 { None, Send, Write, Put };
// The header of a request that names memory of the responder.
enum class NamesMemory : u8 { Never, ByReth, ByAtomicEth };
// The packet that takes a receive WQE (G23.1).
enum class TakesReceive : u8 { Never, First, WithImmediate };
// The answer to a request.
enum class Answer : u8 {
  Acknowledge,  // one packet, which may acknowledge many
  Read,         // READ responses, as many as the bytes need
  Atomic,       // one ATOMIC Acknowledge
  Empty,        // one READ Response Only without payload
  Nothing,      // not a request, not executed by any device, or local work
};
struct AnswerRow {
  Answer answer;
  std::string_view name;
  Operation reply;  // of its packets
  bool is_saved;    // the request is kept for duplicates (G29)
  bool has_data;    // the requester writes the data to its SGEs
};
inline constexpr std::array kAnswerRows{
    // clang-format off
    //        answer               name                                  reply                         saved  data
    AnswerRow{Answer::Acknowledge, "Acknowledge",                        Operation::Acknowledge,       false, false},
    AnswerRow{Answer::Read,        "READ responses",                     Operation::ReadResponse,      true,  true},
    AnswerRow{Answer::Atomic,      "ATOMIC Acknowledge",                 Operation::AtomicAcknowledge, true,  true},
    AnswerRow{Answer::Empty,       "READ Response Only without payload", Operation::ReadResponse,      true,  false},
    AnswerRow{Answer::Nothing,     "none, it sends no packet",           Operation::Acknowledge,       false, false},
    // clang-format on
};
constexpr const AnswerRow& answer_row(Answer answer) { return kAnswerRows[std::size_t(answer)]; }
constexpr bool has_response(Answer answer) { return answer_row(answer).is_saved; }

inline constexpr u32 kAtomicBytes = 8;
// The new value of the 8 bytes that an operation changes (atomic_result()).
enum class Change : u8 {
  None,         // it changes none, or not exactly 8
  Place,        // the payload
  Add,          // the sum (ATOM-7)
  CompareSwap,  // another value, if the old one is as expected (ATOM-8)
};
struct ChangeRow {
  Change change;
  u8 operands;  // of 8 bytes each, the first one in SwapDt/AddDt
};
inline constexpr std::array kChangeRows{
    ChangeRow{Change::None, 0},
    ChangeRow{Change::Place, 1},
    ChangeRow{Change::Add, 1},
    ChangeRow{Change::CompareSwap, 2},
};
constexpr const ChangeRow& change_row(Change change) { return kChangeRows[std::size_t(change)]; }

struct OperationRow {
  Operation operation;
  std::string_view name;
  Capability capability;  // without it a responder refuses the operation (T10-2)
  bool extended;          // BTH-4: refused by its OpCode, even if the rest is truncated
  InMessage message;      // the message that its packets belong to; None: a single packet
  Answer answer;
  Rights needed_access;  // of the queue pair and of the key (G31.1, G22.2); a FLUSH needs a subset
  NamesMemory memory;
  u32 exact_bytes;  // accessed there, at a multiple of them; 0: as many as it names, anywhere
  TakesReceive receive;
  Change change;

  // True: it occupies an entry of the saved READs and ATOMICs (G29).
  constexpr bool is_saved() const { return has_response(answer); }
  // True: its payload is written to the memory that its first packet names.
  constexpr bool places_payload() const {
    return memory == NamesMemory::ByReth && message != InMessage::None;
  }
  constexpr bool is_atomic() const { return memory == NamesMemory::ByAtomicEth; }
  // ATOM-3, T10-3: its address must be a multiple of 8.
  constexpr bool is_aligned() const { return exact_bytes != 0; }
  constexpr bool changes_memory() const { return needed_access & kRemoteChanges; }
};

inline constexpr auto kOperationRows = [] {
  using enum Operation;
  using A = Answer;
  using C = Capability;
  using M = InMessage;
  using N = Change;
  using By = NamesMemory;
  using T = TakesReceive;
  constexpr bool kYes = true, kNo = false;
  constexpr Rights kFlushAny = kFlushGlobal | kFlushPersistent;
  return std::array{
      // clang-format off
      //           operation          name                 capability      extended message  answer          right               memory           exact bytes   receive WQE        change
      OperationRow{Send,              "Send",              C::Base,        kNo,  M::Send,  A::Acknowledge, 0,                  By::Never,       0,            T::First,         N::None},
      OperationRow{Write,             "Write",             C::Base,        kNo,  M::Write, A::Acknowledge, kRemoteWrite,       By::ByReth,      0,            T::WithImmediate, N::None},
      OperationRow{ReadRequest,       "ReadRequest",       C::Base,        kNo,  M::None,  A::Read,        kRemoteRead,        By::ByReth,      0,            T::Never,         N::None},
      OperationRow{ReadResponse,      "ReadResponse",      C::Missing,     kNo,  M::None,  A::Nothing,     0,                  By::Never,       0,            T::Never,         N::None},
      OperationRow{Acknowledge,       "Acknowledge",       C::Missing,     kNo,  M::None,  A::Nothing,     0,                  By::Never,       0,            T::Never,         N::None},
      OperationRow{AtomicAcknowledge, "AtomicAcknowledge", C::Missing,     kNo,  M::None,  A::Nothing,     0,                  By::Never,       0,            T::Never,         N::None},
      OperationRow{CompareSwap,       "CompareSwap",       C::Base,        kNo,  M::None,  A::Atomic,      kRemoteAtomic,      By::ByAtomicEth, kAtomicBytes, T::Never,         N::CompareSwap},
      OperationRow{FetchAdd,          "FetchAdd",          C::Base,        kNo,  M::None,  A::Atomic,      kRemoteAtomic,      By::ByAtomicEth, kAtomicBytes, T::Never,         N::Add},
      OperationRow{Resync,            "Resync",            C::Rd,          kNo,  M::None,  A::Acknowledge, 0,                  By::Never,       0,            T::Never,         N::None},
      OperationRow{Get,               "Get",               C::Extended,    kYes, M::None,  A::Read,        kRemoteRead,        By::ByReth,      0,            T::Never,         N::None},
      OperationRow{Put,               "Put",               C::Extended,    kYes, M::Put,   A::Acknowledge, kRemoteWrite,       By::ByReth,      0,            T::Never,         N::None},
      OperationRow{Flush,             "Flush",             C::Flush,       kYes, M::None,  A::Empty,       kFlushAny,          By::ByReth,      0,            T::Never,         N::None},
      OperationRow{AtomicWrite,       "AtomicWrite",       C::AtomicWrite, kYes, M::None,  A::Empty,       kRemoteAtomicWrite, By::ByReth,      kAtomicBytes, T::Never,         N::Place},
      OperationRow{CongestionNotification, "CongestionNotification", C::Missing, kNo, M::None, A::Nothing, 0,                  By::Never,       0, T::Never, N::None},
      // clang-format on
  };
}();
constexpr const OperationRow& operation_row(Operation operation) {
  return kOperationRows[std::size_t(operation)];
}

// The laws of the tables: the rows are complete and in the order of the enumerators.
static_assert([] {
  for (std::size_t i = 0; i < kAnswerRows.size(); ++i)
    if (std::size_t(kAnswerRows[i].answer) != i) return false;
  return kAnswerRows.size() == std::size_t(Answer::Nothing) + 1;
}());
static_assert([] {
  for (std::size_t i = 0; i < kChangeRows.size(); ++i)
    if (std::size_t(kChangeRows[i].change) != i) return false;
  return kChangeRows.size() == std::size_t(Change::CompareSwap) + 1;
}());
static_assert(kOperationRows.size() <= 16, "detail::place_of() and the RTL have 4 bits for it");
static_assert([] {
  for (std::size_t i = 0; i < kOperationRows.size(); ++i)
    if (std::size_t(kOperationRows[i].operation) != i) return false;
  return kOperationRows.size() == std::size_t(Operation::CongestionNotification) + 1;
}());
static_assert(std::ranges::all_of(
    kOperationRows, [](u32 bytes) { return bytes == 0 || bytes == kAtomicBytes; },
    &OperationRow::exact_bytes));
// An executed operation is part of a message or answered from an entry, and needs a right for the
// memory that it names; a RESYNC is neither (RSY-4). An operation that no device executes has no
// answer.
static_assert([] {
  for (const OperationRow& row : kOperationRows) {
    const bool in_message = row.message != InMessage::None;
    const bool names = row.memory != NamesMemory::Never;
    const bool missing = row.capability == Capability::Missing;
    if (missing != (row.answer == Answer::Nothing)) return false;
    if (missing && (in_message || names || row.needed_access)) return false;
    const bool alone = row.operation == Operation::Resync;
    if (!missing && (in_message == (row.is_saved() || alone) || names != (row.needed_access != 0)))
      return false;
  }
  return true;
}());

// An operation that changes exactly 8 bytes says how, and no two do it in the same way.
static_assert([] {
  for (const OperationRow& row : kOperationRows) {
    const bool changes = row.exact_bytes && row.changes_memory();
    if (changes != (row.change != Change::None)) return false;
    if (changes && std::ranges::count(kOperationRows, row.change, &OperationRow::change) != 1)
      return false;
  }
  return true;
}());

// The rights that commands may give on this device in addition to those of every device.
constexpr Rights optional_rights(const Capabilities& device) {
  Rights rights = 0;
  for (const OperationRow& row : kOperationRows)
    if (row.capability != Capability::Base && has(device, row.capability))
      rights |= row.needed_access;
  return rights;
}
}  // namespace hca::proto
