// SPDX-License-Identifier: Apache-2.0
// Knobs and counters of the caches of contexts: the same for each kind.
#pragma once
#include <algorithm>

#include "model/blocks/lib/stage_config.h"
#include "model/blocks/memory/set_store.h"
#include "model/proto/interface/context_memory.h"

namespace hca::blocks {
inline constexpr u32 kMaxMisses = 64;  // per cache
// Suffix of the name of a cache's miss budget.
inline constexpr std::string_view kMissesName = " cache misses";

struct CacheConfig {
  u32 entries = 0;
  u32 ways = 0;
  Replacement policy = Replacement::Lru;
  u32 misses = 8;
  u32 ports = 2;  // as of a dual-ported SRAM

  bool holds_all() const { return !entries; }
};
template <proto::ContextKind kKind>
struct CacheConfigOf : CacheConfig {};
template <>
struct CacheConfigOf<proto::ContextKind::Wqe> : CacheConfig {
  CacheConfigOf() { misses = kMaxMisses; }
  bool acks = true;
};

// The gates in which work waits for its contexts.
inline constexpr u32 kMostLookahead = 32;
struct ContextGateConfig {
  u32 lookahead = kMostLookahead;
};

struct CacheCounters {
  u64 hits = 0, misses = 0, joined = 0, waits = 0, write_backs = 0, damaged = 0, miss_cycles = 0,
      waited = 0, put_off = 0;
};
template <proto::ContextKind kKind>
struct CacheCountersOf : CacheCounters {};
template <>
struct CacheCountersOf<proto::ContextKind::Wqe> : CacheCounters {
  u64 fills = 0, repeats = 0;
};

struct CacheConfigs {
  CacheConfigOf<proto::ContextKind::Qp> qp;
  CacheConfigOf<proto::ContextKind::Cq> cq;
  CacheConfigOf<proto::ContextKind::Mpt> mpt;
  CacheConfigOf<proto::ContextKind::Mtt> mtt;
  CacheConfigOf<proto::ContextKind::Wqe> wqe;
  ContextGateConfig gate;

  const CacheConfig& operator[](proto::ContextKind kind) const {
    const std::array<const CacheConfig*, proto::kContextKinds> all{&qp, &cq, &mpt, &mtt, &wqe};
    return *all[unsigned(kind)];
  }
  bool any() const { return tables() || !wqe.holds_all(); }
  // True: the context memory is used, because the cache of a kind with a table there does not hold
  // all contexts.
  bool tables() const {
    return std::ranges::any_of(proto::kContextTables, [this](const proto::ContextKindRow& row) {
      return row.bytes && !(*this)[row.kind].holds_all();
    });
  }
};
// Throws engine::ConfigError if the ways do not divide the entries.
void check_caches(const CacheConfigs& configs);

// The knobs of each cache.
inline constexpr auto kCacheKnobs =
    make_rows(engine::knob("entries", &CacheConfig::entries, engine::Unit::Count, 0, 1 << 20,
                           "entries on chip; 0 holds all"),
              engine::knob("ways", &CacheConfig::ways, engine::Unit::Count, 0, 1 << 20,
                           "entries of a set, a divisor of all entries; 0: one set"),
              engine::knob("policy", &CacheConfig::policy, kReplacementNames,
                           "which entry of a set is evicted"),
              engine::knob("misses", &CacheConfig::misses, engine::Unit::Count, 1, kMaxMisses,
                           "maximum misses in flight"),
              engine::knob("ports", &CacheConfig::ports, engine::Unit::Count, 1, 16,
                           "look-ups a cycle, of all clients together"));
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ContextGateConfig> {
  using C = hca::blocks::ContextGateConfig;
  static constexpr std::string_view block = "context_gate";
  static constexpr std::string_view sentence = "work that waits for contexts in the caches";
  static constexpr auto rows = make_rows(
      knob("lookahead", &C::lookahead, Unit::Count, 1, hca::blocks::kMostLookahead,
           "items of a gate whose contexts are looked up at a time; 1: none is prefetched"));
};
template <hca::proto::ContextKind kKind>
struct hca::engine::Knobs<hca::blocks::CacheConfigOf<kKind>> {
  static constexpr std::string_view block = hca::proto::row_of(kKind).cache;
  static constexpr std::string_view sentence = hca::proto::row_of(kKind).meaning;
  static constexpr auto rows = [] {
    if constexpr (kKind == hca::proto::ContextKind::Wqe)
      return join_rows(hca::blocks::kCacheKnobs,
                       make_rows(knob("acks", &hca::blocks::CacheConfigOf<kKind>::acks,
                                      "every message needs its WQE when it is acknowledged; "
                                      "otherwise only READs and ATOMICs do")));
    else
      return hca::blocks::kCacheKnobs;
  }();
};
template <hca::proto::ContextKind kKind>
struct hca::engine::Counters<hca::blocks::CacheCountersOf<kKind>> {
  using C = hca::blocks::CacheCounters;
  static constexpr std::string_view block = hca::proto::row_of(kKind).cache;
  static constexpr auto rows = make_rows(
      counter("hits", &C::hits, "look-ups", "the entry was on chip"),
      counter("misses", &C::misses, "look-ups", "the entry was read from host memory"),
      counter("joined", &C::joined, "look-ups", "the read of the entry was already in flight"),
      counter("waits", &C::waits, "look-ups", "misses that waited for another one to end"),
      counter("put_off", &C::put_off, "cycles",
              "look-ups that waited for a port (ports), over all clients"),
      counter("write_backs", &C::write_backs, "entries", "changed entries written back"),
      counter("damaged", &C::damaged, "entries", "came back changed"),
      counter("miss_cycles", &C::miss_cycles, "cycles", "from a miss to its entry, summed"),
      counter("waited", &C::waited, kWaited,
              "room for misses in flight (misses), over all clients"));
};
// Entries of this cache are never written back.
template <>
struct hca::engine::Counters<hca::blocks::CacheCountersOf<hca::proto::ContextKind::Wqe>> {
  using C = hca::blocks::CacheCounters;
  using W = hca::blocks::CacheCountersOf<hca::proto::ContextKind::Wqe>;
  static constexpr std::string_view block = "wqe_cache";
  static constexpr auto rows = make_rows(
      counter("fills", &W::fills, "WQEs", "inserted when they were fetched"),
      counter("repeats", &W::repeats, "WQEs", "repeated without another read"),
      counter("hits", &C::hits, "WQEs", "for a response or acknowledgement: it was on chip"),
      counter("misses", &C::misses, "WQEs", "it was read from its send queue"),
      counter("joined", &C::joined, "WQEs", "its read was already in flight"),
      counter("waits", &C::waits, "WQEs", "misses that waited for another one to end"),
      counter("put_off", &C::put_off, "cycles",
              "look-ups that waited for a port (ports), over all clients"),
      counter("damaged", &C::damaged, "WQEs", "came back changed"),
      counter("miss_cycles", &C::miss_cycles, "cycles", "from a miss to its WQE, summed"),
      counter("waited", &C::waited, kWaited,
              "room for misses in flight (misses), over all clients"));
};
