// SPDX-License-Identifier: Apache-2.0
// Shared receive queues (G23): their state.
#pragma once
#include "model/proto/transport/qp.h"

namespace hca::proto {
struct SharedQueue {
  bool allocated = false;
  bool failed = false;  // its WQEs cannot be read: only destruction ends this (SRQ-11)
  u8 port = 1;
  u32 pd = 0, limit = 0, uses = 0;
  u32 xrcd = 0, cqn = 0;  // SRQ of XRC (G23.5)
  u32 posted = 0, taken = 0;
  u32 life = 0;  // counts the SRQs of this number
  WorkQueue wqes;
  u64 context = 0;

  bool is_xrc() const { return xrcd; }
  u32 available() const { return posted - taken; }
  // The WQE at its head (SRQ-2).
  u32 head() const { return taken; }
};

// ---- The receive side of a queue pair: its own queue (nullptr), or an SRQ
// The accessor for buffers of receive WQEs (SRQ-4).
inline Accessor receiver_of(const QpConfig& qp, const SharedQueue* shared) {
  return {shared ? shared->pd : qp.pd, queue_pair_of(qp)};
}
// The accessor for the R_Keys of requests; an option chooses the PD of XRC requests (G24.3).
inline Accessor remote_accessor(const QpConfig& qp, const SharedQueue* shared) {
  const bool of_srq = qp.service == Service::Xrc && qp.options.xrc_pd == XrcPd::Srq && shared;
  return {of_srq ? shared->pd : qp.pd, queue_pair_of(qp)};
}
inline const WorkQueue& ring_of(const QpConfig& qp, const SharedQueue* shared) {
  return shared ? shared->wqes : qp.rq;
}
// kNoCq: the SRQ of XRC no longer exists.
inline constexpr u32 kNoCq = ~u32{0};
inline u32 receive_cq_of(const QpConfig& qp, const SharedQueue* shared) {
  if (qp.service != Service::Xrc) [[likely]]
    return qp.receive_cq;
  return shared && shared->is_xrc() ? shared->cqn : kNoCq;
}

// Shows the queue to a queue pair's state while a request is judged.
inline void look_at(ReceiveState& s, const SharedQueue& queue) {
  s.rq_posted = queue.posted;
  s.rq_consumed = queue.taken;
  s.shared_failed = queue.failed;
}
// The states of an SRQ in which QUERY, MODIFY and DESTROY are allowed (SRQ-11).
inline bool may_query(const SharedQueue& queue) { return !queue.failed; }
inline bool may_modify(const SharedQueue& queue) { return !queue.failed; }
inline bool may_destroy(const SharedQueue& queue) { return !queue.uses; }
}  // namespace hca::proto
