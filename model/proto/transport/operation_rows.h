// SPDX-License-Identifier: Apache-2.0
// The operations as a table: what a packet of each asks of a responder (T3, T7, G22, G23, G29).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/object_attributes.h"
#include "model/proto/types.h"

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

// What message the responder is inside of: the First or Middle that came last (T7).
enum class InMessage : u8 { None, Send, Write };
// The header by which a request names memory of the responder.
enum class NamesMemory : u8 { Never, ByReth, ByAtomicEth };
// The packet that takes a receive WQE (G23.1).
enum class TakesReceive : u8 { Never, First, WithImmediate };

struct OperationRow {
  Operation operation;
  std::string_view name;
  bool executed;      // by a responder; the others are refused (T10-2)
  bool extended;      // BTH-4: refused whatever stands after its BTH
  InMessage message;  // that its packets are part of; None: it is one packet
  bool saved;         // it takes an entry of the saved READs and ATOMICs (G29)
  u8 needed_access;   // the right of the queue pair and of the key (G31.1, G22.2)
  NamesMemory memory;
  TakesReceive receive;

  constexpr bool is_atomic() const { return memory == NamesMemory::ByAtomicEth; }
};

namespace detail {
inline constexpr bool kYes = true, kNo = false;
}
inline constexpr auto kOperationRows = [] {
  using namespace detail;
  using enum Operation;
  using M = InMessage;
  using By = NamesMemory;
  using T = TakesReceive;
  return std::array{
      // clang-format off
      //           operation          name                 executed extended message   saved  right          memory           receive WQE
      OperationRow{Send,              "Send",              kYes,    kNo,     M::Send,  kNo,   0,             By::Never,       T::First},
      OperationRow{Write,             "Write",             kYes,    kNo,     M::Write, kNo,   kRemoteWrite,  By::ByReth,      T::WithImmediate},
      OperationRow{ReadRequest,       "ReadRequest",       kYes,    kNo,     M::None,  kYes,  kRemoteRead,   By::ByReth,      T::Never},
      OperationRow{ReadResponse,      "ReadResponse",      kNo,     kNo,     M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{Acknowledge,       "Acknowledge",       kNo,     kNo,     M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{AtomicAcknowledge, "AtomicAcknowledge", kNo,     kNo,     M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{CompareSwap,       "CompareSwap",       kYes,    kNo,     M::None,  kYes,  kRemoteAtomic, By::ByAtomicEth, T::Never},
      OperationRow{FetchAdd,          "FetchAdd",          kYes,    kNo,     M::None,  kYes,  kRemoteAtomic, By::ByAtomicEth, T::Never},
      OperationRow{Resync,            "Resync",            kNo,     kNo,     M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{Get,               "Get",               kNo,     kYes,    M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{Put,               "Put",               kNo,     kYes,    M::None,  kNo,   0,             By::Never,       T::Never},
      OperationRow{Flush,             "Flush",             kNo,     kYes,    M::None,  kNo,   0,             By::ByReth,      T::Never},
      OperationRow{AtomicWrite,       "AtomicWrite",       kNo,     kYes,    M::None,  kNo,   0,             By::ByReth,      T::Never},
      OperationRow{CongestionNotification, "CongestionNotification", kNo, kNo, M::None, kNo,  0,             By::Never,       T::Never},
      // clang-format on
  };
}();
constexpr const OperationRow& operation_row(Operation operation) {
  return kOperationRows[std::size_t(operation)];
}

// The laws of the table: in the order of the operations, none is left out.
static_assert([] {
  for (std::size_t i = 0; i < kOperationRows.size(); ++i)
    if (std::size_t(kOperationRows[i].operation) != i) return false;
  return kOperationRows.size() == std::size_t(Operation::CongestionNotification) + 1;
}());
// What is executed is part of a message or answered from an entry, and needs a right for the memory
// that it names.
static_assert([] {
  for (const OperationRow& row : kOperationRows) {
    const bool in_message = row.message != InMessage::None;
    const bool names = row.memory != NamesMemory::Never;
    if (row.executed && (in_message == row.saved || names != (row.needed_access != 0)))
      return false;
    if (!row.executed && (in_message || row.saved || row.needed_access)) return false;
  }
  return true;
}());
}  // namespace hca::proto
