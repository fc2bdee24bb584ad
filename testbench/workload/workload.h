// SPDX-License-Identifier: Apache-2.0
// Shared parts of the benchmark programs, which follow perftest. Every arriving byte is checked.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/workload/buffers.h"
#include "testbench/workload/pattern.h"

namespace hca::testbench {
// The direction of a message; each direction has its own patterns.
enum class Way : u8 { ToServer, ToClient };
constexpr Way opposite(Way way) { return way == Way::ToServer ? Way::ToClient : Way::ToServer; }

// Compares arriving with sent data; any difference fails the run.
class Checker {
 public:
  Checker(std::string_view where, const Traffic& traffic, Way way)
      : where_(where), traffic_(traffic), way_(way) {}
  // Writes the payload of message k of a queue pair, or the data that a READ finds at the peer.
  void fill(tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const;
  void fill_served(tlm_::HostMemory& memory, u64 address, const ServedPlaces::Content& what) const;
  // True if the bytes of message k are there.
  bool has(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const;
  // Checks the bytes of message k at `address`, which are complete.
  void check(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k);
  void check_served(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k,
                    const ServedPlaces::Content& what);
  // Checks that the completion of a message or receive WQE is a success.
  bool check(const Wc& wc, std::string_view what = "message");
  // Records the result of a message without a pattern or without bytes.
  void check(bool good, u32 qp, u64 k, const std::string& sentence);
  void fail(Operation operation, const std::string& sentence);
  void fail(const std::string& sentence) { fail(traffic_.operation, sentence); }
  // "message 3", "message 3 of queue pair 1"
  std::string name(u32 qp, u64 k) const;

  u64 messages() const { return messages_; }
  u64 bytes() const { return bytes_; }
  bool failed() const { return failed_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  static constexpr std::size_t kKept = 10;
  u64 seed(bool served) const {
    const bool shared = served && traffic_.read_addresses;
    return (shared ? traffic_.shared_seed : traffic_.seed) * 4 + 2 * served + u64(way_);
  }
  void compare(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k, u64 seed, u64 pattern);
  std::string where_;
  const Traffic& traffic_;
  Way way_;
  bool failed_ = false;
  u64 messages_ = 0, bytes_ = 0;
  std::vector<std::string> failures_;
};

// Watches the targets of the peer's WRITEs: checks each, with or without immediate, when its last
// byte is in memory. On a queue pair they arrive in order; in an unreliable service some may be
// missing or arrive twice.
class WriteWatch {
 public:
  WriteWatch(const Endpoint& end, const Traffic& traffic, Checker& checker);
  ~WriteWatch();
  WriteWatch(const WriteWatch&) = delete;
  // WRITEs without immediate: the others have a completion.
  u64 arrived() const { return arrived_; }
  // The WRITE has a completion, so all of its bytes have arrived.
  bool has_arrived(u32 qp, u64 k) const {
    if (!traffic_.message(qp, k).lands()) return true;
    return traffic_.may_lose ? seen_[qp][k] || is_there(qp, k) : k < next_[qp];
  }
  u64 duplicates() const { return duplicates_; }

 private:
  void written(u64 address, u64 bytes);
  void written_unreliably(u32 qp, u64 place, u64 end);
  void arrive(u32 qp, u64 k);
  bool is_there(u32 qp, u64 k) const;
  u64 address_of(u32 qp, u64 k) const { return buffers_.target(qp, k).addr; }
  Endpoint end_;
  const Traffic& traffic_;
  Buffers buffers_;
  u32 watch_;
  Checker& checker_;
  std::vector<u64> next_;
  std::vector<std::vector<bool>> seen_;  // for an unreliable service, by queue pair and message
  u64 arrived_ = 0, duplicates_ = 0;
};

// The bytes of one place as a list of a limited number of entries; none is empty, except a single
// one.
class Pieces {
 public:
  Pieces() : count_(0) {}
  Pieces(const SgeList& whole, u32 count);
  std::span<const SgeList> list() const { return {list_.data(), count_}; }

 private:
  std::array<SgeList, kMaxSges> list_;
  u32 count_;
};
Pieces pieces_of(const SgeList& whole, const Traffic& traffic);

// The behaviour of a program without a completion. 0: it waits; otherwise it first acts for this
// many cycles. A program that waits for events takes those available, and arms the queue.
bool waits_by_events(const Endpoint& end, const Traffic& traffic);
// Fails for a completion that nothing explains.
void check_no_more(Cq& cq, const Endpoint& end, Checker& checker);
Cycle found_nothing(const Endpoint& end, const Traffic& traffic, Cq& cq);

// The work request of message k of a queue pair, whose bytes are in `list`.
SendWr work_request(const Endpoint& end, const Buffers& peer, const Traffic& traffic, u32 qp, u64 k,
                    std::span<const SgeList> list);
// Posts receive WQEs. With an SRQ this may be delayed: the slot of its ring may still be used by
// a message that began long ago. `slot`: of the queue pair; with an SRQ, a global one.
class ReceivePoster {
 public:
  ReceivePoster(const Endpoint& end, const Traffic& traffic);
  // Posts WQEs for the first messages of each queue pair that need one, with one doorbell each.
  void post_first();
  // Reposts the WQE of a slot, with the next buffer of the slot.
  void post(u32 qp, u64 slot);
  // Posts the delayed ones.
  void post_late();
  // The buffer of the slot's last WQE.
  SgeList buffer(u32 qp, u64 slot) const;

 private:
  void post_late(u64 slot);
  u64 number_of(u32 qp, u64 slot) const {
    return end_.shares_receives() ? slot : u64{qp} * traffic_.receive_depth + slot;
  }
  const Endpoint& end_;
  const Traffic& traffic_;
  Buffers buffers_;
  std::vector<u32> uses_;              // by slot of all queue pairs; empty: always the same buffer
  std::vector<std::deque<u64>> late_;  // slots, by SRQ
};
// The receive WQEs of the SRQs of an end. Slots belong to the SRQs in turn.
struct SharedReceives {
  // As many are posted at first as there are messages, and slots.
  SharedReceives(const Endpoint& end, const Traffic& traffic);
  // True: one more is to be posted to the SRQ of this slot.
  bool take_left(u64 slot) {
    u64& its = left[slot % left.size()];
    return its && its--;
  }
  std::vector<bool> in_use;  // slots
  std::vector<u64> left;     // by SRQ: to be posted when others are complete
};
}  // namespace hca::testbench
