// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/delayed.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/lib/standstill.h"
#include "model/blocks/memory/dma.h"
#include "model/blocks/memory/protection.h"
#include "model/blocks/memory/qp_context.h"
#include "model/blocks/port/tx_start.h"
#include "model/blocks/receive/responder_execute/responder_execute_config.h"
#include "model/device/port_counts.h"
#include "model/device/writers.h"
#include "model/engine/budget.h"
#include "model/proto/transport/reply_rules.h"
#include "model/proto/transport/work_rules.h"
#include "model/proto/wire/network_crcs.h"

namespace hca::blocks {
// A run of receive WQEs as they stand in host memory.
struct ReceiveBatch {
  ReceiveBatch* next = nullptr;
  Pool<ReceiveBatch>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0;
  u32 life = 0;             // of the queue pair that asked for it
  bool unreadable = false;  // memory answered with an error
  alignas(64) std::array<u8, 1024> wqes{};
};

// What remains of a request when it is executed: its answer, completion or failure, in the order of
// its queue pair (G4.4). Read: it begins when it is the first of them, a new one also after a READ
// whose packets are all asked for. Atomic: ATOMIC, ATOMIC WRITE and FLUSH, which begin when they are
// the first.
enum class OutcomeKind : u8 { Plain, Read, Atomic };
// A region as it was when an access was judged.
struct HeldRegion {
  HeldRegion* next = nullptr;
  Pool<HeldRegion>* home = nullptr;
  proto::Region region{};
};
struct Outcome {
  Outcome* next = nullptr;
  Pool<Outcome>* home = nullptr;
  OutcomeKind kind{};
  bool waits = false;        // for its data to be ordered
  bool invalidates = false;  // `command` has been told, and reports when accesses have drained
  bool replies = false, completes = false, fails = false;
  bool started = false, repeats = false, key_good = false;  // READ, ATOMIC
  Cycle not_before = 0;                                     // its last beat is known good
  Reply reply{};
  Completed completed{};
  Fault fault{};
  bool congested = false;
  u32 consumed = 0;  // receive WQEs taken up to this request
  // READ, ATOMIC
  proto::RequestEffect effect{};
  u64 address = 0;
  HeldRegion* pages = nullptr;  // its key's region, if that has a page list
  bool granted = false;         // its memory is accessed until it is over
  u32 asked = 0, answered = 0;  // response packets
  const proto::OpcodeRow* opcode = nullptr;
  proto::AtomicEth operands{};
};

// Executes judged requests in their order: payload to host memory, receive WQEs, READs and ATOMICs,
// then answer and completion when the last byte is ordered before them. A SEND that has no receive
// WQE at hand waits for it, and with it its queue pair, no other. The READs of several queue pairs
// share the way packet by packet. ATOMICs are indivisible: the device reads and writes under a
// lock, of which addresses that agree in `atomic_lock_bits` low bits have one, or the host executes
// them. Ports take turns wherever they meet, and what waits for one port holds up no other; nor
// does, with `lane_responses`, a READ whose lane has no response buffer.
//
// Contract: a request seen in cycle n asks for its first DMA write in n + look-up + latency and for
// one more piece a cycle; one request each `interval` cycles. Its answer leaves one cycle after the
// last write is ordered. With engines, each takes a request of its queue pairs every
// `engine_interval` cycles at most; others wait in front of theirs, and the first for which there
// is no place holds up all behind it. A READ that is the first of its queue pair in cycle n asks
// for its first response packet in n + 1 and for one more a cycle.
class ResponderExecute : public engine::Block {
 public:
  struct Ports {
    DmaLink *payload_out = nullptr, *receive_wqes_out = nullptr, *reads_out = nullptr;
    DmaLink* atomics_out = nullptr;
    CompletedLink* completions_out = nullptr;
    FaultLink* faults_out = nullptr;
  };
  // A response packet's data that are in another page.
  struct Rest {
    Packet* packet = nullptr;
    proto::Run run{};
    u32 offset = 0;
  };
  static constexpr u32 kRest = ~u32{0};  // among queue pairs
  // What each port has for itself.
  struct Side {
    Side(const ResponderExecuteConfig& config, const TxRelease& timing_of_port)
        : by_lane(config.lane_responses), responses(config.responses), timing(timing_of_port) {
      for (unsigned i = 0; config.lane_responses && i < kLanes; ++i)
        of_lanes.emplace_back(config.lane_responses);
    }
    Ring<u32> settling;  // queue pairs whose first outcome may be due
    Ring<u32> reads;     // queue pairs whose first outcome is one; kRest: there was a rest
    Ring<u32> tells;     // queue pairs whose peer may not know of their credits
    ReplyLink* replies_out = nullptr;
    const bool by_lane;                   // not `responses` counts, but of_lanes
    PacketLink responses_in;              // written by dma: a response packet has its data
    engine::Budget responses;             // given back by the port
    std::deque<engine::Budget> of_lanes;  // instead, by virtual lane or priority
    TxRelease timing;
    Rest rest;
    Cycle last_response = 0;
    Cycle next_read = 0;     // another READ may begin
    Cycle read_counted = 0;  // of waits for that, up to here
  };
  using BatchLink = engine::Link<ReceiveBatch*, 64>;
  struct Ordered {
    u32 qpn = 0, life = 0;
  };
  using OrderedLink = engine::Link<Ordered, 64>;

