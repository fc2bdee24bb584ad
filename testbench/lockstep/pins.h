// SPDX-License-Identifier: Apache-2.0
// From packets to pins and back: a sender and a receiver that keep the grant rule of the links beat
// by beat.
#pragma once
#include <deque>

#include "rtl/beat.h"
#include "testbench/lockstep/icrc_twin.h"

namespace hca::testbench {
// Beat `index` of a packet of so many bytes; behind the last byte stands 0.
rtl::Beat beat_of(const u8* frame, u32 bytes, u32 index, u32 beat_bytes = rtl::kMaxBeatBytes);
inline u32 beats_of(u32 bytes, u32 beat_bytes = rtl::kMaxBeatBytes) {
  return (bytes + beat_bytes - 1) / beat_bytes;
}

// Sends the packets on offer: starts in a cycle with a grant, then a beat a cycle.
class PinSender {
 public:
  PinSender(u64 seed, u32 beat_bytes) : beat_bytes_(beat_bytes), random_(seed) {}
  bool inside_packet() const { return beat_ != 0; }
  // A packet waits for its start in this cycle.
  bool on_offer(const std::deque<IcrcTwin::Offer>& offers, engine::Cycle at) const {
    return !inside_packet() && !offers.empty() && offers.front().from <= at;
  }
  // The beat of this cycle or nullptr. Data behind the last byte is random: the unit must not look
  // at it.
  const rtl::Beat* beat(std::deque<IcrcTwin::Offer>& offers, engine::Cycle at, bool ready);

 private:
  void set_side_band(bool first);
  const u32 beat_bytes_;
  std::shared_ptr<IcrcPacket> packet_;
  u32 beat_ = 0;  // of the packet, the next one
  rtl::Beat now_;
  engine::Random random_;
};

// Takes packets: counts its room from `start`, gives it back when it takes a packet out.
class PinReceiver {
 public:
  PinReceiver(u32 rooms, const Stalls& stalls) : rooms_(rooms), stalls_(stalls) {}
  bool ready() const { return rooms_ > 0; }  // of this cycle
  void end_cycle(engine::Cycle at, bool start, bool valid, bool first, bool last);

 private:
  struct Arrived {
    u32 beats = 0;
    bool complete = false;
  };
  u32 rooms_;
  Stalls stalls_;
  std::deque<Arrived> waiting_;  // the front one may have been taken and still be leaving
  bool leaving_ = false;
  engine::Cycle taken_at_ = 0;
};
}  // namespace hca::testbench
