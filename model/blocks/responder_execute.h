// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/by_qp.h"
#include "model/blocks/dma.h"
#include "model/blocks/items.h"
#include "model/blocks/protection.h"
#include "model/blocks/qp_context.h"
#include "model/blocks/ring.h"
#include "model/blocks/stage_config.h"

namespace hca::blocks {
struct ResponderExecuteConfig {
  Cycle latency = 3, interval = 1;
  u32 parking = 64;  // packets that wait for receive WQEs
  u32 batch = 8;     // receive WQEs read at once
};
struct ResponderExecuteCounters {
  u64 writes = 0, sends = 0, receive_fetches = 0, parked = 0, failed = 0;
};

// A run of receive WQEs as they stand in host memory.
struct ReceiveBatch {
  ReceiveBatch* next = nullptr;
  Pool<ReceiveBatch>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0;
  u32 life = 0;  // of the queue pair that asked for it
  alignas(64) std::array<u8, 1024> wqes{};
};

// Executes judged requests in their order: payload to host memory, receive WQEs, then answer and
// completion when the last byte is ordered before them. A SEND that has no receive WQE at hand
// waits for it, and with it its queue pair, no other.
//
// Contract: a request seen in cycle n asks for its first DMA write in n + look-up + latency and for
// one more piece a cycle; one request each `interval` cycles. Its answer leaves one cycle after the
// last write is ordered.
class ResponderExecute : public engine::Block {
 public:
  struct Ports {
    DmaLink *payload_out = nullptr, *receive_wqes_out = nullptr;
    ReplyLink* replies_out = nullptr;
    CompletedLink* completions_out = nullptr;
    FaultLink* faults_out = nullptr;
  };
  using BatchLink = engine::Link<ReceiveBatch*, 64>;
  using OrderedLink = engine::Link<u32, 64>;

  ResponderExecute(const ResponderExecuteConfig& config, const Contexts& contexts,
                   Protection& protection)
      : config_(config),
        contexts_(contexts),
        protection_(protection),
        stage_(config.latency, config.interval) {}

  PacketLink packets_in{16};
  ReceiveBellLink bells_in{8};
  BatchLink batches_in{64};    // written by dma
  OrderedLink ordered_in{64};  // written by dma: a payload is ordered
  Ports ports;
  ResponderExecuteCounters counters;
  engine::Probe probe;
  engine::Waker dma;

  void tick();
  Dma::Client payload_client();
  Dma::Client receive_wqe_client();
  // By `command`, between cycles.
  void enter_error(u32 qpn);
  void clear(u32 qpn);

 private:
  // The scatter list of the receive WQE in use.
  struct Scatter {
    const u8* sges = nullptr;
    u32 count = 0, index = 0, offset = 0;
  };
  struct Queue {
    ReceiveBatch *current = nullptr, *following = nullptr;
    Packet *parked_head = nullptr, *parked_tail = nullptr;
    bool fetching = false, unparking = false, failed = false, flushing = false;
    bool wqe_open = false;
    u32 life = 0;
    u32 posted = 0, next_wqe = 0;  // next_wqe: the next that a message will take
    Scatter scatter;
    u32 placed = 0;  // bytes of the SEND in progress
  };
  // What remains to be done for a request when its data are ordered and its last beat is known
  // good.
  struct Pending {
    u32 qpn = 0;
    bool waits = false, replies = false, completes = false, fails = false;
    Cycle not_before = 0;
    Reply reply{};
    Completed completed{};
    Fault fault{};
  };

  // responder_execute.cpp
  void take();
  void process(Packet* p);
  void execute_write(Packet* p, Queue& q);
  bool execute_send(Packet* p, Queue& q);
  void refuse(Packet* p, proto::NakCode nak, proto::WcStatus status, proto::EventType event);
  proto::WcStatus judge_scatter(u32 qpn, const Queue& q, u32 bytes);
  void begin_pieces(Packet* p, Scatter* scatter, u64 address);
  bool next_piece();
  void finish(Packet* p, bool has_payload);
  void settle();
  Pending& retire(const Packet& p);
  Cycle enter(Packet* p, u32 key);
  // responder_receive_queue.cpp
  const u8* receive_wqe(u32 qpn, Queue& q, u32 index);
  void ask_batch(u32 qpn);
  void fetch_batches();
  void accept_batch(ReceiveBatch* batch);
  void park(Packet* p, Queue& q);
  bool unpark();
  void ring(const ReceiveBell& bell);
  void flush();
  void drop_batches(Queue& q);

  const ResponderExecuteConfig config_;
  const Contexts& contexts_;
  Protection& protection_;
  engine::Stage stage_;
  ByQp<Queue> queues_;  // in place: a scatter list may be in use
  Pool<ReceiveBatch> batches_;
  Ring<Pending> pending_;
  Ring<u32> fetches_, unparks_, flushes_;
  u32 parked_ = 0;
  u32 ordered_ = 0;  // payloads ordered, not yet used by settle()
  Cycle next_packet_ = 0, last_ask_ = 0;
  // The packet whose pieces are being written.
  Packet* placing_ = nullptr;
  Scatter* scatter_ = nullptr;
  u64 address_ = 0;
  u32 left_ = 0, done_ = 0;
  Cycle enters_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponderExecuteConfig> {
  using C = hca::blocks::ResponderExecuteConfig;
  static constexpr std::string_view block = "responder_execute";
  static constexpr std::string_view sentence = "receive WQEs, writes to host memory";
  static constexpr auto rows = std::tuple_cat(
      hca::blocks::stage_rows<C>("from a request to its first DMA write", "between two requests"),
      std::make_tuple(
          knob("parking", &C::parking, Unit::Count, 1, 4096, "packets that wait for receive WQEs"),
          knob("batch", &C::batch, Unit::Count, 1, 16, "receive WQEs read at once")));
};
template <>
struct hca::engine::Counters<hca::blocks::ResponderExecuteCounters> {
  using C = hca::blocks::ResponderExecuteCounters;
  static constexpr std::string_view block = "responder_execute";
  static constexpr auto rows = std::make_tuple(
      counter("writes", &C::writes, "packets", "RDMA WRITE packets executed"),
      counter("sends", &C::sends, "packets", "SEND packets executed"),
      counter("receive_fetches", &C::receive_fetches, "reads", "batches of receive WQEs read"),
      counter("parked", &C::parked, "packets", "packets that waited for a receive WQE"),
      counter("failed", &C::failed, "packets", "requests refused while they were executed"));
};
