// SPDX-License-Identifier: Apache-2.0
// A request as its rules see it, and the rules of RD on its queue pair and on RESYNC.
#pragma once
#include <span>

#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/qp.h"
#include "model/proto/transport/shared_queue.h"

namespace hca::proto {
struct RequestView {
  const ParsedPacket& packet;
  std::span<const u8> frame;
  const QpConfig& qp;
  const ReceiveState& state;
  const Region* region;      // named by the R_Key of its RETH or AtomicETH, if it has one
  u32 reads_unfinished = 0;  // earlier READs and ATOMICs whose responses have not all left
  const PortAttributes* port = nullptr;  // UD: the receiving port
  // The SRQ whose WQEs it may take; nullptr: the queue pair has its own, or an XRC request names
  // no SRQ.
  const SharedQueue* shared = nullptr;
  // RD: the queue pair that DestQP names, if it exists; `qp` is the EE context that serves it.
  const QpConfig* queue_pair = nullptr;
};
// T13: the states in which inbound requests are processed.
constexpr bool takes_requests(QpState state) {
  return state == QpState::Rtr || state == QpState::Rts || state == QpState::Sqd ||
         state == QpState::Sqe;
}

namespace request {
inline bool is_resync(const RequestView& v) {
  return v.packet.opcode && v.packet.opcode->operation == Operation::Resync;
}
// A RESYNC that concerns the EE context alone (G13.3): errors of a queue pair do not stop it.
inline bool is_for_context(const RequestView& v) {
  return is_resync(v) && v.qp.options.rd_resync_queue == RdResyncQueue::Any;
}
// o9-23.2.1, T10-14.
inline bool no_rd_queue(const RequestView& v) {
  if (is_for_context(v)) return false;
  const QpConfig* const qp = v.queue_pair;
  return !qp || qp->service != Service::Rd || !takes_requests(qp->state);
}
// T10-11.
inline bool wrong_rd_domain(const RequestView& v) {
  return !is_for_context(v) && v.queue_pair->rdd != v.qp.rdd;
}
// C9-50.
inline bool bad_rd_qkey(const RequestView& v) {
  return !is_for_context(v) && v.packet.deth.qkey != v.queue_pair->qkey;
}
// G13.1: inside a message, a packet to another queue pair.
inline bool changes_queue_pair(const RequestView& v) {
  return v.state.message != InMessage::None && v.packet.opcode &&
         v.packet.bth.dest_qp != v.state.owner;
}
}  // namespace request
}  // namespace hca::proto
