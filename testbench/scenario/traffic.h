// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "testbench/scenario/operation.h"

namespace hca::testbench {
// At least one line, so that each message has a place.
constexpr u64 slot_bytes(u32 bytes) { return bytes ? (u64{bytes} + 63) / 64 * 64 : 64; }
inline constexpr u32 kMaxSges = 8;

struct SizeWeight {
  u32 bytes = 64, weight = 1;
};
// The k-th message of a queue pair.
struct Message {
  Operation operation;
  u32 bytes;
  const OperationRow& row() const { return row_of(operation); }
  bool takes_receive() const { return row().takes_receive; }
  // Whether bytes of it land where the client says; without any, nobody sees it arrive.
  bool lands() const { return row().writes && bytes; }
};

// One measurement: what is sent, and how it is posted. Both ends know from it what the k-th message
// of each queue pair is.
struct Traffic {
  Operation operation = Operation::Write;
  std::vector<std::pair<Operation, u32>> mix;  // with weights; empty: `operation` alone
  u32 bytes = 64;                              // of the largest message
  std::vector<SizeWeight> sizes;               // empty: all of `bytes`
  u64 messages = 1000;
  u32 qps = 1;
  bool random_qps = false;  // the next queue pair is chosen by the seed, not in turn
  u32 depth = 128;          // messages in flight on a queue pair
  u32 list = 1;             // messages posted with one doorbell
  bool batches = false;     // all of them complete before the next are posted
  u32 receive_depth = 512;  // receive WQEs posted ahead on a queue pair
  u32 signal_every = 1;     // a completion each so many messages
  u32 inline_below = 0;     // shorter messages go inside their WQE
  u32 receive_header = 0;   // bytes in front of the data in a receive buffer
  bool may_lose = false;    // an unreliable service: what is lost, or comes twice, is counted
  u32 sges = 1;             // of each send and receive WQE
  bool push = false;        // WQEs go with their doorbells
  bool fence = false, solicited = false;
  u32 atomic_addresses = 0;       // 0: one of all FetchAdds, one of the CmpSwaps of each queue pair
  std::optional<bool> by_events;  // how programs wait; none: as their hosts do
  u64 seed = 1;
  // Open loop: messages are planned at this rate and wait in a queue of the host.
  u64 bits_per_second = 0, messages_per_second = 0;
  bool exponential = false;
  u32 queue = 1024;
  bool keep_posts = false;  // the cycle of each post, for a latency test

  bool is_open() const { return bits_per_second || messages_per_second; }
  Message message(u32 qp, u64 k) const;
  // Messages are shared out evenly, the rest to the first queue pairs.
  u64 messages_on(u32 qp) const { return messages / qps + (qp < messages % qps); }
  bool has(bool (*fits)(const OperationRow&)) const;
  // How many messages of a queue pair fit.
  u64 count(u32 qp, bool (*fits)(const Message&)) const;
  u32 atomic_numbers() const { return atomic_addresses ? atomic_addresses : qps + 1; }
  u64 slot() const { return slot_bytes(bytes + receive_header); }
};
}  // namespace hca::testbench
