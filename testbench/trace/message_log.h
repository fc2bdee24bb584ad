// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <deque>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/engine/probe.h"
#include "model/proto/wire/packet.h"
#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// The stations of a message from the doorbell to the completion that the program takes.
enum class Station : u8 {
  Rung,
  AtBar,
  Doorbell,
  Scheduler,
  WqeFetch,
  Requester,
  Packetizer,
  Inserted,
  Transmit,
  Wire,
  Receive,
  Checked,
  ResponderCheck,
  Execute,
  Data,
  Reply,
  AnswerInserted,
  AnswerTransmit,
  AnswerWire,
  AnswerReceive,
  AnswerChecked,
  ResponseCheck,
  Completed,
  Completion,
  CqeWritten,
  Unlocked,
  Taken,
  kCount,
};
inline constexpr std::size_t kStations = std::size_t(Station::kCount);
// The step of a message's time that ends at each station.
extern const std::array<std::string_view, kStations> kStationNames;

// When a message passed each station: the times of its last packet, and of the answer that
// completed it (for a READ or ATOMIC the last response).
struct MessageTimes {
  static constexpr u64 kNever = ~u64{0};
  u32 qpn = 0, index = 0;  // of its WQE
  Operation operation{};
  u32 entry = 0;  // of the workload
  unsigned chip = 0;
  u64 bytes = 0;
  std::array<u64, kStations> at;  // ps

  MessageTimes() { at.fill(kNever); }
  u64 start() const { return at[std::size_t(Station::Rung)]; }
  u64 whole() const { return at[std::size_t(Station::Taken)] - start(); }
  // The stations that it passed before its completion was taken, in the order of time: (station,
  // ps).
  struct Passed {
    Station station;
    u64 ps;
  };
  class Way {
   public:
    // Behind those of the same time or an earlier one.
    void insert(Station station, u64 ps) {
      std::size_t place = count_++;
      for (; place && passed_[place - 1].ps > ps; --place) passed_[place] = passed_[place - 1];
      passed_[place] = {station, ps};
    }
    const Passed* begin() const { return passed_.data(); }
    const Passed* end() const { return passed_.data() + count_; }

   private:
    std::array<Passed, kStations> passed_;  // the first count_ are set
    std::size_t count_ = 0;
  };
  Way way() const;
};

// Follows each message of a run by probes, host and wires, and passes it on when its completion is
// taken. It only observes. A message whose service has no answer ends with its departing frame.
class MessageLog {
 public:
  using Sink = std::function<void(const MessageTimes&)>;
  // Called for each frame with a good packet that leaves a wire.
  using Frames = std::function<void(unsigned receiver, u64 picoseconds, const proto::FrameView&,
                                    const proto::ParsedPacket&)>;
  MessageLog(Testbed& testbed, Sink sink, Frames frames = {});
  ~MessageLog();
  MessageLog(const MessageLog&) = delete;

 private:
  struct Open : MessageTimes {
    bool sent = false;
    u32 first_psn = 0, last_psn = 0;
  };
  struct Answer {
    static constexpr std::size_t kFirst = std::size_t(Station::Reply);
    static constexpr std::size_t kCount = std::size_t(Station::ResponseCheck) + 1 - kFirst;
    u32 psn = 0;
    std::array<u64, kCount> times{};
    Answer() = default;
    explicit Answer(u32 number) : psn(number) { times.fill(MessageTimes::kNever); }
    u64& at(Station station) { return times[std::size_t(station) - kFirst]; }
  };
  struct Chip;
  struct Queue;
  // What is known by QPN: what the queue pair sends, and the other end, nullptr until it is
  // connected.
  struct QueuePair {
    Queue* queue = nullptr;
    Chip* peer = nullptr;
    u32 peer_qpn = 0;
  };
  // A queue pair of a client.
  struct Queue {
    u32 posted = 0;  // producer index of the last doorbell
    u32 cqn = 0;
    blocks::Ring<Open> open;
    blocks::Ring<Answer> answers;  // for open messages, in order of creation
  };
  struct BlockOfPort {
    const struct BlockRow* row = nullptr;  // nullptr: its events do not concern messages
    unsigned port = 0;
  };
  struct Chip : engine::ProbeSink, HostMeter {
    MessageLog* log = nullptr;
    unsigned number = 0;
    u64 period = 0;
    std::vector<BlockOfPort> rows;  // by block of the hub and kind of event
    std::vector<u64> arrived;       // by port: the last packet that arrived, ps
    std::deque<Queue> queues;
    std::vector<QueuePair> qps;  // by QPN
    // By CQN: QPN and WQE index of the completions on their way to memory.
    std::deque<blocks::Ring<std::pair<u32, u32>>> to_write;
    QueuePair& qp(u32 qpn);
    blocks::Ring<std::pair<u32, u32>>& of_cq(u32 cqn);
    void event(const engine::Event& event) override { log->take(*this, event); }
    bool wants(std::string_view block) const override;
    void rang(Cycle at, Cycle at_bar, u32 offset, std::span<const u8> data) override;
    void wrote(Cycle at, u32 cqn, u64 cqes) override;
    void completed(const TakenMessage& taken) override;
  };
  // Kinds of events of any block: `host` has as many as the others.
  static constexpr std::size_t kKinds = blocks::kStepNames.size();
  static_assert(kHostStepNames.size() <= kKinds);
  friend struct BlockRow;

  void connect(bool from_start);
  void resolve(Chip& chip, u16 last);
  void take(Chip& chip, const engine::Event& event);
  void frame(unsigned receiver, u64 picoseconds, const proto::FrameView& bytes);
  static Queue* queue_of(Chip& chip, u32 qpn) {
    return qpn < chip.qps.size() ? chip.qps[qpn].queue : nullptr;
  }
  // Where the requests to a queue pair come from.
  static Queue* peer_of(Chip& chip, u32 qpn) {
    if (qpn >= chip.qps.size() || !chip.qps[qpn].peer) return nullptr;
    return queue_of(*chip.qps[qpn].peer, chip.qps[qpn].peer_qpn);
  }
  static Open* by_index(Queue& queue, u32 index);
  static Open* by_psn(Queue& queue, u32 psn);
  static Answer* answer(Queue& queue, u32 psn);
  static void stamp(Queue* queue, u32 psn, Station station, u64 at);
  static void stamp_answer(Queue* queue, u32 psn, Station station, u64 at);
  static void complete(Queue& queue, Open& message, u64 at);

  Testbed& testbed_;
  Sink sink_;
  Frames frames_;
  std::vector<Chip> chips_;     // by node
  std::vector<unsigned> taps_;  // by wire
};
}  // namespace hca::testbench
