// SPDX-License-Identifier: Apache-2.0
// The rows of T9 and T10: which operations can have each error. The class of a row on a service is
// in its statement (requirements.csv).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/work_rows.h"
#include "model/proto/wire/opcodes.h"

namespace hca::testbench {
// An operation of the matrix: that of packets, or the work requests without packets together.
struct MatrixOperation {
  std::string_view name;
  proto::Operation operation{};
  bool is_local = false;

  constexpr const proto::OperationRow& row() const { return proto::operation_row(operation); }
  // G23.1: some packet of the operation takes a receive WQE.
  constexpr bool takes_receive() const {
    return !is_local && row().receive != proto::TakesReceive::Never;
  }
  constexpr bool names_memory() const {
    return !is_local && row().memory != proto::NamesMemory::Never;
  }
  constexpr bool is_saved() const { return !is_local && row().is_saved(); }
  constexpr bool in_message() const { return !is_local && row().message != proto::InMessage::None; }
  constexpr bool has_data() const;
  constexpr bool invalidates() const;
};
constexpr bool MatrixOperation::has_data() const {
  for (const proto::WorkRow& work : proto::kWorkRows) {
    if (work.is_local() || proto::opcode_row(work.only)->operation != operation) continue;
    if (work.sends_payload() || work.places_response()) return !is_local;
  }
  return false;
}
constexpr bool MatrixOperation::invalidates() const {
  for (const proto::OpcodeRow& row : proto::kOpcodeRows)
    if (row.operation == operation && row.has(proto::Ext::Ieth)) return !is_local;
  return false;
}

// One side of a connection, with its table of errors.
struct MatrixError {
  int number;  // of its row
  bool (*concerns)(const MatrixOperation&);
};
namespace matrix_errors {
using O = const MatrixOperation&;
constexpr bool any(O o) { return !o.is_local; }
constexpr bool receives(O o) { return o.takes_receive(); }
constexpr bool names(O o) { return o.names_memory(); }
// Its data go to the buffer of the receive WQE. A WRITE with Immediate only takes one up.
constexpr bool fills(O o) { return o.takes_receive() && !o.names_memory(); }
constexpr bool saved(O o) { return o.is_saved(); }
constexpr bool in_message(O o) { return o.in_message(); }
constexpr bool aligned(O o) { return !o.is_local && o.row().is_aligned(); }
constexpr bool invalidates(O o) { return o.invalidates(); }
constexpr bool has_data(O o) { return o.has_data(); }
constexpr bool local(O o) { return o.is_local; }
constexpr bool all(O) { return true; }
}  // namespace matrix_errors

// T9. Rows that are not listed concern every operation with packets.
inline constexpr std::array kRequesterErrors{
    MatrixError{3, matrix_errors::saved},    MatrixError{4, matrix_errors::saved},
    MatrixError{7, matrix_errors::receives}, MatrixError{8, matrix_errors::receives},
    MatrixError{11, matrix_errors::names},   MatrixError{15, matrix_errors::has_data},
    MatrixError{17, matrix_errors::all},     MatrixError{18, matrix_errors::all},
    MatrixError{23, matrix_errors::all},     MatrixError{24, matrix_errors::local},
};
// Rows whose error is one of the queue pair, its context or its CQ: it is the same in every
// operation (T9, T10).
inline constexpr std::array kRequesterErrorsOfQueuePair{18, 19, 22, 23};
inline constexpr std::array kResponderErrorsOfQueuePair{13, 14, 18};
// T10.
inline constexpr std::array kResponderErrors{
    MatrixError{1, matrix_errors::fills},       MatrixError{3, matrix_errors::aligned},
    MatrixError{4, matrix_errors::saved},       MatrixError{5, matrix_errors::names},
    MatrixError{6, matrix_errors::invalidates}, MatrixError{7, matrix_errors::saved},
    MatrixError{10, matrix_errors::in_message}, MatrixError{15, matrix_errors::receives},
    MatrixError{17, matrix_errors::fills},      MatrixError{19, matrix_errors::receives},
    MatrixError{20, matrix_errors::receives},
};
}  // namespace hca::testbench