  ResponderExecute(const ResponderExecuteConfig& config, const PerPort<TxRelease>& timing,
                   device::Contexts& contexts, Protection& protection, Accesses& accesses,
                   const std::array<u32, 16>& lane_of_sl = {})
      : sides{Side(config, timing[0]), Side(config, timing[1])},
        stage_(config.latency, config.interval),
        contexts_(contexts),
        receive_(contexts),
        counts_(contexts),
        protection_(protection),
        accesses_(accesses),
        config_(config),
        engines_(config.engines, config.engine_interval, config.assignment),
        lane_of_sl_(lane_of_sl),
        for_engine_(config.engines),
        atomic_units_(config.atomics) {
    bells_in.mark(pending_, 1), batches_in.mark(pending_, 1), ordered_in.mark(pending_, 1);
  }

  PortLinks<PacketLink> packets_in{16};
  PortLinks<ReceiveBellLink> bells_in{8};
  BatchLink batches_in{64};
  BatchLink* batches_out = &batches_in;  // written by dma: this, or what leads there
  OrderedLink ordered_in{64};            // written by dma: a payload of this queue pair is ordered
  // What executes an ATOMIC, one at a time.
  enum class AtomicStep : u8 { Read, Written };
  struct AtomicUnit {
    engine::Link<AtomicStep, 2> steps_in;  // written by dma: the value is here, a new one ordered
    bool busy = false;
    u32 qpn = 0, life = 0;
    u64 address = 0;
    Accesses::Era era = 0;
    Cycle takes = 0;  // from its value to the write
    Cycle since = 0;
    const proto::OpcodeRow* opcode = nullptr;
    proto::AtomicEth operands{};
    std::array<u8, proto::kAtomicBytes> original{}, changed{};
    const u8* change();
  };
  // The value of an ATOMIC WRITE until it is in memory; its unit may have the next one by then.
  struct AtomicValue {
    AtomicValue* next = nullptr;
    Pool<AtomicValue>* home = nullptr;
    AtomicUnit* unit = nullptr;
    std::array<u8, proto::kAtomicBytes> bytes{};
  };
  PerPort<Side> sides;
  ByQp<Delayed> reads_finished;  // READs and ATOMICs whose responses have all left
  Ports ports;
  engine::Probe probe;
  ResponderExecuteCounters counters;
  engine::Waker dma;

  void tick();
  Dma::Client payload_client();
  Dma::Client receive_wqe_client();
  Dma::Client read_client();
  Dma::Client atomic_client();
  void connect_atomics(engine::Waker writer);
  // By `command`, between cycles.
  void enter_error(u32 qpn);
  void clear(u32 qpn);
  // By `command`: a key that a SEND with Invalidate named is taken away; its accesses have drained.
  void invalidated(u32 qpn, u32 life);
  void end_invalidate(u32 qpn, u32 life);
  ResponderHold hold(u32 qpn) const;
  const Engines& engines() const { return engines_; }

 private:
  // The scatter list of the receive WQE in use.
  struct Scatter {
    const u8* sges = nullptr;
    u32 count = 0, index = 0, offset = 0;
  };
  struct alignas(64) Queue {
    ReceiveBatch *current = nullptr, *following = nullptr;
    Packet *parked_head = nullptr, *parked_tail = nullptr;
    Cycle wqe_since = kNever;  // the first of them waits for its receive WQE
    bool fetching = false, unparking = false, failed = false, flushing = false;
    bool wqe_open = false;
    bool listed = false;  // in settling of its side
    bool tells = false;   // in tells of its side
    bool congested = false;
    u32 life = 0;
    u32 taken = 0;                 // WQEs of an SRQ, of requests that came here
    u32 atomics = 0;               // new ones that are not done
    u32 invalidates = 0;           // SENDs with Invalidate whose key is not taken away
    u32 posted = 0, next_wqe = 0;  // next_wqe: the next that a message will take
    u32 open_wqe = 0;              // if wqe_open: of the message in progress
    bool abandoned = false;        // UC: until a packet begins a message
    Scatter scatter;
    u32 placed = 0;  // bytes of the SEND in progress
    Outcome *first = nullptr, *last = nullptr;
    Outcome* reading = nullptr;  // the READ that began last
    u32 ordered = 0;             // payloads ordered, not yet used by settle()
    proto::SavedRequests saved;
    proto::ToldCredits told;
  };

