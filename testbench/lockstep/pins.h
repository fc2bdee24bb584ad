// SPDX-License-Identifier: Apache-2.0
// Converts packets to pins and back: a sender and a receiver that follow the grant rule of the
// links beat by beat.
#pragma once
#include <span>

#include "rtl/common/beat.h"
#include "rtl/common/side_band.h"
#include "testbench/lockstep/twin.h"

namespace hca::testbench {
// A packet without bytes takes a beat too.
inline u32 beats_of(u32 bytes, u32 beat_bytes = rtl::kMaxBeatBytes) {
  return bytes ? (bytes + beat_bytes - 1) / beat_bytes : 1;
}
// Beat `index` of a packet of this many bytes: its data and place; data after the last byte is 0.
template <class Control>
rtl::BeatOf<Control> beat_of(std::span<const u8> bytes, u32 index, u32 beat_bytes) {
  rtl::BeatOf<Control> beat;
  const u32 from = index * beat_bytes, size = std::min(u32(bytes.size()) - from, beat_bytes);
  std::copy_n(bytes.data() + from, size, beat.data.begin());
  beat.control.first = index == 0;
  beat.control.last = from + size == bytes.size();
  beat.control.bytes = u8(size);
  return beat;
}
inline void fill(std::span<u8> bytes, engine::Random& random) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const u64 word = random();
    for (std::size_t k = i; k < std::min(bytes.size(), i + 8); ++k)
      bytes[k] = u8(word >> 8 * (k - i));
  }
}
template <class Control>
void scramble(Control& control, engine::Random& random) {
  std::array<u8, rtl::SideBand<Control>::kBytes> bits;
  fill(bits, random);
  rtl::SideBand<Control>::decode(bits.data(), control);
}
// Beat `index` of a packet as it enters a block. Data after the last byte and side-band bits that
// are not valid are random: the block must ignore them.
template <class Pair>
rtl::BeatOf<typename Pair::In> pins_of(const typename Pair::Packet& packet, u32 index,
                                       u32 beat_bytes, engine::Random& random) {
  auto beat = beat_of<typename Pair::In>(Pair::sent(packet), index, beat_bytes);
  const bool first = beat.control.first, last = beat.control.last;
  const u8 bytes = beat.control.bytes;
  scramble(beat.control, random);
  beat.control.first = first, beat.control.last = last, beat.control.bytes = bytes;
  Pair::set_side_band(packet, beat.control);
  fill(std::span(beat.data).subspan(bytes, beat_bytes - bytes), random);
  return beat;
}

// Sends the packets on offer: starts in a cycle with a grant, then a beat a cycle.
template <class Pair>
class PinSender {
 public:
  using Beat = rtl::BeatOf<typename Pair::In>;
  using Offers = std::deque<typename Twin<Pair>::Offer>;

  PinSender(u64 seed, u32 beat_bytes) : beat_bytes_(beat_bytes), random_(seed) {}
  bool inside_packet() const { return beat_ != 0; }
  // True: a packet waits for its start in this cycle.
  bool on_offer(const Offers& offers, engine::Cycle at) const {
    return !inside_packet() && !offers.empty() && offers.front().from <= at;
  }
  // The beat of this cycle or nullptr.
  const Beat* beat(Offers& offers, engine::Cycle at, bool ready) {
    if (!inside_packet()) {
      if (!on_offer(offers, at) || !ready) return nullptr;
      packet_ = std::move(offers.front().packet);
      offers.pop_front();
    }
    now_ = pins_of<Pair>(*packet_, beat_, beat_bytes_, random_);
    beat_ = now_.control.last ? 0 : beat_ + 1;
    return &now_;
  }

 private:
  const u32 beat_bytes_;
  std::shared_ptr<typename Pair::Packet> packet_;
  u32 beat_ = 0;  // the next beat of the packet
  Beat now_;
  engine::Random random_;
};

// Receives packets: takes room at `start` and returns it when a packet is taken out.
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
