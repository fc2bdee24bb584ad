// SPDX-License-Identifier: Apache-2.0
// The operands between a send WQE's control segment and its SGEs, as a table: for each kind its
// layout, its fields in the packet's headers, and the message's length.
#pragma once
#include <array>
#include <cstring>
#include <string_view>

#include "model/proto/wire/packet.h"

namespace hca::proto {
// For an ATOMIC. The number in memory is in host byte order, low byte first.
struct AtomicOperands {
  u64 swap_or_add;
  u64 compare;

  void put_in(ExtHeaders& ext) const {
    ext.atomic_eth.swap_add = swap_or_add;
    ext.atomic_eth.compare = compare;
  }
};
template <>
struct Layout<AtomicOperands> {
  static constexpr std::string_view name = "ATOMIC operands";
  static constexpr auto fields =
      make_rows(field(&AtomicOperands::swap_or_add, "SwapOrAdd", 64, "new value, or the addend"),
                field(&AtomicOperands::compare, "Compare", 64, "CmpSwap: the expected value"));
};

// For a FLUSH: what to flush, and how far.
struct FlushOperands {
  u8 placement, selectivity;
  u32 bytes;

  void put_in(ExtHeaders& ext) const { ext.feth = {selectivity, placement}; }
  u64 message_bytes() const { return bytes; }
};
template <>
struct Layout<FlushOperands> {
  static constexpr std::string_view name = "FLUSH operands";
  static constexpr auto fields =
      make_rows(unused(4),
                field(&FlushOperands::placement, "Placement", 4,
                      "FETH:PLT, one bit each: 1 global visibility, 2 persistence"),
                unused(6),
                field(&FlushOperands::selectivity, "Selectivity", 2,
                      "FETH:SEL: 0 the range from RemoteVA on, 1 the whole region or window"),
                unused(16), field(&FlushOperands::bytes, "Length", 32, "of the range"), unused(64));
};

// For a GET: its SGEs are the payload of its request, and after it the buffer of its response.
struct GetOperands {
  u16 request_bytes;

  void put_in(ExtHeaders&) const {}
};
template <>
struct Layout<GetOperands> {
  static constexpr std::string_view name = "GET operands";
  static constexpr auto fields = make_rows(
      unused(16), field(&GetOperands::request_bytes, "RequestBytes", 16, "of the SGEs, 0 .. 256"),
      unused(32), unused(64));
};

// For BIND_MW and REG_MR: the memory of their new R_Key.
struct MemorySegment {
  u64 start;
  u64 bytes;
  u64 physical;
  u32 region_key;
  u16 access;
  u8 log_page;
};
template <>
struct Layout<MemorySegment> {
  static constexpr std::string_view name = "memory segment";
  static constexpr auto fields = make_rows(
      field(&MemorySegment::start, "Start", 64, "virtual address of the first byte"),
      field(&MemorySegment::bytes, "Length", 64, "of the window or region"),
      field(&MemorySegment::physical, "Physical", 64, "REG_MR: as in the MR attributes"),
      field(&MemorySegment::region_key, "RegionKey", 32, "BIND_MW: key of the region"),
      field(&MemorySegment::access, "Access", 16, "rights, as in the MW or MR attributes"),
      field(&MemorySegment::log_page, "LogPage", 8, "REG_MR: as in the MR attributes"), unused(8));
};

// The operands of a work request.
enum class Operands : u8 { None, Atomic, Flush, Get, Memory };
// Their source: arguments of libibverbs, or their fields by name.
enum class GivenBy : u8 { Arguments, Fields };

struct OperandRow {
  Operands operands;
  GivenBy given_by;
  HeaderInfo layout;
  void (*put_in)(const u8* at, ExtHeaders& ext);
  u64 (*message_bytes)(const u8* at);
  std::string_view sentence;
};
template <class Layout>
constexpr OperandRow operand_row(Operands operands, GivenBy given_by, std::string_view sentence) {
  OperandRow row{operands, given_by, kHeaderInfo<Layout>, nullptr, nullptr, sentence};
  row.put_in = [](const u8* at, ExtHeaders& ext) {
    if constexpr (requires(Layout l) { l.put_in(ext); }) decode<Layout>(at).put_in(ext);
  };
  row.message_bytes = [](const u8* at) {
    if constexpr (requires(Layout l) { l.message_bytes(); })
      return decode<Layout>(at).message_bytes();
    return u64{0};
  };
  return row;
}
inline constexpr std::array kOperandRows{
    OperandRow{Operands::None, GivenBy::Arguments, {}, nullptr, nullptr, ""},
    operand_row<AtomicOperands>(
        Operands::Atomic, GivenBy::Arguments,
        "After the control segment of an ATOMIC, before its SGE. Memory holds the number low byte "
        "first."),
    operand_row<FlushOperands>(
        Operands::Flush, GivenBy::Fields,
        "After the control segment of a FLUSH, which has no SGEs. When it is answered, all earlier "
        "writes of its queue pair are in host memory; the responder reads one byte of the named "
        "range to ensure this, and nothing of an empty range. Host memory of the model is "
        "persistent: both placements take the same time."),
    operand_row<GetOperands>(
        Operands::Get, GivenBy::Fields,
        "After the control segment of a GET Memory. The first RequestBytes of its SGEs are the "
        "payload of its request; the response is written to the rest. GET Memory has no arguments: "
        "the responder checks the length of the payload and does not use it."),
    operand_row<MemorySegment>(
        Operands::Memory, GivenBy::Arguments,
        "After the control segment of Bind MW (a window of any type) and Fast Register MR. A work "
        "request without packets is done before the next one begins; a refused one completes with "
        "MW_BIND_ERR. Key 0, the reserved L_Key, cannot be assigned."),
};
constexpr const OperandRow& row_of(Operands operands) {
  return kOperandRows[std::size_t(operands)];
}

// The rows are in the order of the enumerators.
static_assert([] {
  for (std::size_t i = 0; i < kOperandRows.size(); ++i)
    if (std::size_t(kOperandRows[i].operands) != i) return false;
  return true;
}());

// The operands of one WQE, as they are in memory.
struct WorkOperands {
  static constexpr u32 kBytes = [] {
    u32 most = 0;
    for (const OperandRow& row : kOperandRows)
      most = row.layout.bytes > most ? row.layout.bytes : most;
    return most;
  }();
  std::array<u8, kBytes> bytes{};

  template <class Layout>
  void set(const Layout& layout) {
    static_assert(bytes_of<Layout>() <= kBytes);
    encode(layout, bytes.data());
  }
};
inline constexpr u32 kMemorySegmentBytes = bytes_of<MemorySegment>();
}  // namespace hca::proto
