// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/receive_wqes.h"

#include <algorithm>
#include <utility>

namespace hca::blocks {
using namespace proto;

namespace {
bool holds(const ReceiveBatch* b, u32 index) { return b && b->has(index); }
}  // namespace

void ReceiveWqes::turn_to(ResponderQueue& q, device::ReceiveQueue source, u32 index) {
  if (q.source == source) [[likely]]
    return;
  drop(q);
  q.source = source;
  q.posted = index;
}

void ReceiveWqes::want(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index) {
  turn_to(q, source, index);
  q.next_wqe = index;
  q.posted = later_index(q.posted, index + 1);
  ask_for(qpn, q, source, index);
}

void ReceiveWqes::ask_for(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index) {
  if (q.fetching || q.failed) return;
  if (source.is_shared() && shared_.await(source.srqn(), {qpn, q.life, index}))
    q.fetching = true;
  else
    ask(qpn);
}

bool ReceiveWqes::has(ResponderQueue& q, device::ReceiveQueue source, u32 index) {
  if (q.has_wqe(source, index)) return true;
  ReceiveBatch* const one = source.is_shared() ? shared_.take(source.srqn(), index) : nullptr;
  if (!one) return false;
  turn_to(q, source, index);
  if (q.current) Pool<ReceiveBatch>::give_back(q.current);
  q.current = one;
  return true;
}

const u8* ReceiveWqes::wqe(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index) {
  turn_to(q, source, index);
  q.next_wqe = index;
  q.posted = later_index(q.posted, index + 1);
  if (!holds(q.current, index) && holds(q.following, index)) {
    Pool<ReceiveBatch>::give_back(q.current);
    q.current = std::exchange(q.following, nullptr);
  }
  if (!holds(q.current, index) && !has(q, source, index)) {
    ask_for(qpn, q, source, index);
    return nullptr;
  }
  q.next_wqe = index + 1;
  if (index - q.current->first >= q.current->count / 2) ask(qpn);
  return q.current->wqe(index, ring_of(qpn, source).stride());
}

// The first WQE that is not here: an abandoned message returns its own.
u32 ReceiveWqes::next_batch(const ResponderQueue& q) {
  const bool here = holds(q.current, q.next_wqe - 1) || holds(q.current, q.next_wqe);
  return here ? q.current->first + q.current->count : q.next_wqe;
}

void ReceiveWqes::ask(u32 qpn) {
  ResponderQueue& q = queues_[qpn];
  if (q.fetching || q.failed) return;
  // WRITEs with Immediate take WQEs without reading them, perhaps all that are here.
  if (q.following && !holds(q.current, q.next_wqe) && !holds(q.following, q.next_wqe))
    Pool<ReceiveBatch>::give_back(std::exchange(q.following, nullptr));
  if (q.following) return;
  const u32 first = next_batch(q);
  if (first == q.posted) return;
  q.fetching = true;
  fetches_.push(qpn);
  wake_at(now() + 1);
}

void ReceiveWqes::fetch() {
  if (fetching_ == batches_in_.depth()) return;  // accept() makes room
  if (!outputs_.receive_wqes_out->can_push()) return;
  if (fetches_.empty()) return fetch_shared();
  const u32 qpn = fetches_.pop();
  if (any_to_fetch()) wake_at(now() + 1);
  ResponderQueue& q = queues_[qpn];
  const QpConfig* qp = contexts_.find_number(qpn);
  if (!qp) return void(q.fetching = false);
  const u32 first = next_batch(q);
  if (first == q.posted) return void(q.fetching = false);  // taken since the request
  const WorkQueue& ring = ring_of(qpn, q.source);
  ReceiveBatch* b = batches_.take();
  b->qpn = qpn;
  b->life = q.life;
  b->source = q.source;
  b->ahead = false;
  b->set_range(ring, first, q.posted, config_.batch);
  read(b, ring);
}

void ReceiveWqes::read(ReceiveBatch* b, const WorkQueue& ring) {
  ++counters_.receive_fetches;
  ++fetching_;
  if (b->source.is_shared() && !shared_of(b->source)) {  // the SRQ was destroyed: as if unreadable
    b->unreadable = true;
    return batches_out_->push(b);
  }
  outputs_.receive_wqes_out->start().set_read(ring.slot(b->first), b->wqes.data(),
                                              b->count * ring.stride(), b);
}

void ReceiveWqes::fetch_shared() {
  if (!shared_.any_to_fetch()) return;
  ReceiveBatch* const b = shared_.next();
  if (any_to_fetch()) wake_at(now() + 1);
  if (b) read(b, shared_of(b->source)->wqes);
}

const std::vector<SharedWaiter>& ReceiveWqes::accept_shared(ReceiveBatch* b) {
  --fetching_;
  const std::vector<SharedWaiter>& waited = shared_.accept(b);
  for (const SharedWaiter& w : waited)
    if (ResponderQueue& q = queues_[w.qpn]; q.life == w.life) q.fetching = false;
  return waited;
}

DmaCallbacks ReceiveWqes::client() {
  return {this, [](void* part, const DmaRequest& r, Cycle, Cycle last) {
            auto& x = *static_cast<ReceiveWqes*>(part);
            const Cycle now = x.now();
            auto* const batch = static_cast<ReceiveBatch*>(r.context);
            batch->unreadable = r.failed;
            x.batches_out_->push(batch, 1, last > now + 1 ? last - now - 1 : 0);
          }};
}

bool ReceiveWqes::accept(ReceiveBatch* b) {
  --fetching_;
  ResponderQueue& q = queues_[b->qpn];
  if (b->life != q.life) {
    Pool<ReceiveBatch>::give_back(b);
    return false;
  }
  q.fetching = false;
  if (b->source != q.source) return Pool<ReceiveBatch>::give_back(b), true;
  if (holds(q.current, q.next_wqe - 1) || holds(q.current, q.next_wqe)) {
    q.following = b;
  } else {
    if (q.current) Pool<ReceiveBatch>::give_back(q.current);
    q.current = b;
  }
  return true;
}

void ReceiveWqes::drop(ResponderQueue& q) {
  for (ReceiveBatch** b : {&q.current, &q.following})
    if (*b) Pool<ReceiveBatch>::give_back(std::exchange(*b, nullptr));
}
}  // namespace hca::blocks
