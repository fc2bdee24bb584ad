// SPDX-License-Identifier: Apache-2.0
// Contexts in host memory: a table for each kind, from the address of SetContextMemory on.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
enum class ContextKind : u8 { Qp, Cq, Mpt, Mtt, Wqe };
inline constexpr unsigned kContextKinds = 5;

// An MTT entry is a line of consecutive pages of a region.
inline constexpr u32 kPagesOfLine = 8;
// Distance of the numbers of lines of two regions: the lines of a region follow each other, and
// those of the next one begin in another set. Later lines of a region would share numbers.
inline constexpr u64 kLinesApart = (u64{1} << 17) + 1;

struct ContextKindRow {
  ContextKind kind;
  std::string_view name, cache, meaning;
  u32 bytes;    // of an entry; 0: no table here, its entries are elsewhere in memory
  u64 entries;  // of its table
};
inline constexpr u64 kNumbers = u64{1} << 24;  // of objects of a kind
inline constexpr std::array kContextTables{
    // clang-format off
    ContextKindRow{ContextKind::Qp,  "QP",  "qp_cache",  "queue pairs, by QPN",                            256, kNumbers},
    ContextKindRow{ContextKind::Cq,  "CQ",  "cq_cache",  "completion queues, by CQN",                       64, kNumbers},
    ContextKindRow{ContextKind::Mpt, "MPT", "mpt_cache", "regions and windows, by key index",               64, kNumbers},
    ContextKindRow{ContextKind::Mtt, "MTT", "mtt_cache", "translations, 8 pages an entry, by key index and line", 64, kNumbers * kLinesApart},
    ContextKindRow{ContextKind::Wqe, "WQE", "wqe_cache", "send WQEs of reliable queue pairs, by QPN and index, in their send queues", 0, 0},
    // clang-format on
};
static_assert(kContextTables.size() == kContextKinds);
constexpr const ContextKindRow& row_of(ContextKind kind) { return kContextTables[unsigned(kind)]; }
inline constexpr u32 kMaxContextBytes = 256;

// The offset of entry `number` of a table from the beginning of the context memory.
constexpr u64 context_offset(ContextKind kind, u64 number) {
  u64 offset = 0;
  for (const ContextKindRow& row : kContextTables) {
    if (row.kind == kind) return offset + number * row.bytes;
    offset += row.bytes * row.entries;
  }
  return offset;
}
inline constexpr u64 kContextMemoryBytes = [] {
  u64 bytes = 0;
  for (const ContextKindRow& row : kContextTables) bytes += row.bytes * row.entries;
  return bytes;
}();
static_assert(context_offset(ContextKind::Cq, 1) == (u64{1} << 32) + 64);

constexpr u64 mtt_number(u32 key_index, u64 line) {
  return key_index * kLinesApart + line % kLinesApart;
}
constexpr u32 key_index_of_mtt(u64 number) { return u32(number / kLinesApart); }
constexpr u64 line_of_mtt(u64 number) { return number % kLinesApart; }
static_assert(mtt_number(kNumbers - 1, kLinesApart - 1) + 1 == row_of(ContextKind::Mtt).entries);

// Distance of the numbers of WQEs of two queue pairs: queue pairs that advance together use
// different sets.
inline constexpr u64 kWqesApart = (u64{1} << 32) + 8191;
constexpr u64 wqe_number(u32 qpn, u32 index) { return qpn * kWqesApart + index; }
constexpr u32 qpn_of_wqe(u64 number) { return u32(number / kWqesApart); }
constexpr u32 index_of_wqe(u64 number) { return u32(number % kWqesApart); }
static_assert(qpn_of_wqe(wqe_number(0xffffff, 0xffffffff)) == 0xffffff);
static_assert(index_of_wqe(wqe_number(0xffffff, 0xffffffff)) == 0xffffffff);
}  // namespace hca::proto
