// SPDX-License-Identifier: Apache-2.0
// A frame of a capture, whatever recorded it: what stands around the packet is opened, and what is
// no packet of ours is named.
#pragma once
#include "model/proto/wire/dissect.h"
#include "model/proto/wire/layers.h"

namespace hca::proto {

// The longest frame that is completed where a capture cut it.
inline constexpr u32 kMaxCompleted = 1u << 16;

struct OpenedFrame : Dissection {
  // Not empty: no RoCE or InfiniBand packet is in it, or none can be seen; what it is instead.
  std::string other;
  bool is_cut = false;  // the capture has less of the packet than was on the wire
  // Where the BTH is or, if it is cut, begins; 0: not reached.
  u32 transport_offset = 0;
  u32 packet_offset = 0;            // of its network header, or with what `starts_at` says
  Layer starts_at = Layer::Other;   // Ipv4, Ipv6, Grh, Lrh; Udp or Bth: what is before is missing
  u32 ethernet_offset = 0;          // of the innermost Ethernet header
  bool has_ethernet = false;        // there is one
  HeaderPlace partial{nullptr, 0};  // a header of which the frame has a part

  bool is_judged() const { return other.empty(); }
};

// `begins`: what the frame's first byte belongs to. `bytes_on_wire`: more than frame.size() if it
// was cut. What is judged of a cut frame depends only on bytes that are there.
OpenedFrame open_frame(std::span<const u8> frame, Layer begins, u32 bytes_on_wire);

// How well a frame reads as beginning with `begins`; None: not at all. For text, which does not
// say. Weak: by a bit or two. Named: another protocol's. Plausible: a BTH, with nothing that marks
// it. Reached: a BTH by way of its marks. Whole: with lengths that fit. Proved: by its ICRC.
enum class Fit : u8 { None, Weak, Named, Plausible, Reached, Whole, Proved };
Fit fit_of(std::span<const u8> frame, Layer begins);

}  // namespace hca::proto
