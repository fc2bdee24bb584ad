// SPDX-License-Identifier: Apache-2.0
// A device with the objects for bursts, and its observation.
#pragma once
#include <functional>
#include <memory>

#include "testbench/tests/system/malice/overlap.h"
#include "testbench/tests/system/malice/peer.h"

namespace hca::testbench::malice::overlap {
// The observable results of a burst, by actor and in order. Plain ACKs except the last one are left
// out, because one may stand for several.
struct Outcome {
  std::array<std::vector<std::string>, kQps> frames, completions;
  Memory memory{};
};
std::optional<std::string> find_difference(const Outcome& functional, const Outcome& cycle);

class Device {
 public:
  explicit Device(const ReplayRunner& runner);

  // Restores the initial state: queue pairs in Error return to RTS, keys become Valid, receives and
  // READs are posted. `state` is the initial state.
  void prepare(const Burst& burst, State& state);
  // Begins an operation: sends a frame, posts, or rings; the host's is done at once.
  void begin(const Operation& operation);
  // A write by the host to a place that it owns again.
  void reuse(const Operation& operation);

  // Called when a completion is in host memory, with its actor, its number in the burst, and its
  // status.
  using Completed = std::function<void(u8 actor, u32 number, proto::WcStatus status)>;
  void listen(Completed completed) { completed_ = std::move(completed); }
  // The answers sent since the last call, by actor.
  struct Answer {
    u8 actor;
    u32 number;  // of the request among those of its actor
    proto::ParsedPacket packet;
    std::vector<u8> payload;
  };
  std::vector<Answer> answers();

  ReplayDevice& device() { return *device_; }
  // Call after a burst: all its results, including the answers returned by answers().
  Outcome finish();

 private:
  struct Ring {
    Cq* cq = nullptr;
    u32 seen = 0;  // unpolled CQEs
  };
  struct End {
    Qp* qp = nullptr;
    Qp* second = nullptr;  // RD
    Srq* srq = nullptr;    // XRC
    u32 eecn = 0;          // RD
    Ring send, receive;
    u32 psn = 0;  // of the first operation of this burst
    u32 begun = 0;
    bool failed = false;
  };
  void make_queues();
  void make_target(End& end);
  void make_context(End& end);
  void revive(u8 actor);
  void watch(u8 actor, Ring& ring);
  void give_key(u8 key, bool is_new);
  void post_receive(const Operation& operation);
  void post_read(const Operation& operation);
  void poll(u8 actor, Ring& ring, Outcome& outcome);
  Frame frame_of(const Operation& operation) const;

  std::unique_ptr<ReplayDevice> device_;
  VerbsContext verbs_;
  std::array<End, kQps> ends_;
  Qp* registrar_ = nullptr;  // its work requests create keys
  Ring registered_;
  u64 memory_ = 0;
  u32 xrcd_ = 0, rdd_ = 0;
  std::array<Mr, kKeys.size()> keys_;
  // The DeregisterMr of this burst, until it is reported.
  std::array<std::optional<VerbsContext::Command>, kKeys.size()> deregistering_;
  std::array<std::vector<std::string>, kQps> frames_;
  Completed completed_;
};
}  // namespace hca::testbench::malice::overlap
