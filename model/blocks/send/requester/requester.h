// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/memory/qp_context.h"
#include "model/blocks/send/packetizer.h"
#include "model/blocks/send/requester/answers.h"
#include "model/blocks/send/requester/message_start.h"
#include "model/blocks/send/requester/request_headers.h"

namespace hca::blocks {
// Turns messages into packets: segmentation, PSNs, loss recovery, timers, completion of work
// requests. Owns the send states. Ports take turns; within a port, queue pairs with fetched WQEs
// take turns packet by packet, by the policy of qp_scheduler. A port without room is passed over.
//
// Contract: a packet cut in cycle n enters the packetizer in n + look-ups + latency; one packet
// each `interval` cycles. An acknowledgement seen in cycle n completes its first work request in
// the same cycle, one more each cycle. A READ or ATOMIC response seen in cycle n requests its first
// DMA write in n + 1 and one more piece a cycle; nothing else is taken meanwhile. Its work request
// completes when the last of its data is ordered. A work request without packets begins in its
// turn; the next message of its queue pair begins when `command` has executed it.
//
// A message of an unreliable service completes with its last packet: when the port begins to send
// that packet in cycle n, the requester sees this in n + 1 and completes the work request then.
//
// With engines, each engine cuts a packet of its queue pairs every `engine_interval` cycles at
// most. Ports and engines with work take turns, and an engine picks among its queue pairs by the
// policy.
//
// All parts form one block of the engine; this class takes turns in and cuts packets.
class Requester : public engine::Block {
 public:
  Requester(const RequesterConfig& config, u64 clock_hz, QpContext& context,
            device::Contexts& contexts, Protection& protection, Packetizer& packetizer,
            Accesses& accesses, SchedulerPolicy policy = SchedulerPolicy::RoundRobin,
            const ReadyQueues::Weights& weights = {}, const std::array<u32, 16>& lane_of_sl = {},
            Payload payload = Payload::Carried);

  FetchedLink turns_in, not_read_in;  // written by dma; by wqe_fetch for turns that need no read
  PortLinks<AckLink> acks_in{8};
  PortLinks<SentLink> sent_in{8};  // written by the transmit halves of the ports
  RequesterOutputs outputs;
  engine::Probe probe;
  RequesterCounters counters;

  // The parts that `command` and the chip's wiring call.
  FetchedTurns turns;
  PsnSteps psns;
  LocalWorks local_works;
  ResponseData response_data;

  void tick();
  // Called by `command`, between cycles: a queue pair entered Error, or was reset or destroyed.
  void enter_error(u32 qpn);
  void clear(u32 qpn);
  // Called by `command`: the queue pair entered SQD, left SQD for RTS, or left SQE for RTS.
  void drain(u32 qpn);
  void resume(u32 qpn);
  void recover(u32 qpn);
  // Called by `command`: the queue pair has another path.
  void moved(u32 qpn);
  // Called by `command`: the migration that exhausted retries asked for has ended.
  void migrated(u32 qpn, u32 life);
  // RD, called by `command`: an EE context may go on, or ends.
  void serve(u32 ee);
  void end_context(u32 ee, proto::WcStatus served, proto::WcStatus asking, bool is_reset);
  const EeService& ee_service() const { return ee_service_; }

  const Engines& engines() const { return order_.engines(); }
  Cycle next_timer() const { return timers_.next(); }
  Cycle timer_of(u32 qpn) const { return timers_.deadline(qpn); }
  RequesterHold hold(u32 qpn) const;

 private:
  // Turns in.
  void come_back();
  void accept_next_turn();
  // Packets out.
  bool gather();
  void send();
  void send_several();
  void cut_next(u32 qpn);
  [[gnu::always_inline]] bool cut(u32 qpn, SendQueue& q);
  [[gnu::always_inline]] void send_packet(u32 qpn, SendQueue& q);
  proto::SendState& state_of(u32 qpn) const { return send_[contexts_.connection_of(qpn)]; }
  RequesterPart shared(device::Contexts& contexts) {
    return {self, contexts, queues_, pending_, counters, outputs, probe};
  }

  static constexpr u32 kTurns = RequesterPart::kTurns, kAnswers = RequesterPart::kAnswers,
                       kOwn = RequesterPart::kOwn;
  // The members that each packet needs, side by side.
  alignas(64) engine::Stage stage_;
  QpContext& context_;
  const device::Contexts& contexts_;
  const device::SendStates send_;
  Protection& protection_;
  Packetizer& packetizer_;
  Cycle next_packet_ = 0;
  ByQp<SendQueue> queues_;
  u32 pending_ = 0;               // bits: kTurns, kAnswers, kOwn
  u32 gathering_ = 0;             // the queue pair whose packet the packetizer gathers
  bool gathers_last_ = false;     // this packet is the last of its message
  bool gathers_nothing_ = false;  // its queue pair was reset meanwhile
  bool waits_sent_ = false;       // a packet will be reported when it is on the wire
  unsigned next_place_ = 0;       // the place of order_ that may send first
  const RequesterConfig config_;
  PacketPool pool_;
  u32 clears_ = 0;

  // Parts called only by this class.
  RequesterOutbox outbox_;
  RateLimits rates_;
  SendOrder order_;
  AckTimers timers_;
  LossRecovery recovery_;
  WorkEnds ends_;
  EeService ee_service_;
  MessageStart start_;
  RequestHeaders headers_;
  Answers answers_;
};
}  // namespace hca::blocks
