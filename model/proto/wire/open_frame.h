// SPDX-License-Identifier: Apache-2.0
// Opens a frame of a capture, whatever recorded it: removes the layers around the packet, and names
// a packet of another protocol.
#pragma once
#include "model/proto/wire/dissect.h"
#include "model/proto/wire/layers.h"

namespace hca::proto {

// The longest truncated frame that is completed.
inline constexpr u32 kMaxCompleted = 1u << 16;

struct OpenedFrame : Dissection {
  // Not empty: the frame has no (visible) RoCE or InfiniBand packet; the text says what it is
  // instead.
  std::string other;
  bool is_cut = false;  // the capture has fewer bytes than were on the wire
  // The offset of the BTH, or of the part of it that is there; 0: not reached.
  u32 transport_offset = 0;
  u32 packet_offset = 0;            // of its network header, or of the layer in `starts_at`
  Layer starts_at = Layer::Other;   // Ipv4, Ipv6, Grh, Lrh; Udp or Bth: earlier headers are missing
  u32 ethernet_offset = 0;          // of the innermost Ethernet header
  bool has_ethernet = false;        // there is one
  HeaderPlace partial{nullptr, 0};  // a header of which the frame has only a part

  bool is_judged() const { return other.empty(); }
};

// `begins`: the layer of the frame's first byte. `bytes_on_wire`: more than frame.size() if the
// capture was truncated. Verdicts on a truncated frame depend only on bytes that are there.
OpenedFrame open_frame(std::span<const u8> frame, Layer begins, u32 bytes_on_wire);

// How well a frame reads as beginning with `begins`; for text, which does not name its layer. None:
// not at all. Weak: by a bit or two. Named: another protocol's. Plausible: a BTH without marks of
// its own. Reached: a BTH by way of its marks. Whole: with lengths that fit. Proved: by its ICRC.
enum class Fit : u8 { None, Weak, Named, Plausible, Reached, Whole, Proved };
Fit fit_of(std::span<const u8> frame, Layer begins);

}  // namespace hca::proto
