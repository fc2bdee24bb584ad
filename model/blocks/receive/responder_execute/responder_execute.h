// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/standstill.h"
#include "model/blocks/receive/responder_execute/answer_order.h"
#include "model/blocks/receive/responder_execute/judged_requests.h"
#include "model/blocks/receive/responder_execute/request_execution.h"

namespace hca::blocks {
// Executes judged requests in their order: payload to host memory, receive WQEs, READs and ATOMICs,
// then answer and completion when the last byte is ordered before them. A SEND without a receive
// WQE at hand waits for it and holds up its queue pair, but no other. READs of several queue pairs
// are interleaved packet by packet. ATOMICs are indivisible: the device reads and writes under a
// lock, which all addresses with the same `atomic_lock_bits` low bits share, or the host executes
// them. Ports take turns wherever they meet, and an item that waits for one port holds up no other
// port; with `lane_responses`, neither does a READ whose lane has no response buffer.
//
// Contract: a request seen in cycle n requests its first DMA write in n + look-up + latency and one
// more piece a cycle; one request each `interval` cycles. Its answer leaves one cycle after the
// last write is ordered. With engines, each engine takes a request of its queue pairs every
// `engine_interval` cycles at most; others wait before their engine, and the first request without
// a place there holds up all after it. A READ that becomes the first of its queue pair in cycle n
// requests its first response packet in n + 1 and one more a cycle.
//
// All parts form one block of the engine; this class takes requests and calls each part in its
// turn. Requests as they come (JudgedRequests) or were parked (ParkedRequests) are carried out
// (RequestExecution) with receive WQEs (ReceiveWqes), writes of payload (PayloadWrites) and the
// rules of messages without answers (UnreliableMessages). Each leaves an outcome (Outcomes).
// Outcomes leave in their order (AnswerOrder); READs and ATOMICs begin among them (ReadResponses,
// AtomicUnits) and make response packets (ResponsePackets). CreditUpdates and ReceiveFlush do the
// remaining work.
class ResponderExecute : public engine::Block {
 public:
  ResponderExecute(const ResponderExecuteConfig& config, const PerPort<TxRelease>& timing,
                   device::Contexts& contexts, Protection& protection, Accesses& accesses,
                   const std::array<u32, 16>& lane_of_sl = {}, Payload payload = Payload::Carried);

  PortLinks<PacketLink> packets_in{16};
  PortLinks<ReceiveBellLink> bells_in{8};
  ReceiveBatchLink batches_in{64};
  ReceiveBatchLink* batches_out = &batches_in;  // written by dma: this link, or the one before it
  OrderedLink ordered_in{64};                   // written by dma
  ResponderPorts ports;
  ResponderOutputs outputs;
  ByQp<Delayed> reads_finished;  // READs and ATOMICs whose responses have all left
  engine::Probe probe;
  ResponderExecuteCounters counters;

  void tick();
  DmaCallbacks payload_client() { return payload_.client(); }
  DmaCallbacks receive_wqe_client() { return receive_wqes_.client(); }
  DmaCallbacks read_client() { return reads_.client(); }
  DmaCallbacks atomic_client() { return atomics_.client(); }
  void connect_atomics(engine::Waker writer) { atomics_.connect(writer); }
  // Called by `command`, between cycles.
  void enter_error(u32 qpn);
  void clear(u32 qpn);
  // An EE context, by its number as requester, entered Error.
  void end_context(u32 ee, proto::WcStatus status);
  void invalidated(u32 qpn, u32 life) { answers_.invalidated(qpn, life); }
  void end_invalidate(u32 qpn, u32 life) { answers_.end_invalidate(qpn, life); }
  ResponderHold hold(u32 qpn) const;
  const Engines& engines() const { return requests_.engines(); }

 private:
  void take_news();
  void ring(const ReceiveBell& bell);
  void take_batch(ReceiveBatch* batch);
  [[gnu::always_inline]] void take();
  bool unpark();
  bool has_to_wait(Packet* p, u32 qpn, ResponderQueue& q);
  void serve_ports();
  void serve_several();

  const ResponderExecuteConfig config_;
  const device::Contexts& contexts_;
  ByQp<ResponderQueue> queues_;  // in place: a scatter list may be in use
  const ResponderPart shared_;

  // The members that each request needs, side by side.
  alignas(64) Cycle next_packet_ = 0;
  u32 pending_ = 0;  // not 0: bells_in, batches_in or ordered_in may have items
  unsigned settle_turn_ = 0, read_turn_ = 0;  // the port that is served first
  ExecuteStage stage_;
  JudgedRequests requests_;
  ParkedRequests parked_;
  PayloadWrites payload_;
  CreditUpdates credits_;
  Outcomes outcomes_;
  ReceiveWqes receive_wqes_;
  ReceiveFlush flush_;
  UnreliableMessages unreliable_;
  RdRequests rd_;
  RequestExecution execution_;
  ResponsePackets responses_;
  ReadResponses reads_;
  AtomicUnits atomics_;
  AnswerOrder answers_;
};
}  // namespace hca::blocks
