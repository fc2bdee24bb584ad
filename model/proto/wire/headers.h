// SPDX-License-Identifier: Apache-2.0
// Every transport header, once: the struct has its values, the table its bits (T1).
#pragma once
#include "model/proto/wire/layout.h"
#include "model/proto/wire/link_headers.h"

namespace hca::proto {

struct Bth {
  u8 opcode;
  bool solicited;
  bool mig_req;
  u8 pad_count;
  u8 tver;
  u16 pkey;
  bool fecn;
  bool becn;
  u32 dest_qp;
  bool ack_req;
  u32 psn;
};
template <>
struct Layout<Bth> {
  static constexpr std::string_view name = "BTH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Bth::opcode,    "OpCode", 8),
      field(&Bth::solicited, "SE",     1),
      field(&Bth::mig_req,   "M",      1),
      field(&Bth::pad_count, "PadCnt", 2, Show::Dec),
      field(&Bth::tver,      "TVer",   4, Show::Dec),
      field(&Bth::pkey,      "P_Key",  16),
      field(&Bth::fecn,      "F",      1, Icrc::Variant),
      field(&Bth::becn,      "B",      1, Icrc::Variant),
      reserved("Resv6", 6, "C9-6", Icrc::Variant),
      field(&Bth::dest_qp,   "DestQP", 24, Show::Both),
      field(&Bth::ack_req,   "A",      1),
      reserved("Resv7", 7, "C9-7"),
      field(&Bth::psn,       "PSN",    24, Show::Both));
  // clang-format on
};

struct Rdeth {
  u32 ee_context;
};
template <>
struct Layout<Rdeth> {
  static constexpr std::string_view name = "RDETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      reserved("Reserved", 8, "o9-2"),
      field(&Rdeth::ee_context, "EEContext", 24, Show::Both));
  // clang-format on
};

struct Deth {
  u32 qkey;
  u32 src_qp;
};
template <>
struct Layout<Deth> {
  static constexpr std::string_view name = "DETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Deth::qkey,   "Q_Key", 32),
      reserved("Reserved", 8, "C9-8"),
      field(&Deth::src_qp, "SrcQP", 24, Show::Both));
  // clang-format on
};

struct XrcEth {
  u32 xrc_srq;
};
template <>
struct Layout<XrcEth> {
  static constexpr std::string_view name = "XRCETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      reserved("Reserved", 8, "o9-3.a1"),
      field(&XrcEth::xrc_srq, "XRCSRQ", 24, Show::Both));
  // clang-format on
};

struct Eoeth {
  u16 extended_opcode;
  u32 response_length;  // bytes
  u32 offset;
};
template <>
struct Layout<Eoeth> {
  static constexpr std::string_view name = "EOETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      reserved("Reserved", 16, "EXT-2"),
      field(&Eoeth::extended_opcode, "ExtendedOpCode",     16),
      field(&Eoeth::response_length, "ResponseDataLength", 32, Show::Dec),
      field(&Eoeth::offset,          "Offset",             32, Show::Dec));
  // clang-format on
};

struct Feth {
  u8 selectivity;
  u8 placement_type;  // one bit each
};
inline constexpr u8 kFlushRange = 0, kFlushRegion = 1;       // selectivity
inline constexpr u8 kPlaceGlobal = 1, kPlacePersistent = 2;  // placement types
template <>
struct Layout<Feth> {
  static constexpr std::string_view name = "FETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      reserved("Reserved", 26, "C9-6"),
      field(&Feth::selectivity,    "SEL", 2, Show::Dec),
      field(&Feth::placement_type, "PLT", 4, Show::Dec));
  // clang-format on
};

struct Reth {
  u64 va;
  u32 rkey;
  u32 dma_len;  // bytes
};
template <>
struct Layout<Reth> {
  static constexpr std::string_view name = "RETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Reth::va,      "VA",     64),
      field(&Reth::rkey,    "R_Key",  32),
      field(&Reth::dma_len, "DMALen", 32, Show::Dec));
  // clang-format on
};

struct AtomicEth {
  u64 va;
  u32 rkey;
  u64 swap_add;
  u64 compare;
};
template <>
struct Layout<AtomicEth> {
  static constexpr std::string_view name = "AtomicETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&AtomicEth::va,       "VA",           64),
      field(&AtomicEth::rkey,     "R_Key",        32),
      field(&AtomicEth::swap_add, "SwapDt/AddDt", 64),
      field(&AtomicEth::compare,  "CmpDt",        64));
  // clang-format on
};

struct Aeth {
  u8 syndrome;
  u32 msn;
};
template <>
struct Layout<Aeth> {
  static constexpr std::string_view name = "AETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Aeth::syndrome, "Syndrome", 8),
      field(&Aeth::msn,      "MSN",      24, Show::Both));
  // clang-format on
};

