// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/shared_wqes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hca::blocks {
using namespace proto;

SharedWqes::Ahead& SharedWqes::ahead_of(u32 srqn, const SharedQueue& queue) {
  Ahead& a = aheads_[srqn];
  if (a.life == queue.life) [[likely]]
    return a;
  for (const Batch& b : a.batches)
    if (b.is_here) Pool<ReceiveBatch>::give_back(b.wqes);
  a.batches.clear();
  a.waiting.clear();  // its queue pairs are gone
  a.life = queue.life;
  a.posted = a.end = 0;
  return a;
}

void SharedWqes::post(u32 srqn, u32 posted) {
  const SharedQueue* const queue = contexts_.find_srq(srqn);
  if (!queue || !config_.shared_batches) return;
  Ahead& a = ahead_of(srqn, *queue);
  a.posted = posted;
  ask(srqn, a);
}

void SharedWqes::ask(u32 srqn, Ahead& a) {
  if (a.due || a.end == a.posted || a.batches.size() == config_.shared_batches) return;
  a.due = true;
  due_.push(srqn);
  wake_at(now() + 1);
}

void SharedWqes::drop(Ahead& a, std::size_t place) {
  Pool<ReceiveBatch>::give_back(a.batches[place].wqes);
  a.batches.erase(a.batches.begin() + std::ptrdiff_t(place));
}

void SharedWqes::drop_oldest(Ahead& a) {
  if (a.batches.size() == config_.shared_batches && a.batches.front().is_here) drop(a, 0);
}

ReceiveBatch* SharedWqes::take(u32 srqn, u32 index) {
  const SharedQueue* const queue = contexts_.find_srq(srqn);
  if (!queue || !config_.shared_batches) return nullptr;
  Ahead& a = ahead_of(srqn, *queue);
  const auto found = std::ranges::find_if(
      a.batches, [&](const Batch& b) { return b.is_here && b.wqes->has(index); });
  if (found == a.batches.end()) return nullptr;
  const u32 stride = queue->wqes.stride();
  ReceiveBatch* const one = pool_.take();
  one->first = index;
  one->count = 1;
  one->unreadable = one->ahead = false;
  std::memcpy(one->wqes.data(), found->wqes->wqe(index, stride), stride);
  if (++found->taken == found->wqes->count)
    drop(a, std::size_t(found - a.batches.begin()));
  else if (found != a.batches.begin())
    drop_oldest(a);
  ask(srqn, a);
  return one;
}

bool SharedWqes::await(u32 srqn, const SharedWaiter& waiter) {
  const SharedQueue* const queue = contexts_.find_srq(srqn);
  if (!queue || !config_.shared_batches) return false;
  Ahead& a = ahead_of(srqn, *queue);
  const bool comes = std::ranges::any_of(
      a.batches, [&](const Batch& b) { return !b.is_here && b.wqes->has(waiter.index); });
  if (comes) {
    a.waiting.push_back(waiter);
  } else if (later_index(a.end, waiter.index) == waiter.index) {
    a.end = waiter.index + 1;  // the message reads it itself: the next batch begins after it
    a.posted = later_index(a.posted, a.end);
    drop_oldest(a);
    ask(srqn, a);
  }
  return comes;
}

ReceiveBatch* SharedWqes::next() {
  const u32 srqn = due_.pop();
  Ahead& a = aheads_[srqn];
  a.due = false;
  const SharedQueue* const queue = contexts_.find_srq(srqn);
  if (!queue || queue->life != a.life || a.end == a.posted ||
      a.batches.size() == config_.shared_batches)
    return nullptr;
  ReceiveBatch* const b = pool_.take();
  b->qpn = 0;
  b->source = contexts_.shared_queue(srqn);
  b->ahead = true;
  b->set_range(queue->wqes, a.end, a.posted, config_.batch);
  a.batches.push_back({b});
  a.end += b->count;
  ask(srqn, a);
  return b;
}

const std::vector<SharedWaiter>& SharedWqes::accept(ReceiveBatch* b) {
  served_.clear();
  const u32 srqn = b->source.srqn();
  Ahead& a = aheads_[srqn];
  const auto found = std::ranges::find_if(a.batches, [&](const Batch& of) { return of.wqes == b; });
  if (found == a.batches.end()) {  // of an earlier SRQ of this number
    Pool<ReceiveBatch>::give_back(b);
    return served_;
  }
  const auto waits = [&](const SharedWaiter& w) { return !b->has(w.index); };
  const auto served = std::stable_partition(a.waiting.begin(), a.waiting.end(), waits);
  served_.assign(served, a.waiting.end());
  a.waiting.erase(served, a.waiting.end());
  if (b->unreadable) {  // a message that takes one of them reads it itself
    a.batches.erase(found);
    Pool<ReceiveBatch>::give_back(b);
    ask(srqn, a);
  } else {
    found->is_here = true;
  }
  return served_;
}
}  // namespace hca::blocks
