// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/context_cache.h"

#include <algorithm>

#include "model/blocks/memory/context_image.h"
#include "model/engine/digest.h"
#include "model/proto/bytes.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

namespace {
// `count`: a multiple of 8.
u64 digest_of(const u8* bytes, u32 count) {
  engine::Digest digest;
  for (u32 i = 0; i < count; i += 8) digest.add(load_be<8>(bytes + i));
  return digest.value();
}
// Digest of the WQE without the rest of its slot, in whole units of 8 bytes.
u64 digest_of_wqe(std::span<const u8> bytes, u32 stride) {
  const u64 all = bytes_of_wqe(decode<SendWqe>(bytes.data()));
  return digest_of(bytes.data(), u32(std::min<u64>(all, stride)) & ~7u);
}
const CacheConfigs& checked(const CacheConfigs& configs) {
  check_caches(configs);
  return configs;
}
}  // namespace

void check_caches(const CacheConfigs& configs) {
  for (const ContextKindRow& row : kContextTables) {
    const CacheConfig& c = configs[row.kind];
    if (c.ways && c.entries % c.ways)
      throw engine::ConfigError(std::string(row.cache) + ".ways", std::to_string(c.ways),
                                "0, or a divisor of " + std::to_string(c.entries), "",
                                "does not divide the entries");
  }
}

ContextCache::ContextCache(const CacheConfigs& configs, u8 log_page,
                           const device::Contexts& contexts)
    : configs_(checked(configs)),
      log_page_(log_page),
      contexts_(contexts),
      caches_{Cache(configs.qp, counters_.qp), Cache(configs.cq, counters_.cq),
              Cache(configs.mpt, counters_.mpt), Cache(configs.mtt, counters_.mtt),
              Cache(configs.wqe, counters_.wqe)} {
  for (const ContextKindRow& row : kContextTables)
    for (u32 i = 0; !configs[row.kind].holds_all() && i < configs[row.kind].misses; ++i) {
      const u32 index = u32(misses_.size());
      misses_.emplace_back().index = index;
      free_misses_.push(index);
    }
  wqes_.resize(configs.wqe.entries);
}

void ContextCache::connect_misses() {
  for (const ContextKindRow& row : kContextTables) {
    if (configs_[row.kind].holds_all()) continue;
    std::string& name = miss_names_[unsigned(row.kind)];
    name = std::string(row.name) + std::string(kMissesName);
    caches_[unsigned(row.kind)].misses.connect(self, name.c_str());
  }
}

void ContextCache::tick() {
  if (arrived_in.can_pop()) take_entry(arrived_in.pop());
  serve();
  answer();
  ask_memory();
}

// One look-up of each client, from the one whose turn it is, as long as there are ports.
void ContextCache::serve() {
  const u32 count = u32(clients.size()), turn = next_client_;
  std::array<u32, kContextKinds> used{};
  bool put_off = false;
  for (u32 i = 0; i < count; ++i) {
    const u32 number = (turn + i) % count;
    Client& c = clients[number];
    if (!c.asks_in.can_pop()) continue;
    const ContextKind kind = c.asks_in.front().kind;
    CacheCounters& counters = *caches_[unsigned(kind)].counters;
    if (used[unsigned(kind)] == configs_[kind].ports) {
      ++counters.put_off;
      put_off = true;
      continue;
    }
    if (!look_up(c.asks_in.front(), number)) {
      if (c.waits_since_ == engine::kNever) {
        c.waits_since_ = now();
        ++counters.waits;
      }
      continue;  // the end of a miss wakes
    }
    if (c.waits_since_ != engine::kNever)
      counters.waited += now() - std::exchange(c.waits_since_, engine::kNever);
    ++used[unsigned(kind)];
    c.asks_in.drop();
    if (next_client_ == turn) next_client_ = (number + 1) % count;
  }
  if (put_off) wake_at(now() + 1);
}

