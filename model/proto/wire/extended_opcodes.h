// SPDX-License-Identifier: Apache-2.0
// The extended operations as a table: the Extended OpCode of an EOETH names one of its functional
// class, GET or PUT, and defines the headers and the payload after it (EXT-3, EXT-6).
//
// The specification assigns no Extended OpCode: those below are this model's. Each names memory by
// a RETH after the EOETH, in every packet. A GET Memory reads it; a PUT Memory writes it. A class
// has one BTH opcode for all packets, so that Offset and DMALen give the position in the message.
#pragma once
#include "model/proto/wire/opcodes.h"

namespace hca::proto {
inline constexpr u32 kMaxGetRequestBytes = 256;  // EXT-8

struct ExtendedLine {
  u16 code;  // Extended OpCode
  std::string_view name;
  Operation functional_class;
  Position position;
  ExtSet further;  // after the EOETH
  PayloadRule payload;
};
inline constexpr u16 kGetMemory = 1, kPutMemory = 2;
inline constexpr auto kExtendedLines = std::to_array<ExtendedLine>({
    // clang-format off
    {kGetMemory, "GET Memory",        Operation::Get, Position::Only,   Ext::Reth, PayloadRule::UpTo256},
    {kPutMemory, "PUT Memory First",  Operation::Put, Position::First,  Ext::Reth, PayloadRule::FullMtu},
    {kPutMemory, "PUT Memory Middle", Operation::Put, Position::Middle, Ext::Reth, PayloadRule::FullMtu},
    {kPutMemory, "PUT Memory Last",   Operation::Put, Position::Last,   Ext::Reth, PayloadRule::OneToMtu},
    {kPutMemory, "PUT Memory Only",   Operation::Put, Position::Only,   Ext::Reth, PayloadRule::UpToMtu},
    // clang-format on
});

// An extended operation of a service: as an opcode's row, with all of its headers.
struct ExtendedRow {
  u16 code;
  OpcodeRow row;
};
namespace detail {
constexpr std::size_t count_classes() {
  std::size_t classes = 0;
  for (const OpcodeRow& row : kOpcodeRows) classes += row.is_class();
  return classes;
}
inline constexpr std::size_t kClassPairs = count_classes() / 2;  // a service has both or none
constexpr auto make_extended_rows() {
  std::array<ExtendedRow, kClassPairs * kExtendedLines.size()> rows{};
  std::size_t n = 0;
  for (const OpcodeRow& of_class : kOpcodeRows)
    for (const ExtendedLine& line : kExtendedLines) {
      if (!of_class.is_class() || line.functional_class != of_class.operation) continue;
      OpcodeRow row = of_class;
      row.name = line.name;
      row.position = line.position;
      row.ext = of_class.ext | line.further;
      row.ext_bytes = u8(row.ext.bytes());
      row.payload = line.payload;
      row.statement = "EXT-3";
      rows[n++] = {line.code, row};
    }
  return rows;
}
}  // namespace detail
inline constexpr auto kExtendedRows = detail::make_extended_rows();

// The row of a packet at `position` of its message; nullptr: no device knows this Extended OpCode.
constexpr const OpcodeRow* extended_row(const OpcodeRow& of_class, u16 extended_opcode,
                                        Position position) {
  for (const ExtendedRow& e : kExtendedRows)
    if (e.row.code == of_class.code && e.code == extended_opcode && e.row.position == position)
      return &e.row;
  return nullptr;
}
// The same of a message in one packet.
constexpr const OpcodeRow* extended_row(const OpcodeRow& of_class, u16 extended_opcode) {
  return extended_row(of_class, extended_opcode, Position::Only);
}
// EXT-6: of an unknown Extended OpCode only the headers of its class are known.
constexpr const OpcodeRow& row_or_class(const OpcodeRow& of_class, u16 extended_opcode) {
  const OpcodeRow* const row = extended_row(of_class, extended_opcode);
  return row ? *row : of_class;
}
// The headers after the EOETH of a class; none of an unknown Extended OpCode.
constexpr ExtSet headers_after_eoeth(const OpcodeRow& of_class, u16 extended_opcode) {
  return row_or_class(of_class, extended_opcode).ext.without(of_class.ext);
}
// EXT-5: the position of a packet in a PUT. It begins at Offset 0 and ends at DMALen.
constexpr Position position_of_put(const Eoeth& eoeth, const Reth& reth, u32 payload_bytes) {
  const bool ends = u64{eoeth.offset} + payload_bytes == reth.dma_len;
  if (!eoeth.offset) return ends ? Position::Only : Position::First;
  return ends ? Position::Last : Position::Middle;
}
constexpr const OpcodeRow& row_at_offset(const OpcodeRow& row, const Eoeth& eoeth, const Reth& reth,
                                         u32 payload_bytes) {
  if (row.operation != Operation::Put || row.is_class()) return row;
  return *extended_row(row, eoeth.extended_opcode, position_of_put(eoeth, reth, payload_bytes));
}
// The Extended OpCode that a packet of `row` carries.
constexpr u16 extended_opcode_of(const OpcodeRow& row) {
  for (const ExtendedRow& e : kExtendedRows)
    if (e.row.code == row.code) return e.code;
  return 0;
}
// The row by which packets of an opcode are built: a class has the headers of its operation.
constexpr const OpcodeRow& built_row(const OpcodeRow& row, Position position = Position::Only) {
  if (!row.is_class()) return row;
  return *extended_row(row, extended_opcode_of(row), position);
}

// The laws of the table: no Extended OpCode is 0, a class has one, and the positions of a message
// are all there; so built_row() always finds a row.
static_assert([] {
  for (const ExtendedRow& e : kExtendedRows) {
    if (!e.code || e.code != extended_opcode_of(e.row)) return false;
    if (!extended_row(e.row, e.code)) return false;
    if (e.row.traits().message == InMessage::None) continue;
    for (const Position p : {Position::First, Position::Middle, Position::Last})
      if (!extended_row(e.row, e.code, p)) return false;
  }
  return true;
}());
// As for the BTH opcodes: each packet of an operation that names memory by a RETH has one.
static_assert(std::ranges::all_of(kExtendedRows, [](const ExtendedRow& e) {
  const bool by_reth = e.row.traits().memory == NamesMemory::ByReth;
  return e.row.has(Ext::Eoeth) && e.row.has(Ext::Reth) == by_reth;
}));
}  // namespace hca::proto
