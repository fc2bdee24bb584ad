// SPDX-License-Identifier: Apache-2.0
// The PSNs of a requester: those of each message, the outstanding ones, and the position of
// go-back-N (G1, G11, G12). rtl/requester_psn/requester_psn.sv does the same.
#pragma once
#include "model/proto/transport/psn.h"

namespace hca::proto {
// The number of PSNs in [from, to), if `to` is not before `from`: 0 .. 2^24-1.
constexpr u32 psns_between(Psn from, Psn to) { return (to - from) & kPsnMask; }

// The PSNs of a packet: one; for a READ request those of all its responses.
struct PsnRange {
  Psn first;
  u32 count;
  constexpr Psn end() const { return psn_add(first, count); }
};
// The packet at PSN `index` of a message with `packets` PSNs from `first` on. `whole`: it covers
// all remaining PSNs, like a READ from its beginning or from the point of its repetition (G11.5).
constexpr PsnRange psns_of_packet(Psn first, u32 packets, u32 index, bool whole) {
  return {psn_add(first, index), whole ? packets - index : 1};
}

// Modulo 2^24: unacked_psn .. send_psn .. sent_psn .. next_psn, at most kPsnWindow from end to end.
struct SendPsns {
  Psn next_psn = 0;     // of the next new message (G1.1)
  Psn unacked_psn = 0;  // oldest unacknowledged: u of G12.1
  Psn sent_psn = 0;     // next PSN never sent: s of G12.1
  Psn send_psn = 0;     // next PSN to send: before sent_psn while going back

  bool anything_unacked() const { return unacked_psn != sent_psn; }
  bool repeats() const { return send_psn != sent_psn; }
  // u .. s-1 (G12.1).
  bool is_outstanding(Psn psn) const {
    const u32 sent = psns_between(unacked_psn, sent_psn);
    return psns_between(unacked_psn, psn) < sent;
  }
  // The newest acknowledged PSN: an ACK of it may bring credits (C9-217).
  bool is_newest_acked(Psn psn) const { return psn == psn_sub(unacked_psn, 1); }
  // True if a message of this many PSNs would put more than 2^23 between the oldest unacknowledged
  // and the newest (G1.4).
  bool is_full(u32 packets) const {
    return psns_between(unacked_psn, next_psn) + packets > kPsnWindow;
  }

  // Nothing is sent yet; the first message begins at `first` (G1.1).
  void start(Psn first) { next_psn = unacked_psn = sent_psn = send_psn = first; }
  // Allocates the PSNs of a message and returns the first one (G1.2).
  Psn take(u32 packets) {
    const Psn first = next_psn;
    next_psn = psn_add(next_psn, packets);
    return first;
  }
  // A packet is sent; returns false for a repetition. The repeated PSNs may already be
  // acknowledged.
  bool send(const PsnRange& packet) {
    const Psn behind = packet.end();
    if (packet.first == send_psn || psn_distance(send_psn, behind) > 0) send_psn = behind;
    if (packet.first != sent_psn) return false;
    sent_psn = behind;
    return true;
  }
  // All before `psn` is acknowledged, and not repeated; true if that is progress. Counted from the
  // oldest unacknowledged PSN: a whole window is half of all PSNs.
  bool acknowledge(Psn psn) {
    const u32 acked = psns_between(unacked_psn, psn);
    if (psns_between(unacked_psn, send_psn) < acked) send_psn = psn;
    unacked_psn = psn;
    return acked;
  }
  // Continues at `psn` (class A).
  void go_back(Psn psn) { send_psn = psn; }
};
}  // namespace hca::proto
