// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/pins.h"

#include <algorithm>

namespace hca::testbench {
rtl::Beat beat_of(const u8* frame, u32 bytes, u32 index, u32 beat_bytes) {
  rtl::Beat beat;
  const u32 from = index * beat_bytes, size = std::min(bytes - from, beat_bytes);
  std::copy_n(frame + from, size, beat.data.begin());
  beat.control.first = index == 0;
  beat.control.last = from + size == bytes;
  beat.control.bytes = u8(size);
  return beat;
}

const rtl::Beat* PinSender::beat(std::deque<IcrcTwin::Offer>& offers, engine::Cycle at,
                                 bool ready) {
  if (!inside_packet()) {
    if (!on_offer(offers, at) || !ready) return nullptr;
    packet_ = std::move(offers.front().packet);
    offers.pop_front();
  }
  const u32 bytes = u32(packet_->sent.size());
  now_ = beat_of(packet_->sent.data(), bytes, beat_, beat_bytes_);
  set_side_band(now_.control.first);
  for (u32 i = now_.control.bytes; i < beat_bytes_; ++i) now_.data[i] = u8(random_());
  beat_ = now_.control.last ? 0 : beat_ + 1;
  return &now_;
}

// It counts with the first beat; later it is anything.
void PinSender::set_side_band(bool first) {
  now_.control.mode = first ? u8(packet_->mode) : u8(random_.below(4));
  now_.control.framing = first ? u8(packet_->framing) : u8(random_.below(8));
  now_.control.vlan = first ? packet_->vlan : random_.chance(1, 2);
  now_.control.icrc_ok = random_.chance(1, 2);
  now_.control.vcrc_ok = random_.chance(1, 2);
}

void PinReceiver::end_cycle(engine::Cycle at, bool start, bool valid, bool first, bool last) {
  if (start) --rooms_;
  if (valid && first) waiting_.emplace_back();
  if (valid && !waiting_.empty()) {
    ++waiting_.back().beats;
    waiting_.back().complete = last;
  }
  // A packet that was taken leaves with a beat a cycle; the next one follows it.
  if (leaving_ && waiting_.front().complete && at >= taken_at_ + waiting_.front().beats) {
    waiting_.pop_front();
    leaving_ = false;
  }
  if (!leaving_ && !waiting_.empty() && !stalls_(at)) {
    leaving_ = true, taken_at_ = at;
    ++rooms_;
  }
}
}  // namespace hca::testbench
