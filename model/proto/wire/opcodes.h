// SPDX-License-Identifier: Apache-2.0
// Every BTH opcode of every service as one row; the headers after the BTH and the payload are data
// (C9-2).
#pragma once
#include <array>
#include <bit>
#include <string_view>

#include "model/proto/transport/operation_rows.h"
#include "model/proto/transport/services.h"
#include "model/proto/wire/headers.h"

namespace hca::proto {

enum class Position : u8 { First, Middle, Last, Only };
constexpr bool begins_message(Position p) { return p == Position::First || p == Position::Only; }
constexpr bool ends_message(Position p) { return p == Position::Last || p == Position::Only; }

// Payload bytes L without pad (T7).
enum class PayloadRule : u8 {
  None,      // L = 0, PadCnt 0
  FullMtu,   // L = PMTU, PadCnt 0
  OneToMtu,  // 1 <= L <= PMTU
  UpToMtu,   // 0 <= L <= PMTU
  Eight,     // L = 8
  UpTo256,   // 0 <= L <= 256
};

// A set of extension headers; iterating gives them in the order of the packet.
class ExtSet {
 public:
  constexpr ExtSet() = default;
  constexpr ExtSet(Ext e) : bits_(u16(1u << unsigned(e))) {}
  constexpr bool has(Ext e) const { return bits_ >> unsigned(e) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr u16 bits() const { return bits_; }
  constexpr ExtSet without(ExtSet other) const {
    ExtSet rest;
    rest.bits_ = u16(bits_ & ~other.bits_);
    return rest;
  }
  // The set with `e` inverted: added if absent, removed if present.
  constexpr ExtSet toggled(Ext e) const {
    ExtSet other = *this;
    other.bits_ ^= u16(1u << unsigned(e));
    return other;
  }
  friend constexpr ExtSet operator|(ExtSet a, ExtSet b) {
    ExtSet c;
    c.bits_ = u16(a.bits_ | b.bits_);
    return c;
  }
  friend constexpr bool operator==(ExtSet, ExtSet) = default;

  template <class Fn>
  constexpr void for_each(Fn&& fn) const {
    for (unsigned rest = bits_; rest != 0; rest &= rest - 1) fn(Ext(std::countr_zero(rest)));
  }
  constexpr unsigned bytes() const {
    unsigned sum = 0;
    for_each([&](Ext e) { sum += kExtHeaders[unsigned(e)].bytes; });
    return sum;
  }

 private:
  u16 bits_ = 0;
};
constexpr ExtSet operator|(Ext a, Ext b) { return ExtSet(a) | ExtSet(b); }

struct OpcodeRow {
  u8 code;
  std::string_view name;  // without the service
  Service service;
  Operation operation;
  Position position;
  ExtSet ext;
  u8 ext_bytes;
  PayloadRule payload;
  bool is_request;  // goes to the responder side
  std::string_view statement;