// False: there is no room for another miss.
bool ContextCache::look_up(const ContextAsk& ask, u32 client) {
  Cache& cache = caches_[unsigned(ask.kind)];
  if (ask.turn) {
    if (ask.fills)
      fill(*ask.turn);
    else
      repeat(*ask.turn);
    clients[client].answers_.push(ask.ticket);
    return true;
  }
  const u32 found = cache.store.find(ask.number);
  if (found != SetStore::kNone && !cache.store[found].coming) {
    ++cache.counters->hits;
    clients[client].answers_.push(ask.ticket);
    return true;
  }
  if (found != SetStore::kNone) {
    ++cache.counters->joined;
    const auto at = std::find_if(misses_.begin(), misses_.end(), [&](const Miss& m) {
      return m.kind == ask.kind && m.slot == found && !m.waiters.empty();
    });
    at->waiters.push({client, ask.ticket});
    return true;
  }
  if (!cache.misses.available()) return false;
  const u32 slot =
      ask.kind == ContextKind::Wqe ? choose_for_wqe(ask.number) : cache.store.choose(ask.number);
  if (slot == SetStore::kNone) return false;
  if (cache.store[slot].used && ask.kind != ContextKind::Wqe)
    evict(ask.kind, cache.store[slot].number);
  cache.store.put(slot, ask.number, true);
  cache.misses.take();
  ++cache.counters->misses;
  const u32 number = free_misses_.pop();
  Miss& miss = misses_[number];
  miss.kind = ask.kind;
  miss.number = ask.number;
  miss.slot = slot;
  miss.since = now();
  miss.address = address_of(ask.kind, ask.number);
  miss.size = bytes_of(ask.kind, ask.number);
  miss.waiters.push({client, ask.ticket});
  requests_.push({nullptr, number, miss.address, miss.size});
  return true;
}

// Host memory begins as zeros.
u64 ContextCache::known_at(u64 address, u32 bytes) const {
  const auto at = in_memory_.find(address);
  if (at != in_memory_.end()) return at->second;
  constexpr std::array<u8, kMaxContextBytes> kZeros{};
  return digest_of(kZeros.data(), bytes);
}

void ContextCache::evict(ContextKind kind, u64 number) {
  const u32 bytes = row_of(kind).bytes;
  const u64 address = address_of(kind, number);
  Image* image = images_.take();
  write_image(contexts_, kind, number, log_page_, {image->bytes.data(), bytes});
  const u64 digest = digest_of(image->bytes.data(), bytes);
  if (digest == known_at(address, bytes)) return Pool<Image>::give_back(image);
  in_memory_[address] = digest;
  ++caches_[unsigned(kind)].counters->write_backs;
  requests_.push({image, 0, address, bytes});
}

// WQEs that were fetched. One for which all places of its set wait for others is not kept.
void ContextCache::fill(const Turn& turn) {
  SetStore& store = caches_[unsigned(ContextKind::Wqe)].store;
  const WorkQueue& sq = contexts_.qps[turn.qpn].sq;
  for (u32 i = 0; i < turn.count; ++i) {
    std::array<u8, kMaxSendWqeBytes> wqe{};
    std::copy_n(turn.wqes.data() + i * sq.stride(), sq.stride(), wqe.data());
    const WorkRow* row = work_row(decode<SendWqe>(wqe.data()).opcode);
    if (row && (configs_.wqe.acks || has_response(row->answer)))
      in_memory_[sq.slot(turn.first + i)] = digest_of_wqe(wqe, sq.stride());
    const u64 number = wqe_number(turn.qpn, turn.first + i);
    u32 slot = store.find(number);
    if (slot == SetStore::kNone) slot = choose_for_wqe(number);
    if (slot == SetStore::kNone || store[slot].coming) continue;
    store.put(slot, number);
    wqes_[slot] = wqe;
    ++counters_.wqe.fills;
  }
}