  device::Connection connection_of(u32 qpn) const { return contexts_.connection_of(qpn); }
  // responder_execute.cpp: requests
  void serve_ports();
  void serve_several();
  void take_news();
  [[gnu::always_inline]] void take();
  Packet* next_request();
  void hold_request(bool full);
  // responder_engines.cpp: requests and the engines of their queue pairs
  void lead_to_engine();
  Packet* next_of_engines();
  bool engines_have_work() const;
  void process(Packet* p, Queue& q);
  [[gnu::always_inline]] void carry_out(Packet* p, Queue& q);
  void drop_behind_failure(Packet* p, const Queue& q);
  // responder_unreliable.cpp: requests that nobody answers
  bool goes_on(Packet* p, Queue& q);
  void begin_unreliable(const Packet& p, Queue& q);
  void complete_unreliable(const Packet& p, const Queue& q, proto::Cqe& cqe);
  static bool lacks_wqe(const Packet& p, const Queue& q);
  void abandon(Packet* p, Queue& q);
  // WQEs of an SRQ are counted by responder_check.
  bool counts_itself(const Packet& p) const {
    return p.effect.unreliable && !p.receive_queue.is_shared();
  }
  // responder_shared.cpp: WQEs of an SRQ
  void lose(const Packet& p, const Queue& q);
  void end_shared(const Packet& p, Queue& q, proto::WcStatus status);
  void end_broken(Packet* p, Queue& q);
  void end_message(const Packet& p);
  bool flush_lost();
  bool tell_last(u32 qpn);
  void answer_refusal(Packet* p, Queue& q);
  void execute_write(Packet* p, Queue& q);
  bool execute_send(Packet* p, Queue& q);
  void execute_read(Packet* p);
  // responder_places.cpp: where payload goes
  static Fault fault_of(const Packet& p, bool raise, proto::EventType event);
  void refuse(Packet* p, const proto::RequestVerdict& verdict);
  proto::WcStatus judge_scatter(u32 qpn, const Queue& q, u32 bytes);
  void begin_scattered(Packet* p, Scatter& scatter);
  void begin_paged(Packet* p, const proto::Region& region);
  // responder_execute.cpp: piece by piece
  void begin_pieces(Packet* p);
  void end_pieces();
  bool next_piece();
  [[gnu::always_inline]] void finish(Packet* p, bool has_payload);
  void complete(const Packet& p, const Queue& q, Outcome& outcome);
  [[gnu::always_inline]] Cycle enter(Packet* p, u32 key);
  // responder_answers.cpp: outcomes in the order of their queue pairs
  void answer_or_complete(const Packet& p, bool has_payload);
  Outcome& retire(const Packet& p);
  void list(u32 qpn, Queue& q);
  bool settle(Side& side);
  void examine_key(u32 qpn, Queue& q, Outcome& outcome);
  bool emit(const Outcome& outcome);
  void tell_invalidate(u32 qpn, Outcome& outcome);
  void end_access(Outcome& outcome);
  void offer_credits(u32 qpn, Queue& q);
  void tell_credits(Ring<u32>& tells);
  void end_stopped(u32 qpn, Queue& q);
  void drop_first(u32 qpn, Queue& q);
  void forget_outcomes(Queue& q);
  // responder_reads.cpp: READ, and the beginning of both
  static Outcome* next_to_begin(const Queue& q);
  void begin(u32 qpn, Queue& q, Outcome& outcome);
  engine::Budget& responses_of(Side& side, u32 qpn);
  bool has_response(Side& side);
  bool ask_response(Side& side);
  void wait_for_interval(Side& side);
  void ask_pages(Side& side, const Outcome& outcome, const proto::ReadResponsePlan& plan,
                 Packet* p);
  void ask_rest(Rest& rest);
  void response_arrived(Packet* p, Cycle first, Cycle last);
  void forward_response(Side& side);
  Side& side_of(u32 qpn) {
    if (packets_in.count() == 1) [[likely]]
      return sides[0];
    return sides[port_of(contexts_.qps[qpn])];
  }
  // responder_atomics.cpp
  bool may_reply(u32 qpn);
  AtomicUnit* unit_for(const Outcome& o, bool& is_locked);
  void start_atomics();
  void start_atomic(AtomicUnit& unit, u32 qpn, const Queue& q);
  void start_atomic_write(AtomicUnit& unit, const Outcome& outcome, DmaRequest& request);
  static AtomicUnit& unit_of(const DmaRequest& request);
  void finish_atomics();
  void finish_atomic(AtomicUnit& unit);
  void repeat_atomic(u32 qpn, Queue& q);
  void count_not_saved(const proto::QpConfig& qp);
  void finish_first(u32 qpn, Queue& q);
  Packet* make_response(const proto::QpConfig& qp, const Outcome& outcome,
                        const proto::OpcodeRow& row, u32 psn, u32 bytes, u64 original);
  void save_and_reply(u32 qpn, Queue& q, u64 original);
  void reply_atomic(u32 qpn, Queue& q, u64 original);
  // responder_receive_queue.cpp
  const u8* receive_wqe(u32 qpn, Queue& q, u32 index);
  static u32 next_batch(const Queue& q);
  void ask_batch(u32 qpn);
  void fetch_batches();
  void accept_batch(ReceiveBatch* batch);
  static bool waits_for_earlier(const Packet& p, const Queue& q);
  void park(Packet* p, Queue& q);
  void unpark_later(u32 qpn, Queue& q);
  bool unpark();
  void end_wqe_wait(u32 qpn, Queue& q);
  void ring(const ReceiveBell& bell);
  void flush();
  void drop_batches(Queue& q);

