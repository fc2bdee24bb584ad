// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/local_works.h"

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

void LocalWorks::start(u32 qpn, SendQueue& q, const u8* wqe, u32 index) {
  device::LocalWork& work = outbox_.add_work();
  work.qpn = qpn;
  work.life = q.life;
  work.index = index;
  work.wqe = q.wqe;
  work.memory = {};
  if (segments_offset(row_of(q.wqe)) > kSendWqeBytes)
    work.memory = decode<MemorySegment>(wqe + kSendWqeBytes);
  q.waits_local = true;
  q.local_index = index;
  q.local_status = WcStatus::Success;
}

bool LocalWorks::waits_for(u32 qpn, u32 life) {
  const QpConfig* qp = contexts_.find_qp(qpn);
  const bool sends = qp && (qp->state == QpState::Rts || qp->state == QpState::Sqd);
  const SendQueue& q = queues_[qpn];
  return sends && q.waits_local && !q.in_error && q.life == life;
}

void LocalWorks::go_on(u32 qpn, WcStatus status) {
  SendQueue& q = queues_[qpn];
  q.local_status = status;
  if (status == WcStatus::Success) q.waits_local = false;
  ends_.queue(qpn, q);
  order_.activate(qpn, q);
  wake_at(now() + 1);
}

void LocalWorks::end(u32 qpn, u32 life, u32 index) {
  SendQueue& q = queues_[qpn];
  if (q.life != life || q.in_error) return;
  message_of(qpn, index).placed = true;
  ends_.queue(qpn, q);
  wake_at(now() + 1);
}
}  // namespace hca::blocks
