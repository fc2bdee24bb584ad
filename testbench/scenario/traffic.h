// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "testbench/scenario/operation.h"

namespace hca::testbench {
// At least one cache line, so that each message has an address.
constexpr u64 slot_bytes(u32 bytes) { return bytes ? (u64{bytes} + 63) / 64 * 64 : 64; }
inline constexpr u32 kMaxSges = 8;

struct SizeWeight {
  u32 bytes = 64, weight = 1;
};
// The order in which messages walk through the buffers of a working set.
enum class AddressOrder : u8 { Sequential, Random, Strided };
inline constexpr std::array<std::string_view, 3> kAddressOrderNames{"sequential", "random",
                                                                    "strided"};
struct ServeTime {
  u64 picoseconds = 0;
  u32 weight = 1;
};
// The k-th message of a queue pair.
struct Message {
  Operation operation;
  u32 bytes;
  const OperationRow& row() const { return row_of(operation); }
  bool takes_receive() const { return row().takes_receive; }
  // True if bytes of it are written to an address that the client gives; an empty message cannot be
  // seen to arrive.
  bool lands() const { return row().writes && bytes; }
};

// One measurement: the messages, and how they are posted. Both ends derive from it the k-th message
// of each queue pair.
struct Traffic {
  u32 entry = 0;  // of the scenario's list
  Operation operation = Operation::Write;
  std::vector<std::pair<Operation, u32>> mix;  // with weights; empty: only `operation`
  u32 bytes = 64;                              // of the largest message
  std::vector<SizeWeight> sizes;               // empty: all have `bytes`
  u64 messages = 1000;
  u32 qps = 1;
  bool random_qps = false;  // the next queue pair is chosen at random by the seed, not in turn
  u32 depth = 128;          // messages in flight on a queue pair
  u32 list = 1;             // messages per doorbell
  bool batches = false;     // all of a batch complete before the next is posted
  u32 receive_depth = 512;  // receive WQEs posted ahead on a queue pair
  u32 signal_every = 1;     // one completion for this many messages
  u32 inline_below = 0;     // shorter messages are inline in their WQE
  u32 receive_header = 0;   // bytes before the data in a receive buffer
  bool may_lose = false;    // an unreliable service: lost and duplicate messages are counted
  u32 sges = 1;             // of each send and receive WQE
  bool push = false;        // WQEs are pushed with their doorbells
  bool fence = false, solicited = false;
  // 0: one for all FetchAdds, and one for the CmpSwaps of each queue pair
  u32 atomic_addresses = 0;
  u32 read_addresses = 0;  // that all queue pairs of all threads READ; 0: each message its own
  // Bytes in which the buffers of each kind lie, in so many regions; 0: a ring of those in use.
  u64 working_set = 0, stride = 0;
  u32 regions = 1;
  AddressOrder address = AddressOrder::Sequential;
  std::optional<bool> by_events;  // how programs wait; empty: as set for their hosts
  u64 seed = 1, shared_seed = 1;  // shared_seed: the same for all threads of the entry
  // Open loop: messages are planned at this rate and wait in a queue of the host.
  u64 bits_per_second = 0, messages_per_second = 0;
  bool exponential = false;
  u32 queue = 1024;
  // Figures are of the completions taken in this interval from the first post on, ps; to 0: the end.
  u64 measure_from = 0, measure_to = 0;
  bool measures(u64 picoseconds) const {
    return picoseconds >= measure_from && (!measure_to || picoseconds < measure_to);
  }
  bool keep_posts = false;  // the cycle of each post, for a latency test
  u32 sharing_threads = 1;  // that use the same queue pairs
  // The server answers each message with so many bytes, after it has worked for a service time; 0:
  // no answer. `is_answer`: these messages are the answers.
  u32 response = 0;
  bool is_answer = false;
  ServeTime serve{};
  bool serve_exponential = false;
  std::vector<ServeTime> serve_times;  // instead of `serve`
  // The bytes at the begin of each message that memories and packets hold; others are not looked
  // at.
  u32 held = ~u32{0};
  u32 held_of(u32 message_bytes) const { return std::min(message_bytes, held); }

  bool is_open() const { return bits_per_second || messages_per_second; }
  bool is_request() const { return response && !is_answer; }
  // The traffic of the answers: one for each message, on its queue pair.
  Traffic answers() const;
  Message message(u32 qp, u64 k) const;
  // Messages are distributed evenly, the remainder to the first queue pairs.
  u64 messages_on(u32 qp) const { return messages / qps + (qp < messages % qps); }
  bool has(bool (*fits)(const OperationRow&)) const;
  // The number of messages of a queue pair for which `fits` is true.
  u64 count(u32 qp, bool (*fits)(const Message&)) const;
  u32 atomic_numbers() const { return atomic_addresses ? atomic_addresses : qps + 1; }
  // What the peer's READs find, at one time.
  u64 served() const { return read_addresses ? read_addresses : u64{qps} * depth; }
  u64 slot() const { return slot_bytes(bytes + receive_header); }
};
}  // namespace hca::testbench
