// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/engines.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/lib/stand_in.h"
#include "model/blocks/lib/standstill.h"
#include "model/blocks/memory/qp_context.h"
#include "model/blocks/send/packetizer.h"
#include "model/blocks/send/ready_queues.h"
#include "model/blocks/send/requester/requester_config.h"
#include "model/blocks/send/timers.h"
#include "model/device/memory_keys.h"
#include "model/device/port_counts.h"
#include "model/device/writers.h"
#include "model/engine/rate.h"
#include "model/proto/transport/qp_transitions.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/work_rules.h"
#include "model/proto/wire/repeated_headers.h"

namespace hca::blocks {

using LocalWorkLink = engine::Link<device::LocalWork, 4>;

// Messages to packets: segmentation, PSNs, go-back-N, timers, completion of work requests. Owns the
// send states. The ports take turns, and for each its queue pairs with fetched WQEs, packet by
// packet, by the policy of qp_scheduler; a port without room is passed over.
//
// Contract: a packet cut in cycle n enters the packetizer in n + look-ups + latency; one packet
// each `interval` cycles. An acknowledgement seen in cycle n completes its first work request in
// the same cycle, one more each cycle. A READ or ATOMIC response seen in cycle n asks for its first
// DMA write in n + 1 and for one more piece a cycle; nothing else is taken meanwhile. Its work
// request completes when the last of its data is ordered. A work request without packets begins in
// its turn; the next message of its queue pair begins when `command` has executed it.
//
// A message of an unreliable service completes by its last packet: when the port begins to send it
// in cycle n, the requester sees that in n + 1 and completes the work request then.
//
// With engines, each cuts a packet of its queue pairs every `engine_interval` cycles at most. Ports
// and engines with work take turns, and an engine picks among its queue pairs by the policy.
//
// Of a queue pair with a rate limit, a packet that takes b bytes of the link is followed by the
// next one b bytes of that rate later, or behind it: what comes late is not caught up.
class Requester : public engine::Block {
 public:
  struct Ports {
    CompletedLink* completions_out = nullptr;
    DmaLink* responses_out = nullptr;  // data of READs and ATOMICs
    NoteLink* notes_out = nullptr;
    FaultLink* faults_out = nullptr;
    LocalWorkLink* works_out = nullptr;  // work requests that change the key table
  };
  Requester(const RequesterConfig& config, u64 clock_hz, QpContext& context,
            device::Contexts& contexts, Protection& protection, Packetizer& packetizer,
            Accesses& accesses, SchedulerPolicy policy = SchedulerPolicy::RoundRobin,
            const ReadyQueues::Weights& weights = {}, const std::array<u32, 16>& lane_of_sl = {})
      : stage_(config.latency, config.interval),
        context_(context),
        contexts_(contexts),
        send_(contexts),
        sent_(contexts),
        counts_(contexts),
        protection_(protection),
        packetizer_(packetizer),
        accesses_(accesses),
        has_lanes_(packetizer.lanes() > 1),
        has_places_(has_lanes_ || Engines::limits(config.engines, config.engine_interval)),
        config_(config),
        engines_(config.engines, config.engine_interval, config.assignment),
        clock_hz_(clock_hz),
        lane_of_sl_(lane_of_sl) {
    const u32 places = kMaxPorts * config.engines * packetizer.lanes();
    active_.reserve(places);
    turns_in.mark(pending_, kTurns), not_read_in.mark(pending_, kTurns);
    acks_in.mark(pending_, kAnswers), placed_in.mark(pending_, kAnswers);
    for (u32 i = 0; i < places; ++i) active_.emplace_back(policy, weights);
  }

  FetchedLink turns_in, not_read_in;  // written by dma, and by wqe_fetch: what needs no read
  PortLinks<AckLink> acks_in{8};
  PortLinks<SentLink> sent_in{8};  // written by the sending halves of the ports
  struct Placed {
    u32 qpn = 0, index = 0, life = 0;
  };
  engine::Link<Placed, 64> placed_in;  // written by dma: the data of a READ or ATOMIC are ordered
  engine::Waker dma;
  Ports ports;
  engine::Budget* turns = nullptr;  // the scheduler's
  StandIn<RequesterPsnItem>* psn_stand_in = nullptr;
  engine::Probe probe;
  RequesterCounters counters;

  void tick();
  Dma::Client response_client();
  // By `command`, between cycles: a queue pair entered Error, or was reset or destroyed.
  void enter_error(u32 qpn);
  void clear(u32 qpn);
  // By `command`: it may send.
  void start(u32 qpn);
  // By `command`: it entered SQD, or left it for RTS; it left SQE for RTS.
  void drain(u32 qpn);
  void resume(u32 qpn);
  void recover(u32 qpn);
  // By `command`: whether the queue pair still waits for a work request; what became of it, and the
  // queue pair goes on; it completes.
  bool waits_for(u32 qpn, u32 life);
  void go_on(u32 qpn, proto::WcStatus status);
  void end_local(u32 qpn, u32 life, u32 index);
  Cycle next_timer() const { return timers_.next(); }
  Cycle timer_of(u32 qpn) const { return timers_.deadline(qpn); }
  RequesterHold hold(u32 qpn) const;
  const Engines& engines() const { return engines_; }

