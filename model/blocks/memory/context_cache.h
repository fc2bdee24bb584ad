// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>
#include <unordered_map>

#include "model/blocks/items.h"
#include "model/blocks/lib/pool.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/memory/context_cache_config.h"
#include "model/blocks/memory/dma_request.h"
#include "model/device/contexts.h"
#include "model/engine/budget.h"

namespace hca::blocks {
// A look-up. `ticket`: chosen by the client. `turn`: its WQEs are taken from the WQE cache if all
// hit, or, with `fills`, inserted into it.
struct ContextAsk {
  proto::ContextKind kind{};
  u64 number = 0;
  u32 ticket = 0;
  Turn* turn = nullptr;
  bool fills = false;
};
using ContextAskLink = engine::Link<ContextAsk, 8>;
using ContextAnswerLink = engine::Link<u32, 8>;  // tickets

// The caches of contexts, with their traffic to and from host memory. The states themselves stay
// with their owners: the caches only hold which of them are on chip, and the cost of a miss.
//
// Contract: one look-up a cycle from each client, `ports` of a kind; the clients take turns. A hit
// in cycle n is answered in n + 1. A miss requests its entry by DMA in n + 1 and is answered in the
// cycle after the last of its data; look-ups of the same entry in between wait for it too. Before
// that, the evicted entry is written back if its image differs from the one in host memory. A
// look-up without room (all misses in use, or all entries of its set being read) waits, and so do
// the later ones of its client. Answers come in any order.
//
// WQEs are inserted as they are fetched, a turn in one look-up. They are read again from their send
// queue when an evicted one is needed: by the response of a READ or ATOMIC, or, with
// wqe_cache.acks, by the completion of another message.
//
// It ticks after the other blocks of a cycle: images show the states between two cycles.
class ContextCache : public engine::Block {
 public:
  struct Client {
    ContextAskLink asks_in;
    ContextAnswerLink* answers_out = nullptr;

   private:
    friend ContextCache;
    Ring<u32> answers_;
    Cycle waits_since_ = engine::kNever;  // since when the first look-up has waited for room
  };
  struct Outputs {
    DmaLink* dma_out = nullptr;
  };
  // `log_page`: page size of regions without a page list. Throws like check_caches().
  ContextCache(const CacheConfigs& configs, u8 log_page, const device::Contexts& contexts);

  std::deque<Client> clients;
  engine::Link<u32, 256> arrived_in;  // from dma: the entry of this miss has arrived
  Outputs outputs;
  engine::Waker dma;
  engine::Probe probe;

  bool holds_all(proto::ContextKind kind) const { return configs_[kind].holds_all(); }
  // True: the completion of an acknowledged message needs its WQE.
  bool looks_up_acknowledged() const { return configs_.wqe.acks; }
  u8 log_page() const { return log_page_; }
  // Items of one gate whose contexts are looked up at a time.
  u32 lookahead() const { return configs_.gate.lookahead; }
  const CacheCounters& counters(proto::ContextKind kind) const {
    return *caches_[unsigned(kind)].counters;
  }
  // Calls fn(counters) for each cache that does not hold all contexts.
  template <class Fn>
  void for_each_counters(Fn&& fn) const {
    using K = proto::ContextKind;
    if (!holds_all(K::Qp)) fn(counters_.qp);
    if (!holds_all(K::Cq)) fn(counters_.cq);
    if (!holds_all(K::Mpt)) fn(counters_.mpt);
    if (!holds_all(K::Mtt)) fn(counters_.mtt);
    if (!holds_all(K::Wqe)) fn(counters_.wqe);
  }
  // Registers the budget of misses of each cache with the domain. Call after `self` is set.
  void connect_misses();

  void tick();
  DmaCallbacks client();

 private:
  struct Waiter {
    u32 client = 0, ticket = 0;
  };
  struct Miss {
    proto::ContextKind kind{};
    u64 number = 0;
    u32 slot = 0, index = 0;  // index: its own
    u64 address = 0;
    u32 size = 0;  // bytes
    Cycle since = 0;
    bool failed = false;
    Ring<Waiter> waiters;
    std::array<u8, std::max(proto::kMaxContextBytes, proto::kMaxSendWqeBytes)> bytes{};
  };
  struct Image {
    Image* next = nullptr;
    Pool<Image>* home = nullptr;
    std::array<u8, proto::kMaxContextBytes> bytes{};
  };
  struct Cache {
    Cache(const CacheConfig& config, CacheCounters& counting)
        : store(config.entries, config.ways, config.policy),
          misses(config.misses),
          counters(&counting) {}
    SetStore store;
    engine::Budget misses;
    CacheCounters* counters;
  };

  bool look_up(const ContextAsk& ask, u32 client);
  void evict(proto::ContextKind kind, u64 number);
  void take_entry(u32 miss);
  void serve();
  void answer();
  void ask_memory();
  u64 address_of(proto::ContextKind kind, u64 number) const {
    if (kind == proto::ContextKind::Wqe)
      return contexts_.qps[proto::qpn_of_wqe(number)].sq.slot(proto::index_of_wqe(number));
    return contexts_.context_memory + proto::context_offset(kind, number);
  }
  u32 bytes_of(proto::ContextKind kind, u64 number) const {
    if (kind == proto::ContextKind::Wqe)
      return contexts_.qps[proto::qpn_of_wqe(number)].sq.stride();
    return proto::row_of(kind).bytes;
  }
  void fill(const Turn& turn);
  void repeat(Turn& turn);
  u32 choose_for_wqe(u64 number);
  bool is_outstanding(u64 wqe) const;
  u64 known_at(u64 address, u32 bytes) const;

  const CacheConfigs configs_;  // checked
  const u8 log_page_;
  const device::Contexts& contexts_;
  struct {
    CacheCountersOf<proto::ContextKind::Qp> qp;
    CacheCountersOf<proto::ContextKind::Cq> cq;
    CacheCountersOf<proto::ContextKind::Mpt> mpt;
    CacheCountersOf<proto::ContextKind::Mtt> mtt;
    CacheCountersOf<proto::ContextKind::Wqe> wqe;
  } counters_;
  std::array<Cache, proto::kContextKinds> caches_;
  std::array<std::string, proto::kContextKinds> miss_names_;
  std::deque<Miss> misses_;
  Ring<u32> free_misses_;
  Pool<Image> images_;
  struct Request {
    Image* image = nullptr;  // to write back; nullptr: a read
    u32 miss = 0;            // whose entry is read
    u64 address = 0;
    u32 bytes = 0;
  };
  Ring<Request> requests_;
  // By address: digest of the bytes written back, and of the WQEs of READs and ATOMICs.
  std::unordered_map<u64, u64> in_memory_;
  std::vector<std::array<u8, proto::kMaxSendWqeBytes>> wqes_;  // by slot
  u32 next_client_ = 0;
  Cycle arrived_free_ = 0;
};
}  // namespace hca::blocks
