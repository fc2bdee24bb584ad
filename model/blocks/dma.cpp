// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/dma.h"

#include <algorithm>

namespace hca::blocks {
void Dma::tick() {
  reach_memory();
  grant();
}

void Dma::reach_memory() {
  // Posted writes first: a read of the same cycle sees them. No two of a kind reach memory in one
  // cycle.
  if (!writes_.empty() && writes_.front().memory <= now()) {
    const Access a = writes_.pop();
    outside_.write_memory(a.request.address, a.request.buffer, a.request.bytes, now());
    const Client& client = clients[a.client];
    if (client.released) client.released(client.self, a.request);
  }
  if (!reads_.empty() && reads_.front().memory <= now()) {
    const Access a = reads_.pop();
    if (a.request.bytes)
      outside_.read_memory(a.request.address, a.request.buffer, a.request.bytes, now());
    clients[a.client].done(clients[a.client].self, a.request, std::max(a.first, now()),
                           std::max(a.last, now()));
  }
  const bool late = (!writes_.empty() && writes_.front().memory <= now()) ||
                    (!reads_.empty() && reads_.front().memory <= now());
  if (late) wake_at(now() + 1);
}

void Dma::grant() {
  const bool may_read = next_read_ <= now(), may_write = next_write_ <= now();
  bool waits_read = false, waits_write = false;
  unsigned granted = kDmaClients, waiting = 0;
  for (unsigned k = 0, i = next_; k < kDmaClients; ++k, i = i + 1 == kDmaClients ? 0 : i + 1) {
    if (!requests_in[i].can_pop()) continue;
    const bool write = requests_in[i].front().write;
    if (write ? !may_write : !may_read) {
      (write ? waits_write : waits_read) = true;
      continue;
    }
    if (!waiting++) granted = i;
  }
  if (waiting) start(granted);
  if (waits_read) wake_at(std::max(next_read_, now() + 1));
  if (waits_write) wake_at(std::max(next_write_, now() + 1));
  if (waiting > 1) wake_at(now() + 1);
}

void Dma::start(unsigned client) {
  const DmaRequest request = requests_in[client].pop();
  next_ = client + 1 == kDmaClients ? 0 : client + 1;
  if (request.write)
    start_write(request, u8(client));
  else
    start_read(request, u8(client));
}

void Dma::start_read(const DmaRequest& request, u8 client) {
  Access a{0, 0, 0, request, client};
  if (!request.bytes) {
    a.memory = std::max(now() + 1, last_read_memory_ + 1);
    a.first = a.last = std::max(a.memory, last_read_);
  } else {
    const ReadTiming t = timing_.read(now(), request.bytes);
    const Cycle late = last_write_memory_ > t.memory ? last_write_memory_ - t.memory : 0;
    a.memory = std::max({t.memory + late, last_read_memory_ + 1, now() + 1});
    a.first = std::max({t.first + late, last_read_, a.memory}),
    a.last = std::max(t.last + late, a.first);
    next_read_ = t.next;
    ++counters.reads, counters.read_bytes += request.bytes;
  }
  last_read_memory_ = a.memory, last_read_ = a.last;
  reads_.push(a);
  wake_at(a.memory);
}

void Dma::start_write(const DmaRequest& request, u8 client) {
  const WriteTiming t = timing_.write(std::max(request.first_in, now()),
                                      std::max(request.last_in, now()), request.bytes);
  const Cycle memory = std::max({t.memory, last_write_memory_ + 1, now() + 1});
  next_write_ = t.next;
  last_write_memory_ = memory;
  ++counters.writes, counters.write_bytes += request.bytes;
  writes_.push({memory, memory, memory, request, client});
  const Cycle ordered = std::max(t.next, now() + 1);
  if (request.notify) clients[client].done(clients[client].self, request, ordered, ordered);
  wake_at(memory);
}
}  // namespace hca::blocks
