// SPDX-License-Identifier: Apache-2.0
// The context of a queue pair: the attributes set by commands, and the state of its two sides.
#pragma once
#include "model/proto/interface/commands.h"
#include "model/proto/interface/work_rows.h"
#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/send_psns.h"
#include "model/proto/transport/transport_options.h"
#include "model/proto/wire/opcodes.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// A ring of WQE slots in host memory. Indices do not wrap internally; the bus carries their low 16
// bits.
struct WorkQueue {
  u64 address = 0;
  u8 log_entries = 0, log_stride = 6;

  u32 entries() const { return u32{1} << log_entries; }
  u32 stride() const { return u32{1} << log_stride; }
  u64 slot(u32 index) const { return address + (u64{index & (entries() - 1)} << log_stride); }
};
// Widens an index from the low 16 bits in a doorbell. `known`: the last index, less than 2^16
// before it.
constexpr u32 widen_index(u32 known, u16 low) { return known + u16(low - u16(known)); }
// The later of two free-running indices less than 2^31 apart.
constexpr u32 later_index(u32 a, u32 b) { return b - a < u32{1} << 31 ? b : a; }

// Set only by CreateQp and ModifyQp; a migration replaces path, port and P_Key.
struct alignas(64) QpConfig {
  bool allocated = false, signal_all = false, privileged = false;
  bool blocks_self = false;  // receives no copy of its own multicast datagrams
  bool reliable = true;      // is_reliable(service)
  PathMigState path_mig = PathMigState::Migrated;  // G17.1
  bool moves = false;  // migrates to another port; packets of its old port are dropped meanwhile
  bool has_moved = false;  // a migration took it to another port
  QpState state = QpState::Reset;
  Service service = Service::Rc;
  QpSide side = QpSide::Both;
  u8 port = 1;  // from 1 on
  Rights access = 0;
  u8 timeout = 0, retry_count = 0, rnr_retry = 0, min_rnr_timer = 0;
  u8 max_rd_atomic = 0, max_dest_rd_atomic = 0;
  u8 service_level = 0;
  u16 pkey_index = 0, pkey = 0xffff;
  u32 qpn = 0, pd = 0, send_cq = 0, receive_cq = 0;
  u32 dest_qpn = 0, path_mtu = 1024, qkey = 0;
  u32 sq_psn = 0, rq_psn = 0;
  u32 rate_limit = 0;  // kb/s of its requests on the wire; 0: no limit
  u32 srqn = 0;        // 0: it has its own receive queue
  u32 xrcd = 0;        // domain of an XRC target
  u32 rdd = 0;         // RD domain, of a queue pair or an EE context
  // Of an EE context: the context at the other end, and the queue pair that it serves (serve()).
  u32 remote_eecn = 0, served = 0;
  TransportOptions options;  // of its device
  WorkQueue sq, rq;          // rq: that of its SRQ, if it has one
  Path path;
};

// The number of the queue pair; of an EE context that of the one that it serves.
inline u32 queue_pair_of(const QpConfig& qp) {
  return qp.side == QpSide::EeContext ? qp.served : qp.qpn;
}
inline Accessor accessor_of(const QpConfig& qp) { return {qp.pd, queue_pair_of(qp)}; }
// True: its requests take WQEs of an SRQ.
inline bool uses_srq(const QpConfig& qp) { return qp.srqn || qp.service == Service::Xrc; }
// G24.1: the sides that a queue pair has.
inline bool has_requester(const QpConfig& qp) { return qp.side != QpSide::Target; }
inline bool has_responder(const QpConfig& qp) { return qp.side != QpSide::Initiator; }
// G19.1: the Q_Key that its datagrams carry; replaces a controlled Q_Key of a work request.
inline u32 own_qkey(const QpConfig& qp) { return qp.qpn == kQp1 ? kQp1Qkey : qp.qkey; }
// G22.4.
inline bool uses_reserved_lkey(const QpConfig& qp, u32 lkey) {
  return lkey == kReservedLkey && qp.privileged;
}
// DROP-1, T12-7: a packet belongs to a queue pair of the port that received it, or to none. `port`:
// from 1 on.
constexpr bool is_of_port(const QpConfig& qp, u32 port) { return qp.port == port && !qp.moves; }
// G17.1, BTH-7: the M bit of all packets of a connection.
constexpr bool sends_migrated(const QpConfig& qp) { return qp.path_mig == PathMigState::Migrated; }

// A message with PSNs (for a READ those of its responses): the state that go-back-N and completion
// need. Kept for each WQE in [completed, started).
struct SentMessage {
  u32 first_psn = 0, packets = 0;
  u32 bytes = 0;          // of the message; GET: of its response
  u16 request_bytes = 0;  // GET: of its request's payload
  WorkOpcode opcode = WorkOpcode::Send;
  Answer answer = Answer::Acknowledge;
  bool signaled = false;
  // READ or ATOMIC: its data are in memory; a message without packets: it is done
  bool placed = false;
  bool resumed = false;  // READ: it was requested again from its middle on

  u32 last_psn() const { return psn_add(first_psn, packets - 1); }
  u32 end_psn() const { return psn_add(first_psn, packets); }
};

// The peer's information about its receive WQEs (G6).
enum class Credit : u8 { Unknown, Limited, Unlimited };

// The requester side. WQE indices do not wrap: completed <= started <= posted.
struct alignas(64) SendState : SendPsns {
  u32 started = 0, completed = 0;
  u32 ssn = 0;        // of the last message (G5.4)
  u32 limit_ssn = 0;  // G6.2
  // READs and ATOMICs: started, answered to their last packet, with their data in memory.
  u32 reads_started = 0, reads_answered = 0, reads_placed = 0;
  u32 awaited = 0;    // WQE of the oldest unanswered READ or ATOMIC, if there is one
  u32 epoch = 0;      // counts rewinds: a WQE fetched before the last one is stale
  u32 drains_to = 0;  // in SQD: the first WQE that must not begin
  u8 retries_left = 0, rnr_retries_left = 0;
  bool waits_rnr = false;
  SqdNotify notify_drained = SqdNotify::None;  // the event that was requested (G20.1)
  bool waits_restart = false;  // after an implied NAK, until the repeated PSN is answered (G12.4)
  Credit credit = Credit::Unknown;
};

// The responder's side.
struct alignas(64) ReceiveState {
  u32 epsn = 0, msn = 0;
  u32 rq_posted = 0, rq_consumed = 0;
  u64 write_va = 0;  // WRITE in progress: address of its next packet
  u32 write_rkey = 0, write_left = 0, write_bytes = 0;
  u32 reads_accepted = 0;  // READs and ATOMICs
  InMessage message = InMessage::None;
  bool established = false;  // COMM_EST was raised
  bool nak_sent = false;     // suppresses further NAKs until ePSN arrives (G2.3, G2.5)
  bool failing = false;      // a refused request will take it to Error
  bool refused = false;  // a refused request took it to Error: earlier answers still leave (G7.2)
  bool shared_failed = false;  // its SRQ has failed
  bool last_wqe_told = false;  // QP_LAST_WQE_REACHED was raised
  bool keeps = false;          // packets ahead of ePSN (recovery.h)
  u32 shared_wqe = 0;          // SRQ WQE taken last
  u32 xrc_srqn = 0;            // SRQ of the message that began last
  u32 shared_taken = 0;        // WQEs
  // RD: the queue pair of the message that began last, and the receive WQE that was taken last.
  u32 owner = 0, held_wqe = 0;
  u32 refusals = 0;  // by errors that were found after the rules
};
}  // namespace hca::proto
