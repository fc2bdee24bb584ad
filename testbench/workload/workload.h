// SPDX-License-Identifier: Apache-2.0
// What the programs of the benchmark share, each as perftest has it. Every byte that arrives is
// checked.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/host/endpoint.h"
#include "testbench/scenario/layout.h"
#include "testbench/workload/pattern.h"

namespace hca::testbench {
// Which way a message goes; all ways have patterns of their own.
enum class Way : u8 { ToServer, ToClient };
constexpr Way opposite(Way way) { return way == Way::ToServer ? Way::ToClient : Way::ToServer; }

// Compares what arrives with what was sent; any difference fails the run.
class Checker {
 public:
  Checker(std::string_view where, const Traffic& traffic, Way way)
      : where_(where), traffic_(traffic), way_(way) {}
  // The payload of message k of a queue pair, and what a READ into its slot finds at the peer.
  void fill(tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const;
  void fill_served(tlm_::HostMemory& memory, u64 address, u32 qp, u64 slot) const;
  // Whether the bytes of message k lie there.
  bool has(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k) const;
  // The bytes of message k at `address` are complete.
  void check(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k);
  void check_served(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k, u64 slot);
  // Whether the completion, of a message or of a receive WQE, is a success.
  bool check(const Wc& wc, std::string_view what = "message");
  // A message without a pattern, or without a byte, was right, or not.
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
  u64 seed(bool served) const { return traffic_.seed * 4 + 2 * served + u64(way_); }
  void compare(const tlm_::HostMemory& memory, u64 address, u32 qp, u64 k, u64 seed, u64 pattern);
  std::string where_;
  const Traffic& traffic_;
  Way way_;
  bool failed_ = false;
  u64 messages_ = 0, bytes_ = 0;
  std::vector<std::string> failures_;
};

// Watches where the peer's WRITEs go: checks each, with or without immediate, when its last byte is
// in memory. Those of a queue pair come in order; of an unreliable service some may be missing, or
// come twice.
class WriteWatch {
 public:
  WriteWatch(const Endpoint& end, const Traffic& traffic, Checker& checker);
  ~WriteWatch();
  WriteWatch(const WriteWatch&) = delete;
  // WRITEs without immediate: the others have a completion.
  u64 arrived() const { return arrived_; }
  // A WRITE whose completion is there: all of its bytes are.
  bool has_arrived(u32 qp, u64 k) const {
    if (!traffic_.message(qp, k).lands()) return true;
    return traffic_.may_lose ? seen_[qp][k] || is_there(qp, k) : k < next_[qp];
  }
  u64 duplicates() const { return duplicates_; }

 private:
  void written(u64 address, u64 bytes);
  void written_unreliably(u32 qp, u64 end);
  void arrive(u32 qp, u64 k);
  bool is_there(u32 qp, u64 k) const;
  Endpoint end_;
  const Traffic& traffic_;
  Layout layout_;
  u32 watch_;
  Checker& checker_;
  std::vector<u64> next_;
  std::vector<std::vector<bool>> seen_;  // of an unreliable service, by queue pair and message
  u64 arrived_ = 0, duplicates_ = 0;
};

// The bytes of one place as a list of up to so many entries, none of them empty but the only one.
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

// What a program does that finds no completion: 0, it waits; else the cycles of what it does first.
// One that waits for events takes those that are there, and arms the queue.
bool waits_by_events(const Endpoint& end, const Traffic& traffic);
Cycle found_nothing(const Endpoint& end, const Traffic& traffic, Cq& cq);

// The work request of message k of a queue pair, whose bytes lie in `list`.
SendWr work_request(const Endpoint& end, const Traffic& traffic, u32 qp, u64 k,
                    std::span<const SgeList> list);
// Receive buffer `slot` of a queue pair.
SgeList receive_buffer(const Endpoint& end, const Traffic& traffic, u32 qp, u64 slot);
// Receive WQEs for the first messages of each queue pair that take one, with one doorbell each.
void post_receives(const Endpoint& end, const Traffic& traffic);
// Posts a receive WQE again, of an SRQ perhaps not at once: the slot of its ring may still be in
// use by a message that began long ago.
class ReceivePoster {
 public:
  ReceivePoster(const Endpoint& end, const Traffic& traffic) : end_(end), traffic_(traffic) {}
  // `slot`: of the queue pair; with an SRQ, of all.
  void post(u32 qp, u64 slot);
  // What could not be posted then.
  void post_late();

 private:
  const Endpoint& end_;
  const Traffic& traffic_;
  std::deque<u64> late_;  // slots
};
// The buffer of a slot of the SRQ of an end.
SgeList shared_buffer(const Endpoint& end, const Traffic& traffic, u64 slot);
}  // namespace hca::testbench
