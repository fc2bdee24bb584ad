// SPDX-License-Identifier: Apache-2.0
// A device with what bursts need, and what can be seen of it.
#pragma once
#include <functional>
#include <memory>

#include "testbench/tests/system/malice/overlap.h"
#include "testbench/tests/system/malice/peer.h"

namespace hca::testbench::malice::overlap {
// What a burst leaves to be seen, by actor and in its order; plain ACKs but the last one are left
// out, since one may stand for several.
struct Outcome {
  std::array<std::vector<std::string>, kQps> frames, completions;
  Memory memory{};
};
std::optional<std::string> find_difference(const Outcome& functional, const Outcome& cycle);

class Device {
 public:
  explicit Device(const ReplayRunner& runner);

  // Queue pairs in Error come to RTS again, keys that are not Valid become so, receives and READs
  // are posted. `state` becomes the one to begin with.
  void prepare(const Burst& burst, State& state);
  // Begins an operation: gives a frame, posts, rings; the host's is done at once.
  void begin(const Operation& operation);
  // What the host writes to a place that is its own again.
  void reuse(const Operation& operation);

  // Called in the moment in which a completion is in host memory: of an actor, its number in the
  // burst, its status.
  using Completed = std::function<void(u8 actor, u32 number, proto::WcStatus status)>;
  void listen(Completed completed) { completed_ = std::move(completed); }
  // What was sent since the last call, by actor.
  struct Answer {
    u8 actor;
    u32 number;  // of the request among those of its actor
    proto::ParsedPacket packet;
    std::vector<u8> payload;
  };
  std::vector<Answer> answers();

  ReplayDevice& device() { return *device_; }
  // Behind a burst: all that it left, its answers with those that answers() gave.
  Outcome finish();

 private:
  struct Ring {
    Cq* cq = nullptr;
    u32 seen = 0;  // CQEs that are not polled
  };
  struct End {
    Qp* qp = nullptr;
    Ring send, receive;
    u32 psn = 0;  // of the first operation of this burst
    u32 begun = 0;
    bool failed = false;
  };
  void make_queues();
  void watch(u8 actor, Ring& ring);
  void give_key(u8 key, bool is_new);
  void post_receive(const Operation& operation);
  void post_read(const Operation& operation);
  void poll(u8 actor, Ring& ring, Outcome& outcome);
  Frame frame_of(const Operation& operation) const;

  std::unique_ptr<ReplayDevice> device_;
  VerbsContext verbs_;
  std::array<End, kQps> ends_;
  Qp* registrar_ = nullptr;  // its work requests give keys
  Ring registered_;
  u64 memory_ = 0;
  std::array<Mr, kKeys.size()> keys_;
  // Of the DeregisterMr of this burst, if it is not told.
  std::array<std::optional<VerbsContext::Command>, kKeys.size()> deregistering_;
  std::array<std::vector<std::string>, kQps> frames_;
  Completed completed_;
};
}  // namespace hca::testbench::malice::overlap