struct AtomicAckEth {
  u64 original;
};
template <>
struct Layout<AtomicAckEth> {
  static constexpr std::string_view name = "AtomicAckETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&AtomicAckEth::original, "OrigRemDt", 64));
  // clang-format on
};

struct ImmDt {
  u32 data;
};
template <>
struct Layout<ImmDt> {
  static constexpr std::string_view name = "ImmDt";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&ImmDt::data, "ImmDt", 32));
  // clang-format on
};

struct Ieth {
  u32 rkey;
};
template <>
struct Layout<Ieth> {
  static constexpr std::string_view name = "IETH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Ieth::rkey, "R_Key", 32));
  // clang-format on
};

// The 16 bytes of a congestion notification packet.
struct CnpPayload {};
template <>
struct Layout<CnpPayload> {
  static constexpr std::string_view name = "CNP";
  // clang-format off
  static constexpr auto fields = make_rows(
      reserved("Reserved", 64, "G26.2"),
      reserved("Reserved2", 64, "G26.2"));
  // clang-format on
};

static_assert(bytes_of<Bth>() == 12 && bytes_of<Rdeth>() == 4 && bytes_of<Deth>() == 8);
static_assert(bytes_of<XrcEth>() == 4 && bytes_of<Eoeth>() == 12 && bytes_of<Feth>() == 4);
static_assert(bytes_of<Reth>() == 16 && bytes_of<AtomicEth>() == 28 && bytes_of<Aeth>() == 4);
static_assert(bytes_of<AtomicAckEth>() == 8 && bytes_of<ImmDt>() == 4 && bytes_of<Ieth>() == 4);
static_assert(bytes_of<CnpPayload>() == 16);

// ---- The headers that can follow a BTH, in the order in which they follow it (T1).
enum class Ext : u8 {
  Rdeth,
  Deth,
  XrcEth,
  Eoeth,
  Feth,
  Reth,
  AtomicEth,
  Aeth,
  AtomicAckEth,
  ImmDt,
  Ieth,
  CnpPayload
};
// The extension headers of a packet; only those that its opcode has are valid.
struct ExtHeaders {
  Rdeth rdeth;
  Deth deth;
  XrcEth xrc_eth;
  Eoeth eoeth;
  Feth feth;
  Reth reth;
  AtomicEth atomic_eth;
  Aeth aeth;
  AtomicAckEth atomic_ack_eth;
  ImmDt imm_dt;
  Ieth ieth;
  [[no_unique_address]] CnpPayload cnp_payload;
};
template <class H>
struct ExtRow {
  using Header = H;
  Ext ext;
  H ExtHeaders::*at;
};
template <class H>
constexpr ExtRow<H> ext_row(Ext ext, H ExtHeaders::*at) {
  return {ext, at};
}
inline constexpr auto kExtRows = make_rows(
    ext_row(Ext::Rdeth, &ExtHeaders::rdeth), ext_row(Ext::Deth, &ExtHeaders::deth),
    ext_row(Ext::XrcEth, &ExtHeaders::xrc_eth), ext_row(Ext::Eoeth, &ExtHeaders::eoeth),
    ext_row(Ext::Feth, &ExtHeaders::feth), ext_row(Ext::Reth, &ExtHeaders::reth),
    ext_row(Ext::AtomicEth, &ExtHeaders::atomic_eth), ext_row(Ext::Aeth, &ExtHeaders::aeth),
    ext_row(Ext::AtomicAckEth, &ExtHeaders::atomic_ack_eth),
    ext_row(Ext::ImmDt, &ExtHeaders::imm_dt), ext_row(Ext::Ieth, &ExtHeaders::ieth),
    ext_row(Ext::CnpPayload, &ExtHeaders::cnp_payload));

inline constexpr unsigned kExtCount = kRowCount<std::remove_cvref_t<decltype(kExtRows)>>;
inline constexpr auto kExtHeaders = with_rows(
    []<class... H>(const ExtRow<H>&...) { return std::array{kHeaderInfo<H>...}; }, kExtRows);
// The rows stand in the order of the enumerators, none is left out.
static_assert(with_rows(
    [](const auto&... row) {
      unsigned i = 0;
      return ((unsigned(row.ext) == i++) && ...) && i == unsigned(Ext::CnpPayload) + 1;
    },
    kExtRows));

// Calls fn(the member of ExtHeaders).
template <class Fn>
[[gnu::always_inline]] constexpr void with_ext(Ext ext, Fn&& fn) {
  [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
    (void)((unsigned(ext) == i && (fn(row_at<i>(kExtRows).at), true)) || ...);
  }
  (std::make_index_sequence<kExtCount>{});
}

}  // namespace hca::proto