// For WQEs that are sent again. If one of them was evicted, wqe_fetch reads all.
void ContextCache::repeat(Turn& turn) {
  SetStore& store = caches_[unsigned(ContextKind::Wqe)].store;
  const u32 stride = contexts_.qps[turn.qpn].sq.stride();
  for (u32 i = 0; i < turn.count; ++i) {
    const u32 slot = store.find(wqe_number(turn.qpn, turn.first + i));
    if (slot == SetStore::kNone || store[slot].coming) return;
    std::copy_n(wqes_[slot].data(), stride, turn.wqes.data() + i * stride);
  }
  turn.cached = true;
  counters_.wqe.repeats += turn.count;
}

// A work request that is done makes room first.
u32 ContextCache::choose_for_wqe(u64 number) {
  SetStore& store = caches_[unsigned(ContextKind::Wqe)].store;
  const u32 slot = store.choose(number);
  if (slot == SetStore::kNone || !store[slot].used) return slot;
  const u32 done = store.choose_over(number, [this](u64 other) { return !is_outstanding(other); });
  return done == SetStore::kNone ? slot : done;
}

// It was begun, and is not completed; or it waits for its turn to begin.
bool ContextCache::is_outstanding(u64 wqe) const {
  const SendState& s = contexts_.send_of(qpn_of_wqe(wqe));
  return std::int32_t(index_of_wqe(wqe) - s.completed) >= 0;
}

void ContextCache::take_entry(u32 number) {
  Miss& miss = misses_[number];
  Cache& cache = caches_[unsigned(miss.kind)];
  cache.store[miss.slot].coming = false;
  const u64 expected = known_at(miss.address, miss.size);
  const bool is_wqe = miss.kind == ContextKind::Wqe;
  // The host may use the slot again when the work request is done: a response that comes twice.
  const bool over = is_wqe && !is_outstanding(miss.number);
  const u64 come =
      is_wqe ? digest_of_wqe(miss.bytes, miss.size) : digest_of(miss.bytes.data(), miss.size);
  cache.counters->damaged += !over && (miss.failed || come != expected);
  if (is_wqe) std::copy_n(miss.bytes.data(), kMaxSendWqeBytes, wqes_[miss.slot].data());
  cache.counters->miss_cycles += now() - miss.since;
  probe.event(now(), Step::Arrived, u64(miss.kind), miss.number);
  for (; !miss.waiters.empty(); miss.waiters.drop()) {
    const Waiter& waiter = miss.waiters.front();
    clients[waiter.client].answers_.push(waiter.ticket);
  }
  free_misses_.push(number);
  cache.misses.give(now() + 1);
}

void ContextCache::answer() {
  for (Client& c : clients) {
    if (c.answers_.empty() || !c.answers_out->can_push()) continue;
    c.answers_out->push(c.answers_.pop());
    if (!c.answers_.empty()) c.answers_out->wake_when_free();
  }
}

void ContextCache::ask_memory() {
  if (requests_.empty() || !outputs.dma_out->can_push()) return;
  const Request r = requests_.pop();
  if (r.image)
    outputs.dma_out->start().set_write(r.address, r.image->bytes.data(), r.bytes, r.image, false,
                                       now() + 1, now() + 1);
  else
    outputs.dma_out->start().set_read(r.address, misses_[r.miss].bytes.data(), r.bytes,
                                      &misses_[r.miss]);
  if (!requests_.empty()) outputs.dma_out->wake_when_free();
}

DmaCallbacks ContextCache::client() {
  return {
      this,
      [](void* owner, const DmaRequest& r, Cycle, Cycle last) {
        auto& x = *static_cast<ContextCache*>(owner);
        Miss& miss = *static_cast<Miss*>(r.context);
        miss.failed = r.failed;
        const Cycle now = x.dma.now(), seen = std::max({last, x.arrived_free_, now + 1});
        x.arrived_free_ = seen;
        x.arrived_in.push(miss.index, 1, seen - now - 1);
      },
      [](void*, const DmaRequest& r) { Pool<Image>::give_back(static_cast<Image*>(r.context)); }};
}
}  // namespace hca::blocks
