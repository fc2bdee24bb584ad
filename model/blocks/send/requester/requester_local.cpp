// SPDX-License-Identifier: Apache-2.0
// Work requests that send no packet: BIND_MW, LOCAL_INV, REG_MR. They begin in their turn,
// `command` executes them between two packets, and what comes after them begins then (G22.6). They
// complete when the accesses judged before have drained (MW-20).
#include "model/blocks/send/requester/requester.h"

namespace hca::blocks {
using namespace proto;

// It is begun; a rewind will pass over it.
void Requester::start_local(u32 qpn, Lane& lane, const u8* wqe, u32 index) {
  device::LocalWork& work = works_.add();
  ++for_command_;
  work.qpn = qpn, work.life = lane.life, work.index = index, work.wqe = lane.wqe, work.memory = {};
  if (segments_offset(row_of(lane.wqe)) > kSendWqeBytes)
    work.memory = decode<MemorySegment>(wqe + kSendWqeBytes);
  lane.waits_local = true, lane.local_index = index, lane.local_status = WcStatus::Success;
  finish_wqe(qpn, lane);
}

bool Requester::waits_for(u32 qpn, u32 life) {
  const QpConfig* qp = contexts_.find_qp(qpn);
  const bool sends = qp && (qp->state == QpState::Rts || qp->state == QpState::Sqd);
  const Lane& lane = lanes_[qpn];
  return sends && lane.waits_local && !lane.in_error && lane.life == life;
}

void Requester::go_on(u32 qpn, WcStatus status) {
  Lane& lane = lanes_[qpn];
  lane.local_status = status;
  if (status == WcStatus::Success) lane.waits_local = false;
  queue_completion(qpn, lane);
  activate(qpn, lane);
  self.wake(now() + 1);
}

void Requester::end_local(u32 qpn, u32 life, u32 index) {
  Lane& lane = lanes_[qpn];
  if (lane.life != life || lane.in_error) return;
  sent_.message(connection_of(qpn), index).placed = true;
  queue_completion(qpn, lane);
  self.wake(now() + 1);
}

// One that was refused fails when those in front of it are done (C9-209).
void Requester::fail_refused(u32 qpn, Lane& lane) {
  if (lane.local_status == WcStatus::Success ||
      send_[connection_of(qpn)].completed != lane.local_index)
    return;
  lane.waits_local = false;
  fail(qpn, lane.local_index, lane.local_status);
}
}  // namespace hca::blocks