 private:
  // A READ or ATOMIC that is not answered: its WQE's SGEs, and how far its data came.
  struct AwaitedWork {
    u32 index = 0;
    GatherCursor cursor;  // in the segments below
    std::array<u8, proto::kMaxSendWqeBytes - proto::kSendWqeBytes> segments{};

    AwaitedWork() = default;
    AwaitedWork(AwaitedWork&&) = default;  // of what is over
    // Into a longer ring.
    AwaitedWork& operator=(AwaitedWork&& other) noexcept {
      index = other.index, cursor = other.cursor, segments = other.segments;
      cursor.segments = segments.data();
      return *this;
    }
  };
  // Of a queue pair with a rate limit: its next packet is not cut before `from`.
  struct Pace {
    u32 limit = 0;  // kb/s
    engine::Pacer pacer;
    Cycle from = 0, counted = 0;  // counted: of its waits, up to here
  };
  // The message of one packet that went last: another one like it differs from it in its PSN and
  // its extension headers.
  struct LonePacket {
    proto::RepeatedHeaders headers;
    proto::PacketPlan plan{};
    proto::WorkOpcode opcode{};
    bool solicited = false;
    u32 bytes = 0;  // of the message

    // A message of one packet is cut as a whole: its packet is the first.
    bool is_like(const proto::SendWqe& wqe, const proto::SentMessage& m, u64 version) const {
      return m.packets == 1 && bytes == m.bytes && opcode == wqe.opcode &&
             solicited == wqe.solicited && headers.hold(version);
    }
  };
  // First, in few lines of the cache, what each packet needs.
  struct alignas(64) Lane {
    Turn *head = nullptr, *tail = nullptr;
    proto::SentMessage* message = nullptr;  // in progress, if sending
    std::unique_ptr<Pace> pace;
    u32 at = 0;      // WQE within the first turn
    u32 index = 0;   // of the WQE of the message in progress
    u32 packet = 0;  // PSNs of it that are sent
    u32 life = 0;    // of the queue pair
    bool active = false, sending = false, failed = false, in_error = false, completing = false;
    bool waits_to_fail = false;  // its next WQE cannot be executed
    bool waits_local = false;  // for WQE local_index, which `command` executes, or which it refused
    bool failing = false;      // WQE fail_index ends with fail_status, after all before it
    proto::RepeatedHeaders repeated;  // of the message in progress: its middle packets
    GatherCursor cursor;
    ReadOrder order;  // of its packets
    proto::SendWqe wqe{};
    proto::WorkOperands operands{};
    Ring<AwaitedWork> awaited;
    LonePacket lone;
    u32 local_index = 0, fail_index = 0;
    proto::WcStatus local_status{}, fail_status{};
    proto::SendWait waits = proto::SendWait::None;  // its next WQE, since:
    Cycle waits_since = 0, rnr_since = 0;
  };