  // The first that waits, for what, and since when: an ATOMIC, a request.
  struct Held {
    u64 ResponderExecuteCounters::*what = nullptr;
    Cycle since = 0;
  };
  void hold(Held& held, u64 ResponderExecuteCounters::*what);
  struct Lost {
    u32 qpn = 0, life = 0, cqn = 0, wqe = 0;
  };

  // Side by side what each request needs.
  alignas(64) engine::Stage stage_;
  const device::Contexts& contexts_;
  const device::ReceiveStates receive_;  // of what has ended: in Error, without answers, of an SRQ
  const device::PortCounts counts_;
  Protection& protection_;
  Accesses& accesses_;
  ByQp<Queue> queues_;  // in place: a scatter list may be in use
  Cycle next_packet_ = 0, last_ask_ = 0, enters_ = 0;
  // The packet whose pieces are being written: to address_, or to runs_.
  Packet* placing_ = nullptr;
  u64 address_ = 0;
  u32 left_ = 0, done_ = 0;
  u32 pending_ = 0;    // not 0: there may be something in bells_in, batches_in or ordered_in
  bool plain_ = true;  // to address_: there is no scatter list, and no page list
  u32 parked_ = 0, in_flight_ = 0;
  u32 atomic_marks_ = 0;  // ATOMIC units with a step, seen or not
  Held request_held_;
  const ResponderExecuteConfig config_;
  Engines engines_;
  Ring<u32> fetches_, unparks_, flushes_;
  Ring<u32> atomics_;  // queue pairs whose first outcome is one
  Ring<Lost> lost_;    // WQEs of SRQs that were taken for requests which nobody executes

  const std::array<u32, 16> lane_of_sl_;
  Pool<ReceiveBatch> batches_;
  Pool<Outcome> outcomes_;
  Pool<HeldRegion> held_regions_;
  Pool<AtomicValue> atomic_values_;
  std::vector<proto::Run> runs_;  // of the packet in placing_, where they were when it was judged
  u32 run_ = 0;                   // the next of them
  bool holds_ = false;            // not all of them are asked for, since placing_era_
  Accesses::Era placing_era_ = 0;
  PacketPool pool_;                  // of responses
  proto::NetworkCrcs network_crcs_;  // of theirs
  u32 fetching_ = 0;                 // batches that have room in batches_in and are not here yet
  unsigned settle_turn_ = 0, read_turn_ = 0;  // the port that is asked first
  std::vector<Ring<Packet*>> for_engine_;     // requests that wait for theirs
  unsigned engine_turn_ = 0;                  // which may take one first
  // A value is read when the one written before under its lock is in memory (G30.3), so that one
  // buffer each will do.
  std::deque<AtomicUnit> atomic_units_;  // in place: links
  Held atomic_held_;
};
}  // namespace hca::blocks
