// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <memory>

#include "model/engine/histogram.h"
#include "testbench/workload/arrivals.h"
#include "testbench/workload/atomic_ledger.h"
#include "testbench/workload/index_set.h"
#include "testbench/workload/round_trips.h"
#include "testbench/workload/workload.h"

namespace hca::testbench {
inline constexpr u32 kPollBatch = 16;  // completions that a program takes at a time, as in perftest

// What a sender shares with those of the other threads of its entry.
struct SharedByThreads {
  std::shared_ptr<AtomicNumbers> numbers{};  // that its ATOMICs change; nullptr: its own
  const Endpoint* served = nullptr;  // the end that it READs (read_addresses); nullptr: its peer
};

// Sends on one or several queue pairs. Closed loop, as in ib_*_bw: posts until `depth` messages are
// in flight on each, then polls its CQ; in batches, it polls until none is left. Open loop:
// messages are scheduled, wait in a bounded queue of the host until the queue pair has room, and
// are dropped if the queue is full. A request is in flight until its answer is taken. Answers are
// posted as the server's program releases them.
class StreamSender : public Program {
 public:
  StreamSender(const Endpoint& end, const Traffic& traffic, Way way = Way::ToServer,
               SharedByThreads shared = {});
  Cycle act(Cycle now) override;
  Cycle wakes_at() const override;
  bool waits_for_events() const override { return waits_by_events(end_, traffic_); }
  bool finished() const override { return completed_ == traffic_.messages; }
  bool failed() const override { return checker.failed(); }
  // When all writes of the run have arrived: checks the final values of ATOMICs, and that no
  // completion is left.
  void check_end();
  // Of requests: the client's program has taken the answer to message k.
  void answered(u32 qp, u64 k);
  // Of requests: where their times are kept.
  void keep_trips(RoundTrips& trips) { trips_ = &trips; }
  // Of answers: the next one of a queue pair may be posted.
  void release(u32 qp);
  // Posts to the next queue pair that can take a message; 0: there is none.
  Cycle post_next(Cycle now);
  // Messages wait, and no queue pair can take one.
  bool is_held_up() const { return waiting_ && !ready_.next(0); }
  // Takes completions. `sleeps`: without one the program may wait for an event.
  Cycle poll(Cycle now, bool sleeps = true);
  // Acts on this core from now on, which shares the queues with others.
  void on_core(HostCpu& cpu) { end_.cpu = &cpu; }
  bool uses_atomics() const { return ledger_.is_used(); }
  const std::shared_ptr<AtomicNumbers>& numbers() const { return ledger_.numbers(); }

  u64 completed() const { return completed_; }
  // In the interval that is measured.
  u64 measured() const { return measured_; }
  u64 bytes_measured() const { return bytes_measured_; }
  Cycle first_post() const { return first_post_; }  // open loop: start of the schedule
  Cycle last_completion() const { return last_completion_; }
  Cycle last_completion(u32 qp) const { return queues_[qp].last_completion; }
  const std::vector<Cycle>& posts() const { return posts_; }
  // From the post (open loop: the scheduled time) to the completion that the program takes; ps.
  const engine::Histogram& latencies() const { return latencies_; }
  u64 dropped() const { return dropped_; }
  u64 queued_most() const { return queued_most_; }
  Checker checker;

 private:
  struct Queue {
    u64 planned = 0, posted = 0, completed = 0;
    u64 answered = 0, done = 0;  // of requests; done: completed, and answered
    Cycle last_completion = 0;
    std::deque<u64> waiting;  // scheduled times, ps
    std::vector<u64> since;   // by slot: start of the latency, ps
  };
  bool has_work(u32 qp) const;
  std::optional<u32> choose(u32& next, const IndexSet& fitting);
  Cycle post_on(u32 qp, Cycle now);
  void admit(u64 until);
  u32 post_list(u32 qp, Cycle now);
  void prepare(u32 qp, Cycle now);
  void lock(const void* queue, Cycle now, Cycle work);
  u32 next_list(u32 qp) const;
  void settle(u32 qp);
  void measure(u32 qp, u64 k, Cycle now);
  bool has_schedule() const { return traffic_.is_open() || traffic_.is_answer; }
  u64 next_signaled(u32 qp) const;  // the message with the next completion
  void complete(u32 qp, u64 k, Cycle now);

  Endpoint end_;
  const Traffic& traffic_;
  Buffers buffers_, peer_buffers_;
  AtomicLedger ledger_;
  std::vector<Queue> queues_;
  IndexSet ready_;                // queue pairs with has_work()
  IndexSet unplanned_;            // those with messages that are not planned; for an open loop
  std::vector<SendWr> requests_;  // of the list that is being posted
  std::vector<Pieces> pieces_;
  engine::Random random_;
  Arrivals arrivals_;
  u32 next_post_ = 0, next_plan_ = 0;  // the next in turn
  u64 planned_ = 0, waiting_ = 0, in_flight_ = 0, completed_ = 0, measured_ = 0,
      bytes_measured_ = 0;
  u64 dropped_ = 0, queued_most_ = 0;
  bool began_ = false, filling_ = true;
  Cycle first_post_ = 0, last_completion_ = 0;
  Cycle full_since_ = engine::kNever;  // closed loop: since when it cannot post
  std::vector<Cycle> posts_;
  engine::Histogram latencies_;
  RoundTrips* trips_ = nullptr;
};

// The other end: takes receive completions and reposts their buffers. It only checks WRITEs in
// memory, and sees nothing of READs and ATOMICs.
class StreamReceiver : public Program {
 public:
  StreamReceiver(const Endpoint& end, const Traffic& traffic, Way way = Way::ToServer);
  Cycle act(Cycle now) override;
  bool waits_for_events() const override { return waits_by_events(end_, traffic_); }
  bool finished() const override { return received() == expected_; }
  bool failed() const override { return checker.failed(); }
  u64 received() const { return received_ + (watch_ ? watch_->arrived() : 0); }
  void check_end();  // no completion is left
  // For an unreliable service: counts messages that have not arrived when nothing moves any more as
  // lost. True if there are any.
  bool lose_rest();
  u64 lost() const { return lost_; }
  u64 duplicates() const { return duplicates_ + (watch_ ? watch_->duplicates() : 0); }
  // Called for each message with a completion, in the order in which they are taken.
  std::function<void(u32 qp, u64 k)> arrived;
  void on_core(HostCpu& cpu) { end_.cpu = &cpu; }
  // Receive WQEs are left, or were consumed without a message.
  bool has_left_receives() const { return takes_receives_ && (lost_ || duplicates_ || aborted_); }
  Checker checker;

 private:
  void take(const Wc& wc);
  // For an unreliable service: the message of a completion; empty: it failed, or is a duplicate.
  std::optional<u64> identify(const Wc& wc, u32 qp, u64 slot);
  template <class Fits>
  std::optional<u64> find_message(u32 qp, u64 from, Fits&& fits) const;
  void post_again(u32 qp, u64 slot);
  Endpoint end_;
  const Traffic& traffic_;
  std::unique_ptr<WriteWatch> watch_;
  struct Queue {
    u64 next = 0;  // next message
    u64 received = 0, receives = 0;
    std::vector<bool> seen;  // for an unreliable service, by message
  };
  std::vector<Queue> queues_;
  bool takes_receives_;
  ReceivePoster poster_;
  std::optional<SharedReceives> shared_;
  u64 expected_ = 0, received_ = 0, lost_ = 0, duplicates_ = 0, aborted_ = 0;
};
}  // namespace hca::testbench