  constexpr bool has(Ext e) const { return ext.has(e); }
  constexpr const OperationRow& traits() const { return operation_row(operation); }
  // True for a functional class: the Extended OpCode defines what follows its EOETH
  // (extended_opcodes.h).
  constexpr bool is_class() const {
    return (operation == Operation::Get || operation == Operation::Put) && !ext.has(Ext::Reth);
  }
  // G23.1: true if the packet takes a receive WQE: the first packet of a SEND, the last one of a
  // WRITE with Immediate.
  constexpr bool takes_receive() const {
    switch (traits().receive) {
      case TakesReceive::Never:
        return false;
      case TakesReceive::First:
        return begins_message(position);
      case TakesReceive::WithImmediate:
        return has(Ext::ImmDt);
    }
    return false;
  }
  // For a packet that ends a message: true if the message takes a receive WQE.
  constexpr bool ends_receive() const {
    return traits().receive == TakesReceive::First || takes_receive();
  }
};

namespace detail {

inline constexpr ExtSet kNoExt{};

// One line of T3: an operation and the services that have it.
struct OperationLine {
  u8 code;  // OpCode[4:0]
  std::string_view name;
  Services services;
  Operation operation;
  Position position;
  ExtSet ext;  // for RC; RD and UD prepend RDETH and DETH, XRC prepends XRCETH
  PayloadRule payload;
  bool is_request = true;
};

using enum Ext;
using enum Operation;
using enum Position;
using enum PayloadRule;

// clang-format off
inline constexpr auto kOperations = std::to_array<OperationLine>({
  // 4:0 name                              services    operation          pos.    headers              payload   is request
  {0x00, "SEND First",                     kConnected, Send,              First,  kNoExt,              FullMtu},
  {0x01, "SEND Middle",                    kConnected, Send,              Middle, kNoExt,              FullMtu},
  {0x02, "SEND Last",                      kConnected, Send,              Last,   kNoExt,              OneToMtu},
  {0x03, "SEND Last with Immediate",       kConnected, Send,              Last,   ImmDt,               OneToMtu},
  {0x04, "SEND Only",                      kSenders,   Send,              Only,   kNoExt,              UpToMtu},
  {0x05, "SEND Only with Immediate",       kSenders,   Send,              Only,   ImmDt,               UpToMtu},
  {0x06, "RDMA WRITE First",               kConnected, Write,             First,  Reth,                FullMtu},
  {0x07, "RDMA WRITE Middle",              kConnected, Write,             Middle, kNoExt,              FullMtu},
  {0x08, "RDMA WRITE Last",                kConnected, Write,             Last,   kNoExt,              OneToMtu},
  {0x09, "RDMA WRITE Last with Immediate", kConnected, Write,             Last,   ImmDt,               OneToMtu},
  {0x0A, "RDMA WRITE Only",                kConnected, Write,             Only,   Reth,                UpToMtu},
  {0x0B, "RDMA WRITE Only with Immediate", kConnected, Write,             Only,   Reth | ImmDt,        UpToMtu},
  {0x0C, "RDMA READ Request",              kReliable,  ReadRequest,       Only,   Reth,                None},
  {0x0D, "RDMA READ Response First",       kReliable,  ReadResponse,      First,  Aeth,                FullMtu,  false},
  {0x0E, "RDMA READ Response Middle",      kReliable,  ReadResponse,      Middle, kNoExt,              FullMtu,  false},
  {0x0F, "RDMA READ Response Last",        kReliable,  ReadResponse,      Last,   Aeth,                OneToMtu, false},
  {0x10, "RDMA READ Response Only",        kReliable,  ReadResponse,      Only,   Aeth,                UpToMtu,  false},
  {0x11, "Acknowledge",                    kReliable,  Acknowledge,       Only,   Aeth,                None,     false},
  {0x12, "ATOMIC Acknowledge",             kReliable,  AtomicAcknowledge, Only,   Aeth | AtomicAckEth, None,     false},
  {0x13, "CmpSwap",                        kReliable,  CompareSwap,       Only,   AtomicEth,           None},
  {0x14, "FetchAdd",                       kReliable,  FetchAdd,          Only,   AtomicEth,           None},
  {0x15, "RESYNC",                         kRd,        Resync,            Only,   kNoExt,              None},
  {0x16, "SEND Last with Invalidate",      kRc | kXrc, Send,              Last,   Ieth,                OneToMtu},
  {0x17, "SEND Only with Invalidate",      kRc | kXrc, Send,              Only,   Ieth,                UpToMtu},
  {0x1A, "GET class operation",            kReliable,  Get,               Only,   Eoeth,               UpTo256},
  {0x1B, "PUT class operation",            kReliable,  Put,               Only,   Eoeth,               UpToMtu},
  {0x1C, "FLUSH",                          kReliable,  Flush,             Only,   Feth | Reth,         None},
  {0x1D, "ATOMIC WRITE",                   kRc,        AtomicWrite,       Only,   Reth,                Eight},
});

// Congestion notifications have an opcode block of their own: 0x80 native (annex A10), 0x81 RoCEv2.
inline constexpr std::array kCongestionRows{
  OpcodeRow{0x80, "CN",  Service::Cnp, CongestionNotification, Only, Ext::CnpPayload, 16, None, false, "G26.1"},
  OpcodeRow{0x81, "CNP", Service::Cnp, CongestionNotification, Only, Ext::CnpPayload, 16, None, false, "G26.2"},
};
// clang-format on

constexpr ExtSet ext_in_service(const OperationLine& line, Service service) {
  switch (service) {
    case Service::Rd:
      return line.ext | Ext::Rdeth | (line.is_request ? ExtSet(Ext::Deth) : kNoExt);
    case Service::Ud:
      return line.ext | Ext::Deth;
    case Service::Xrc:
      return line.is_request ? line.ext | Ext::XrcEth : line.ext;
    default:
      return line.ext;
  }
}

constexpr std::size_t count_rows() {
  std::size_t n = kCongestionRows.size();
  for (Service service : kServices)
    for (const OperationLine& line : kOperations) n += includes(line.services, service);
  return n;
}
constexpr auto make_opcode_rows() {
  std::array<OpcodeRow, count_rows()> rows{};
  std::size_t n = 0;
  for (Service service : kServices) {
    if (service == Service::Xrc)
      for (const OpcodeRow& row : kCongestionRows) rows[n++] = row;
    for (const OperationLine& line : kOperations) {
      if (!includes(line.services, service)) continue;
      const ExtSet ext = ext_in_service(line, service);
      rows[n++] = {u8(unsigned(service) << 5 | line.code),
                   line.name,
                   service,
                   line.operation,
                   line.position,
                   ext,
                   u8(ext.bytes()),
                   line.payload,
                   line.is_request,
                   "C9-2"};
    }
  }
  return rows;
}

}  // namespace detail

// All rows in the order of their codes.
inline constexpr auto kOpcodeRows = detail::make_opcode_rows();

inline constexpr auto kOpcodeIndex = [] {
  std::array<const OpcodeRow*, 256> index{};
  for (const OpcodeRow& row : kOpcodeRows) index[row.code] = &row;
  return index;
}();

// nullptr: a reserved or manufacturer-defined opcode.
constexpr const OpcodeRow* opcode_row(u8 code) { return kOpcodeIndex[code]; }

namespace detail {
// Codes by service, operation, position, and presence of ImmDt and IETH; 0xFF: none.
constexpr unsigned choice_of(ExtSet ext) { return ext.has(Ext::ImmDt) | ext.has(Ext::Ieth) << 1; }
constexpr std::size_t place_of(Service service, Operation operation, Position position,
                               ExtSet carried) {
  return ((std::size_t(service) << 4 | std::size_t(operation)) << 2 | std::size_t(position)) << 2 |
         choice_of(carried);
}
inline constexpr auto kCodes = [] {
  std::array<u8, 8 << 4 << 2 << 2> codes{};
  codes.fill(0xFF);
  for (const OpcodeRow& row : kOpcodeRows)
    if (u8& code = codes[place_of(row.service, row.operation, row.position, row.ext)]; code == 0xFF)
      code = row.code;
  return codes;
}();
}  // namespace detail

// The row of an operation, for building packets, with ImmDt or IETH if they are `carried`; nullptr
// if the service has none.
constexpr const OpcodeRow* opcode_row(Service service, Operation operation, Position position,
                                      ExtSet carried = {}) {
  return opcode_row(detail::kCodes[detail::place_of(service, operation, position, carried)]);
}

// True: L = `payload_bytes` is a valid length for this opcode at this path MTU (T7).
constexpr bool payload_length_ok(PayloadRule rule, u32 payload_bytes, u32 pmtu) {
  switch (rule) {
    case PayloadRule::None:
      return payload_bytes == 0;
    case PayloadRule::FullMtu:
      return payload_bytes == pmtu;
    case PayloadRule::OneToMtu:
      return payload_bytes >= 1 && payload_bytes <= pmtu;
    case PayloadRule::UpToMtu:
      return payload_bytes <= pmtu;
    case PayloadRule::Eight:
      return payload_bytes == 8;
    case PayloadRule::UpTo256:
      return payload_bytes <= 256;
  }
  return false;
}

// Checks of the table.
static_assert([] {
  for (std::size_t i = 1; i < kOpcodeRows.size(); ++i)
    if (kOpcodeRows[i - 1].code >= kOpcodeRows[i].code) return false;
  return true;
}());
// A request has a RETH or AtomicETH if and only if it names memory; the operations of a functional
// class have laws of their own.
static_assert([] {
  for (const OpcodeRow& row : kOpcodeRows) {
    if (row.is_class()) continue;
    const NamesMemory memory = row.traits().memory;
    const bool by_reth = memory == NamesMemory::ByReth && begins_message(row.position);
    if (row.has(Ext::Reth) != by_reth ||
        row.has(Ext::AtomicEth) != (memory == NamesMemory::ByAtomicEth))
      return false;
  }
  return true;
}());
// Exactly the packets that place have 8 payload bytes.
static_assert(std::ranges::all_of(kOpcodeRows, [](const OpcodeRow& row) {
  return (row.payload == PayloadRule::Eight) == (row.traits().change == Change::Place);
}));
static_assert([] {
  for (const OpcodeRow& row : kOpcodeRows)
    if (row.ext_bytes != row.ext.bytes() || row.code >> 5 != unsigned(row.service)) return false;
  return true;
}());

}  // namespace hca::proto
