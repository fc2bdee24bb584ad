// SPDX-License-Identifier: Apache-2.0
// A device with queue pairs of RC, UC, UD, both sides of XRC, and two of RD over one EE context, an
// SRQ of XRC and a region, with all optional operations; and the actions of a fuzz target on it.
#pragma once
#include <array>
#include <cstdlib>
#include <memory>
#include <span>

#include "testbench/host/replay_device.h"
#include "testbench/host/verbs.h"

namespace hca::fuzz {
inline void require(bool holds) {
  if (!holds) std::abort();
}

// Reads numbers, low byte first; after the end 0 and empty data.
class Input {
 public:
  Input(const u8* data, std::size_t size) : left_(data, size) {
    for (const u8 byte : left_) sum_ += byte;
  }
  // True for one input of 16: it goes to the cycle model, which takes thirty times as long as the
  // functional one. Depends on all bytes; otherwise a corpus that grows by coverage would fill with
  // such inputs.
  bool takes_cycle_model() const { return sum_ % 16 == 7; }
  // The same for actions that take a thousand times as long as others.
  bool is_rare() const { return sum_ / 16 % 64 == 7; }
  bool empty() const { return left_.empty(); }
  std::span<const u8> bytes(std::size_t n) {
    const std::span<const u8> taken = left_.first(std::min(n, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }
  u64 number(unsigned bytes_of_it) {
    u64 n = 0;
    unsigned shift = 0;
    for (const u8 byte : bytes(bytes_of_it)) {
      n |= u64{byte} << shift;
      shift += 8;
    }
    return n;
  }

 private:
  std::span<const u8> left_;
  u32 sum_ = 0;
};

class Device {
 public:
  static constexpr u64 kMemory = (u64{1} << 24) + 0x10000, kMemoryBytes = 16384;
  static constexpr std::size_t kQps = 7;
  static constexpr u32 kReceives = 4;  // posted by post_receives() on each queue pair

  explicit Device(bool cycle);
  // Its key names kMemoryBytes at kMemory, with all rights.
  u32 key() const { return mr_.lkey; }
  testbench::Qp& qp(std::size_t i) { return *qps_[i % kQps]; }
  // The number of a queue pair in the bits 0, 1 and 6 of an action's flags; kQps and more: none.
  static constexpr std::size_t index_of(u64 flags) { return (flags & 3) | (flags >> 4 & 4); }
  u32 srqn() const { return srq_->srqn; }
  u32 eecn() const { return eecn_; }
  static constexpr u32 kQkey = 0x11111111, kPeerQpn = 0x4f;
  testbench::VerbsContext& verbs() { return verbs_; }
  testbench::ReplayDevice& model() { return *model_; }
  void post_receives();

  // Works until nothing is left to do, and lets a few timers fire. Then checks that the memory
  // around the region, where no queue lies, has not changed.
  void finish();

 private:
  static constexpr u64 kGuardBytes = 4096;
  void connect(std::size_t i);
  void connect_context();
  void guard(bool check);

  std::unique_ptr<testbench::ReplayDevice> model_;
  testbench::VerbsContext verbs_;
  testbench::Cq* cq_ = nullptr;
  testbench::Srq* srq_ = nullptr;
  u32 xrcd_ = 0, rdd_ = 0, eecn_ = 0;
  testbench::Mr mr_;
  std::array<testbench::Qp*, kQps> qps_{};
};
}  // namespace hca::fuzz