  device::Connection connection_of(u32 qpn) const { return contexts_.connection_of(qpn); }
  // requester.cpp: work requests to packets
  void come_back();
  bool gather();
  void accept_turn(Turn* turn);
  void accept_next_turn();
  void send();
  void send_several();
  void cut_next(u32 qpn);
  bool several() const { return acks_in.count() > 1 || has_places_; }
  ReadyQueues& active_of(u32 qpn) {
    if (!several()) [[likely]]
      return active_[0];
    const proto::QpConfig& qp = contexts_.qps[qpn];
    const unsigned of_port = engines_.of(qpn) * acks_in.count() + port_of(qp);
    return active_[of_port * packetizer_.lanes() + lane_of(qp)];
  }
  // Whose packet buffers it takes: by its SL.
  u8 lane_of(const proto::QpConfig& qp) const {
    return has_lanes_ ? u8(lane_of_sl_[qp.service_level]) : u8(0);
  }
  [[gnu::always_inline]] bool cut(u32 qpn, Lane& lane);
  bool is_acknowledged(u32 qpn, u32 index);
  bool begin(u32 qpn, Lane& lane, const Turn& turn);
  proto::WcStatus check_wqe(const proto::QpConfig& qp, Lane& lane, const u8* wqe, u32 index,
                            u64& bytes);
  bool take_address(const proto::QpConfig& qp, const u8* handle);
  void change_wait(Lane& lane, proto::SendWait wait);
  void end_rnr(Lane& lane);
  bool waits_for_probe(u32 qpn, const Lane& lane) const;
  struct CutPacket {
    proto::PsnRange psns{};
    bool ack_requested = false, last = false;
  };
  [[gnu::noinline]] void build(Packet& packet, u32 qpn, Lane& lane, CutPacket& cut);
  void repeat_lone(Packet& packet, const Lane& lane, CutPacket& cut);
  [[gnu::always_inline]] void send_packet(u32 qpn, Lane& lane);
  void finish_wqe(u32 qpn, Lane& lane);
  // requester_pace.cpp: rate limits
  void pace(u32 qpn, Lane& lane, const Packet& packet);
  bool waits_for_pace(u32 qpn, Lane& lane);
  void resume_paced();
  // requester_local.cpp: work requests without packets
  void start_local(u32 qpn, Lane& lane, const u8* wqe, u32 index);
  void fail_refused(u32 qpn, Lane& lane);
  void release(Turn* turn);
  // The lane waits for its turn, if it can send.
  void activate(u32 qpn, Lane& lane);
  void list(u32 qpn, Lane& lane);  // the same, inside of requester.cpp
  void list_by_class(u32 qpn, Lane& lane);
  // requester_reads.cpp: READ and ATOMIC
  void keep_buffers(u32 index, Lane& lane);
  const proto::SentMessage* awaited(u32 qpn);
  void take_response(const Acknowledgement& a, const proto::QpConfig& qp);
  bool may_place(const AwaitedWork& work, const proto::QpConfig& qp, u32 bytes);
  void begin_placing(Packet* p, AwaitedWork& work, const u8* from, u32 bytes, bool completes);
  void end_placing();
  bool place();
  void take_placed();
  void mark_placed(u32 qpn, u32 index);
  // requester_psns.cpp: where another implementation stands in for requester_psn
  PsnAnswer step_by(u32 qpn, proto::SendPsns& psns, const PsnRequest& request);
  void begin_by(u32 qpn, const proto::SendPsns& before, proto::SentMessage& message);
  bool send_by(u32 qpn, const proto::SentMessage& message, u32 index);
  void answered_by(u32 qpn, const proto::SendPsns& before, const proto::AckVerdict& verdict);
  // requester_responses.cpp: what comes back
  void acknowledge();
  void take_sent();
  void act(u32 qpn, const proto::AckVerdict& verdict);
  void expire();
  void go_back(u32 qpn, u32 psn, NoteKind kind);
  void drop_turns(u32 qpn, Lane& lane);
  void fail(u32 qpn, u32 index, proto::WcStatus status);
  void fail_unread(u32 qpn);
  void complete();
  bool complete_one(u32 qpn, Lane& lane);
  void push_drained(u32 qpn);
  void push_completion(u32 qpn, u32 index, proto::WcStatus status,
                       const proto::SentMessage* message);
  void flush();
  void push_error(u32 qpn) { errors_.push(qpn), pending_ |= kOwn; }
  void enter_errors();
  void push_outboxes() {
    if (!notes_.empty()) push_note();
    if (for_command_) [[unlikely]]
      push_to_command();
  }
  void push_note();
  void push_to_command();
  void queue_completion(u32 qpn, Lane& lane);
  void restart_timer(u32 qpn);
  void set_timer(u32 qpn, Cycle at);
  Cycle timeout_of(u32 qpn) const;

  // Side by side what each packet needs.
  alignas(64) engine::Stage stage_;
  QpContext& context_;
  const device::Contexts& contexts_;
  const device::SendStates send_;
  const device::SentMessages sent_;
  const device::PortCounts counts_;
  Protection& protection_;
  Packetizer& packetizer_;
  Accesses& accesses_;
  Cycle next_packet_ = 0;
  ByQp<Lane> lanes_;
  // Of the lanes of the ports of the first engine, the second, ...
  std::vector<ReadyQueues> active_;
  u32 pending_ = 0;               // bits of the constants below
  u32 for_command_ = 0;           // faults_ and works_
  u32 gathering_ = 0;             // the queue pair whose packet the packetizer gathers
  bool gathers_last_ = false;     // and whether it is the last of its message
  bool gathers_nothing_ = false;  // it was reset meanwhile
  const bool has_lanes_;          // with packet buffers of their own
  const bool has_places_;         // active_ has several on one port
  const RequesterConfig config_;
  Ring<SchedulerNote> notes_;
  PacketPool pool_;
  Timers timers_, paced_;

  Engines engines_;
  const u64 clock_hz_;
  // What it may have to do beside sending: turns or answers in its links, or what it keeps itself.
  static constexpr u32 kTurns = 1, kAnswers = 2, kOwn = 4;
  bool has_paced_ = false;   // a queue pair has waited for its pace
  bool waits_sent_ = false;  // a packet was told to say when it is on the wire
  // Of a datagram, which is cut in the cycle in which its WQE is checked: where it goes.
  struct Datagram {
    proto::AddressHandle address{};
    proto::Path path{};
  };
  Datagram datagram_;
  const std::array<u32, 16> lane_of_sl_;
  unsigned turn_ = 0;  // which of active_ may send first
  Ring<u32> completing_, errors_;
  Ring<Turn*> flushing_;
  Ring<Fault> faults_;
  Ring<device::LocalWork> works_;
  struct Placing {
    Packet* packet = nullptr;
    const u8* from = nullptr;
    u32 left = 0;
    bool completes = false;
    std::vector<proto::Run> runs;  // where they go, as of when they were judged
    u32 run = 0;                   // the next of them
    Accesses::Era era = 0;         // until all of them are asked for
  } placing_;                      // the response whose data are being written
  u32 clears_ = 0;
};
}  // namespace hca::blocks
