// SPDX-License-Identifier: Apache-2.0
// The table engine: a header is a struct of values plus one table of fields in the specification's
// order, widths only. Encode, decode, the ICRC mask, printing, documents and tests all use that one
// table.
#pragma once
#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/proto/bytes.h"
#include "model/proto/rows.h"

namespace hca::proto {

enum class Icrc : u8 { Covered, Variant };                // Variant: ones when the ICRC is computed
enum class Show : u8 { Hex, Dec, Both, Mac, Ipv4, Gid };  // display format of a value

// A field with a meaning: its member, its name in the specification, its width in bits.
template <class H, class T>
struct Field {
  using Header = H;
  using Value = T;
  T H::*at;
  std::string_view name;
  unsigned bits;
  Show show;
  Icrc icrc;
  std::string_view meaning;  // for documents; empty if the name suffices
};
template <class H, class T>
constexpr Field<H, T> field(T H::*at, std::string_view name, unsigned bits, Show show = Show::Hex,
                            Icrc icrc = Icrc::Covered) {
  return {at, name, bits, bits == 1 ? Show::Dec : show, icrc, {}};
}
template <class H, class T>
constexpr Field<H, T> field(T H::*at, std::string_view name, unsigned bits,
                            std::string_view meaning) {
  return {at, name, bits, Show::Hex, Icrc::Covered, meaning};
}
template <class H, class T>
constexpr Field<H, T> field(T H::*at, std::string_view name, unsigned bits, Icrc icrc) {
  return field(at, name, bits, Show::Hex, icrc);
}

// Bits without a meaning: sent as zero, ignored on receipt; `statement` requires this for the
// header.
struct Reserved {
  std::string_view name;
  unsigned bits;
  Icrc icrc;
  std::string_view statement;
};
constexpr Reserved reserved(std::string_view name, unsigned bits, std::string_view statement,
                            Icrc icrc = Icrc::Covered) {
  return {name, bits, icrc, statement};
}
// Unused bits of a device structure: written as zero, ignored on read.
constexpr Reserved unused(unsigned bits) { return reserved("reserved", bits, ""); }
template <class F>
inline constexpr bool kIsReserved = std::is_same_v<std::remove_cvref_t<F>, Reserved>;

// One specialisation per header, the only place that defines its bits: `name` and `fields`.
template <class H>
struct Layout;

// A string of 16 bytes that is only compared and copied: an IPv6 address or GID.
struct Gid {
  std::array<u8, 16> bytes{};
  friend constexpr bool operator==(const Gid&, const Gid&) = default;
};

// An array of equal entries in a device structure: GIDs, or numbers of whole bytes.
template <class T>
inline constexpr std::size_t kArrayEntries = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kArrayEntries<std::array<T, N>> = N;

// ---- properties derived from the tables ----
template <class H>
inline constexpr std::size_t kFieldCount =
    kRowCount<std::remove_cvref_t<decltype(Layout<H>::fields)>>;

template <class H>
constexpr unsigned bits_of() {
  return with_rows([](const auto&... f) { return (f.bits + ... + 0u); }, Layout<H>::fields);
}
template <class H>
constexpr unsigned bytes_of() {
  static_assert(bits_of<H>() % 8 == 0);
  return bits_of<H>() / 8;
}

// One field as data, for printing.
struct FieldInfo {
  std::string_view name;
  unsigned bit_at;
  unsigned bits;
  Show show;
  Icrc icrc;
  bool is_reserved;
  std::string_view statement;  // of a reserved field
  std::string_view meaning;    // of all others
};
template <class H>
constexpr auto make_field_table() {
  std::array<FieldInfo, kFieldCount<H>> rows{};
  unsigned at = 0;
  std::size_t i = 0;
  auto row = [&](const auto& f) {
    rows[i] = {f.name, at, f.bits, Show::Hex, f.icrc, kIsReserved<decltype(f)>, {}, {}};
    if constexpr (kIsReserved<decltype(f)>) {
      rows[i].statement = f.statement;
    } else {
      rows[i].show = f.show;
      rows[i].meaning = f.meaning;
    }
    at += f.bits;
    ++i;
  };
  with_rows([&](const auto&... f) { (row(f), ...); }, Layout<H>::fields);
  return rows;
}
template <class H>
inline constexpr auto kFieldTable = make_field_table<H>();
// The first bit of field I, counted from the most significant bit of the header's first byte.
template <class H, std::size_t I>
inline constexpr unsigned kBitAt = kFieldTable<H>[I].bit_at;

// The offset of the byte in which a field begins.
template <class H>
constexpr unsigned byte_of(std::string_view name) {
  for (const FieldInfo& f : kFieldTable<H>)
    if (f.name == name) return f.bit_at / 8;
  throw "no such field";
}

// The mask of a header's variant bits.
template <class H>
constexpr auto make_icrc_mask() {
  std::array<u8, bytes_of<H>()> mask{};
  for (const FieldInfo& f : kFieldTable<H>)
    if (f.icrc == Icrc::Variant)
      for (unsigned b = f.bit_at; b < f.bit_at + f.bits; ++b) mask[b / 8] |= u8(0x80u >> b % 8);
  return mask;
}
template <class H>
inline constexpr auto kIcrcMask = make_icrc_mask<H>();

// ---- decode ----
// A load of 1, 2, 4 or 8 bytes inside a header of `total` bytes that covers a field; none if there
// is no such load.
struct Window {
  unsigned byte;
  unsigned bytes;
  unsigned shift;
};
constexpr Window window_of(unsigned at, unsigned bits, unsigned total) {
  const unsigned first = at / 8, end = (at + bits + 7) / 8;
  unsigned size = std::bit_ceil(end - first);
  while (size > total) size /= 2;
  const unsigned byte = end >= size ? end - size : 0;
  if (byte > first) return {first, 0, 0};  // more than 8 bytes: none
  return {byte, size, (byte + size) * 8 - (at + bits)};
}

template <class T, unsigned At, unsigned Bits, unsigned Total>
constexpr T load_field(const u8* in) {
  if constexpr (kArrayEntries<T> != 0) {
    constexpr unsigned bytes = Bits / 8 / kArrayEntries<T>;
    static_assert(At % 8 == 0 && Bits == 8 * bytes * kArrayEntries<T>);
    T entries{};
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = load_field<typename T::value_type, 0, 8 * bytes, bytes>(in + At / 8 + i * bytes);
    return entries;
  } else if constexpr (std::is_same_v<T, Gid>) {
    static_assert(At % 8 == 0 && Bits == 128);
    Gid gid;
    for (unsigned i = 0; i < 16; ++i) gid.bytes[i] = in[At / 8 + i];
    return gid;
  } else {
    static_assert(Bits <= 64);
    constexpr Window w = window_of(At, Bits, Total);
    if constexpr (w.bytes == 0)
      return static_cast<T>(get_bits(in, At, Bits));
    else
      return static_cast<T>(load_be<w.bytes>(in + w.byte) >> w.shift & low_mask(Bits));
  }
}

// Decodes into an existing header, which saves the copy of decode().
template <class H>
constexpr void decode_to(const u8* in, H& h) {
  auto take = [&]<std::size_t I>() {
    constexpr auto f = row_at<I>(Layout<H>::fields);
    if constexpr (!kIsReserved<decltype(f)>) {
      using Value = typename std::remove_cvref_t<decltype(f)>::Value;
      h.*f.at = load_field<Value, kBitAt<H, I>, f.bits, bytes_of<H>()>(in);
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) { (take.template operator()<I>(), ...); }
  (std::make_index_sequence<kFieldCount<H>>{});
}

template <class H>
constexpr H decode(const u8* in) {
  H h{};
  decode_to(in, h);
  return h;
}

// ---- encode ----
// Throws std::out_of_range that names header, field, value and width.
[[noreturn]] void refuse_value(std::string_view header, std::string_view field, unsigned bits,
                               u64 value);

template <class H, std::size_t I>
constexpr u64 checked_value(const H& h) {
  constexpr auto f = row_at<I>(Layout<H>::fields);
  using Value = typename std::remove_cvref_t<decltype(f)>::Value;
  const u64 value = static_cast<u64>(h.*f.at);
  if constexpr (f.bits < 8 * sizeof(Value) && !std::is_same_v<Value, bool>)
    if (value > low_mask(f.bits)) [[unlikely]]
      refuse_value(Layout<H>::name, f.name, f.bits, value);
  return value;
}

constexpr u8 byte_of_entry(const Gid& gid, unsigned byte) { return gid.bytes[byte]; }
template <class T>
constexpr u8 byte_of_entry(T value, unsigned byte) {
  return u8(value >> 8 * (sizeof(T) - 1 - byte));
}
// Bytes `from` to `from + count` of a table; bytes before or after the table are 0.
template <class T, std::size_t N>
constexpr u64 bytes_of_entries(const std::array<T, N>& entries, int from, unsigned count) {
  u64 value = 0;
  for (int i = from; i < from + int(count); ++i)
    value = value << 8 | (i < 0 || i >= int(N * sizeof(T))
                              ? 0
                              : byte_of_entry(entries[i / sizeof(T)], i % sizeof(T)));
  return value;
}

// The contribution of field I to the `Bytes` bytes that start at `Byte`.
template <class H, std::size_t I, unsigned Byte, unsigned Bytes>
constexpr u64 share_of(const H& h) {
  constexpr auto f = row_at<I>(Layout<H>::fields);
  constexpr unsigned first = kBitAt<H, I>, end = first + f.bits;
  constexpr unsigned word_first = 8 * Byte, word_end = 8 * (Byte + Bytes);
  if constexpr (kIsReserved<decltype(f)> || end <= word_first || first >= word_end) {
    return 0;
  } else if constexpr (kArrayEntries<typename std::remove_cvref_t<decltype(f)>::Value> != 0) {
    return bytes_of_entries(h.*f.at, int(Byte) - int(first / 8), Bytes);
  } else if constexpr (f.bits == 128) {
    return load_be<Bytes>((h.*f.at).bytes.data() + (Byte - first / 8));
  } else {
    const u64 value = checked_value<H, I>(h);
    if constexpr (end <= word_end)
      return value << (word_end - end) & low_mask(8 * Bytes);
    else
      return value >> (end - word_end) & low_mask(8 * Bytes);
  }
}

// `out` takes bytes_of<H>() bytes. Throws std::out_of_range for a value wider than its field.
template <class H>
constexpr void encode(const H& h, u8* out) {
  constexpr unsigned total = bytes_of<H>();
  auto word = [&]<unsigned Byte, unsigned Bytes>() {
    store_be<Bytes>(
        out + Byte, [&]<std::size_t... I>(std::index_sequence<I...>) {
          return (share_of<H, I, Byte, Bytes>(h) | ...);
        }(std::make_index_sequence<kFieldCount<H>>{}));
  };
  [&]<std::size_t... W>(std::index_sequence<W...>) {
    (word.template operator()<unsigned(4 * W), 4>(), ...);
  }
  (std::make_index_sequence<total / 4>{});
  if constexpr (total % 4 >= 2) word.template operator()<total / 4 * 4, 2>();
  if constexpr (total % 2 == 1) word.template operator()<total - 1, 1>();
}

// Any header as data, for code that handles headers at run time.
struct HeaderInfo {
  std::string_view name;
  unsigned bytes;
  const FieldInfo* fields;
  std::size_t field_count;
  const u8* icrc_mask;

  constexpr const FieldInfo* begin() const { return fields; }
  constexpr const FieldInfo* end() const { return fields + field_count; }
};
template <class H>
inline constexpr HeaderInfo kHeaderInfo{Layout<H>::name, bytes_of<H>(), kFieldTable<H>.data(),
                                        kFieldCount<H>, kIcrcMask<H>.data()};

}  // namespace hca::proto
