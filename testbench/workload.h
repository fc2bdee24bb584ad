// SPDX-License-Identifier: Apache-2.0
// The programs of the benchmark, each as perftest has it: a stream with a queue depth (ib_write_bw,
// ib_send_bw) and a ping-pong (ib_write_lat, ib_send_lat). Every byte that arrives is checked.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/host_cpu.h"
#include "testbench/pattern.h"
#include "testbench/verbs.h"

namespace hca::testbench {
enum class Operation : u8 { Write, Send };
inline constexpr std::array<std::string_view, 2> kOperationNames{"WRITE", "SEND"};

// One measurement at one message size.
struct Traffic {
  Operation operation = Operation::Write;
  u32 bytes = 64;
  u64 messages = 1000;
  u32 depth = 128;          // messages in flight
  u32 receive_depth = 512;  // receive WQEs posted ahead
  u32 signal_every = 1;     // a completion each so many messages
  u32 inline_below = 0;     // shorter messages go inside their WQE
  bool push = false;        // WQEs go with their doorbells
  u64 seed = 1;
};

// One end of a connection, ready to send: what a program works with. Slots of `slot_bytes` lie one
// after the other in both buffers.
struct Endpoint {
  VerbsContext* verbs = nullptr;
  HostCpu* cpu = nullptr;
  Qp* qp = nullptr;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Mr send_mr, recv_mr;
  Mr peer_recv;  // where WRITEs go
};
constexpr u64 slot_bytes(u32 bytes) { return (u64{bytes} + 63) / 64 * 64; }

// Which way a message goes; both ways have patterns of their own.
enum class Way : u8 { ToServer, ToClient };

// Compares what arrives with what was sent; any difference fails the run.
class Checker {
 public:
  Checker(std::string_view where, const Traffic& traffic, Way way)
      : where_(where), traffic_(traffic), way_(way) {}
  void fill(tlm_::HostMemory& memory, u64 address, u64 message) const;
  // The bytes of message `message` at `address` are complete.
  void check(const tlm_::HostMemory& memory, u64 address, u64 message);
  // Whether the completion is a success.
  bool check(const Wc& wc);
  void fail(std::string sentence);

  u64 messages() const { return messages_; }
  u64 bytes() const { return messages_ * traffic_.bytes; }
  bool failed() const { return failed_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  static constexpr std::size_t kKept = 10;
  std::string where_;
  const Traffic& traffic_;
  Way way_;
  bool failed_ = false;
  u64 messages_ = 0;
  std::vector<std::string> failures_;
};

// Watches a receive buffer: counts and checks each WRITE when its last byte is in memory.
class WriteWatch {
 public:
  WriteWatch(const Endpoint& end, const Traffic& traffic, u32 slots, Checker& checker);
  ~WriteWatch();
  WriteWatch(const WriteWatch&) = delete;
  u64 arrived() const { return arrived_; }

 private:
  void written(u64 address, u64 bytes);
  Endpoint end_;
  const Traffic& traffic_;
  u32 slots_, watch_;
  Checker& checker_;
  u64 arrived_ = 0;
};

// The work request of message `message`, whose bytes lie in `sge`.
SendWr work_request(const Endpoint& end, const Traffic& traffic, u64 message, u32 slot,
                    const SgeList& sge);
// Receive WQEs for the first `slots` slots of the receive buffer, with one doorbell.
void post_receives(const Endpoint& end, const Traffic& traffic, u32 slots);
}  // namespace hca::testbench
