// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/dma.h"

#include <algorithm>

#include "model/proto/interface/events.h"

namespace hca::blocks {
[[gnu::hot]] void Dma::tick() {
  if (std::min(write_memory_, read_memory_) <= now()) return reach_memory();
  serve();
}

// Most often one client waits.
inline void Dma::serve() {
  if (!waiting_) return;
  if (waiting_ & (waiting_ - 1)) [[unlikely]]
    return serve_several();
  const unsigned client = unsigned(engine::lowest_bit(waiting_));
  const DmaLink& link = requests_in[client];
  if (!link.can_pop()) return;
  if (!locked_.empty() && waits_for_lock(client)) [[unlikely]]
    return;
  const bool write = link.front().write;
  if (const Cycle from = free_from_[write]; from > now()) return wait_for_way(write, from);
  start(client);
}

void Dma::serve_several() {
  const unsigned ready = ready_clients();
  if (!ready) return;
  const bool several = ready & (ready - 1);
  if (several) wake_at(now() + 1);
  start(several ? client_in_turn(ready) : unsigned(engine::lowest_bit(ready)));
}

// Posted writes first: a read of the same cycle sees them. No two requests of a kind reach memory
// in one cycle; a late tick does not let a read pass earlier writes.
[[gnu::hot, gnu::noinline]] void Dma::reach_memory() {
  if (write_memory_ <= now()) finish_write();
  if (read_memory_ <= now() && read_memory_ < write_memory_) finish_read();
  if (std::min(write_memory_, read_memory_) <= now()) [[unlikely]]
    wake_at(now() + 1);
  serve();
}

inline void Dma::finish_write() {
  Access& a = writes_.front();
  DmaRequest& r = a.request;
  r.failed = !outside_.write_memory(r.address, {r.buffer, r.moved}, r.bytes, now());
  accesses_.end(a.request.era);
  const DmaCallbacks& client = clients[a.client];
  if (client.released) client.released(client.self, a.request);
  writes_.drop();
  write_memory_ = writes_.empty() ? engine::kNever : writes_.front().memory;
}

inline void Dma::finish_read() {
  Access& a = reads_.front();
  if (a.request.bytes) read_memory(a);
  accesses_.end(a.request.era);
  clients[a.client].done(clients[a.client].self, a.request, std::max(a.first, now()),
                         std::max(a.last, now()));
  reads_.drop();
  read_memory_ = reads_.empty() ? engine::kNever : reads_.front().memory;
}

// An AtomicOp is indivisible: nothing comes between its value and what takes its place.
inline void Dma::read_memory(Access& a) {
  DmaRequest& r = a.request;
  if (!outside_.read_memory(r.address, {r.buffer, r.moved}, r.bytes, now())) [[unlikely]] {
    r.failed = true;
    ++counters.failed_reads;
  } else if (r.operands) [[unlikely]]
    change_memory(a);
}

[[gnu::noinline]] void Dma::change_memory(const Access& a) {
  const DmaRequest& r = a.request;
  const u8* const changed = clients[a.client].changed(clients[a.client].self, r);
  outside_.write_memory(r.address, {changed, r.bytes}, r.bytes, now());
}

// The bytes of an ATOMIC whose read has left and whose write has not: its own client has no other
// access to them.
bool Dma::is_locked(const DmaRequest& r) const {
  for (const u64 word : locked_)
    if (r.bytes && r.address < word + proto::kAtomicBytes && word < r.address + r.bytes)
      return true;
  return false;
}

// True: the first request of a client waits for a lock; change_lock() wakes the block.
[[gnu::noinline]] bool Dma::waits_for_lock(unsigned client) {
  if (client == unsigned(DmaClient::Atomic) || !is_locked(requests_in[client].front()))
    return false;
  if (!(held_ >> client & 1)) {
    held_ |= 1u << client;
    held_since_[client] = now();
  }
  return true;
}

[[gnu::noinline]] void Dma::end_lock_wait(unsigned client) {
  held_ &= ~(1u << client);
  counters.waits_locked += now() - held_since_[client];
}

[[gnu::noinline]] void Dma::change_lock(const DmaRequest& r) {
  if (!r.write) return locked_.push_back(r.address);
  locked_.erase(std::find(locked_.begin(), locked_.end(), r.address));
  if (held_) wake_at(now() + 1);
}

[[gnu::noinline]] void Dma::wait_for_way(bool write, Cycle from) {
  if (counted_[write] < from) {
    u64& waits = write ? counters.waits_to_write : counters.waits_to_read;
    waits += from - std::max(now(), counted_[write]);
    counted_[write] = from;
  }
  wake_at(from);
}

// If several may leave: a client of the other kind than the last one, or of the only ready kind;
// the first one after the client of that kind served last.
unsigned Dma::client_in_turn(unsigned ready) const {
  unsigned writes = 0;
  for (unsigned m = ready; m; m &= m - 1)
    if (requests_in[engine::lowest_bit(m)].front().write) writes |= m & -m;
  const unsigned reads = ready & ~writes;
  const bool write = !reads || (writes && !wrote_);
  const unsigned turn = write ? writes : reads, behind = turn >> next_[write] << next_[write];
  return unsigned(engine::lowest_bit(behind ? behind : turn));
}

// The clients of which a request may leave now.
inline unsigned Dma::ready_clients() {
  unsigned ready = 0;
  for (u32 m = waiting_; m; m &= m - 1) {
    const DmaLink& link = requests_in[engine::lowest_bit(m)];
    if (!link.can_pop()) continue;
    if (!locked_.empty() && waits_for_lock(unsigned(engine::lowest_bit(m)))) [[unlikely]]
      continue;
    const bool write = link.front().write;
    if (const Cycle from = free_from_[write]; from <= now())
      ready |= m & -m;
    else
      wait_for_way(write, from);
  }
  return ready;
}

inline void Dma::start(unsigned client) {
  DmaLink& link = requests_in[client];
  wrote_ = link.front().write;
  next_[wrote_] = client + 1;
  if (held_ >> client & 1) [[unlikely]]
    end_lock_wait(client);
  if (link.front().locks) [[unlikely]]
    change_lock(link.front());
  if (wrote_)
    start_write(link, client);
  else
    start_read(link, client);
}

inline void Dma::leave(DmaLink& link, unsigned client) {
  link.drop();
  if (link.empty()) waiting_ &= ~(1u << client);
}

[[gnu::hot, gnu::noinline]] void Dma::start_read(DmaLink& link, unsigned client) {
  const DmaRequest& request = link.front();
  const Cycle now = this->now();
  Cycle memory, first, last;
  if (!request.bytes) {
    memory = std::max(now, last_read_memory_) + 1;
    first = last = std::max(memory, last_read_);
  } else {
    const ReadTiming t = request.operands ? timing_.atomic(now, request.address, request.operands)
                                          : timing_.read(now, request.address, request.bytes);
    const Cycle late = last_write_memory_ > t.memory ? last_write_memory_ - t.memory : 0;
    memory = std::max(t.memory + late, std::max(now, last_read_memory_) + 1);
    first = std::max({t.first + late, last_read_, memory});
    last = std::max(t.last + late, first);
    free_from_[false] = t.next;
    if (request.operands) [[unlikely]] {
      ++counters.atomics;
    } else {
      ++counters.reads;
      counters.read_bytes += request.bytes;
    }
  }
  last_read_memory_ = memory;
  last_read_ = last;
  if (reads_.empty()) read_memory_ = memory;
  Access& a = reads_.add();
  a.memory = memory;
  a.first = first;
  a.last = last;
  a.request = request;
  a.client = u8(client);
  wake_at(memory);
  leave(link, client);
}

[[gnu::hot, gnu::noinline]] void Dma::start_write(DmaLink& link, unsigned client) {
  const DmaRequest& request = link.front();
  const Cycle now = this->now();
  const WriteTiming t =
      timing_.write(std::max(request.first_in, now), std::max(request.last_in, now),
                    request.address, request.bytes);
  const Cycle memory = std::max(t.memory, std::max(now, last_write_memory_) + 1);
  free_from_[true] = t.next;
  last_write_memory_ = memory;
  ++counters.writes;
  counters.write_bytes += request.bytes;
  if (writes_.empty()) write_memory_ = memory;
  Access& a = writes_.add();
  a.memory = memory;
  a.request = request;
  a.client = u8(client);
  const Cycle ordered = std::max(t.next, now + 1);
  if (request.notify) clients[client].done(clients[client].self, request, ordered, ordered);
  wake_at(memory);
  leave(link, client);
}
}  // namespace hca::blocks
