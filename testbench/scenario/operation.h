// SPDX-License-Identifier: Apache-2.0
// The operations of a workload: one row each.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/work_rows.h"

namespace hca::testbench {
enum class Operation : u8 {
  Write,
  Send,
  Read,
  WriteImmediate,
  SendImmediate,
  CompareSwap,
  FetchAdd,
  SendInvalidate,
  AtomicWrite,
  Flush,
  ExtendedGet,
  ExtendedPut
};

struct OperationRow {
  Operation operation;
  std::string_view word, name;  // in a scenario, in a report
  proto::WorkOpcode opcode;
  bool writes;         // its payload is written to an address that the client gives
  bool takes_receive;  // the server gets a completion
  bool immediate;
  bool invalidates = false;  // a key of the server
  bool flushes = false;      // its size is of the place that it names, where WRITEs land

  constexpr const proto::WorkRow& work() const { return proto::kWorkRows[std::size_t(opcode)]; }
  constexpr bool is_atomic() const { return work().answer == proto::Answer::Atomic; }
  constexpr bool is_read() const { return work().answer == proto::Answer::Read; }
  // The client receives data; otherwise it sends them.
  constexpr bool fetches() const { return is_atomic() || is_read(); }
  // It takes one of the requests that the server keeps (connection.max_rd_atomic).
  constexpr bool is_saved() const { return proto::has_response(work().answer); }
  // Only its completion shows that it is done: one after the other is its latency test.
  constexpr bool is_alone() const { return is_saved() && !writes; }
};
inline constexpr std::array kOperations{
    // clang-format off
    //           operation                  word               name               opcode                                writes takes imm
    OperationRow{Operation::Write,          "write",           "WRITE",           proto::WorkOpcode::RdmaWrite,          true,  false, false},
    OperationRow{Operation::Send,           "send",            "SEND",            proto::WorkOpcode::Send,               false, true,  false},
    OperationRow{Operation::Read,           "read",            "READ",            proto::WorkOpcode::RdmaRead,           false, false, false},
    OperationRow{Operation::WriteImmediate, "write_immediate", "WRITE_IMMEDIATE", proto::WorkOpcode::RdmaWriteImmediate, true,  true,  true},
    OperationRow{Operation::SendImmediate,  "send_immediate",  "SEND_IMMEDIATE",  proto::WorkOpcode::SendImmediate,      false, true,  true},
    OperationRow{Operation::CompareSwap,    "compare_swap",    "CMP_SWAP",        proto::WorkOpcode::CompareSwap,        false, false, false},
    OperationRow{Operation::FetchAdd,       "fetch_add",       "FETCH_ADD",       proto::WorkOpcode::FetchAdd,           false, false, false},
    OperationRow{Operation::SendInvalidate, "send_invalidate", "SEND_INVALIDATE", proto::WorkOpcode::SendInvalidate,     false, true,  false, true},
    OperationRow{Operation::AtomicWrite,    "atomic_write",    "ATOMIC_WRITE",    proto::WorkOpcode::AtomicWrite,        true,  false, false},
    OperationRow{Operation::Flush,          "flush",           "FLUSH",           proto::WorkOpcode::Flush,              false, false, false, false, true},
    OperationRow{Operation::ExtendedGet,    "extended_get",    "GET_MEMORY",      proto::WorkOpcode::ExtendedGet,        false, false, false},
    OperationRow{Operation::ExtendedPut,    "extended_put",    "PUT_MEMORY",      proto::WorkOpcode::ExtendedPut,        true,  false, false},
    // clang-format on
};
// The rows are in the order of the enumerators.
static_assert([] {
  for (std::size_t i = 0; i < kOperations.size(); ++i)
    if (std::size_t(kOperations[i].operation) != i) return false;
  return kOperations.size() == std::size_t(Operation::ExtendedPut) + 1;
}());
inline constexpr std::size_t kOperationCount = kOperations.size();
constexpr const OperationRow& row_of(Operation operation) {
  return kOperations[std::size_t(operation)];
}
constexpr std::string_view name_of(Operation operation) { return row_of(operation).name; }

inline constexpr auto kOperationWords = [] {
  std::array<std::string_view, kOperationCount> words;
  for (std::size_t i = 0; i < kOperationCount; ++i) words[i] = kOperations[i].word;
  return words;
}();
}  // namespace hca::testbench
