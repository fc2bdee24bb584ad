// SPDX-License-Identifier: Apache-2.0
// Loss recovery as a policy: the packets that a requester sends next, the effects of NAKs and the
// timer on them, and whether a responder keeps a packet ahead of the one that it expects.
//
// The specification has go-back-N. Selective repeat is an extension of this model and conforms to
// no specification: docs/design/selective_repeat.md.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>

#include "model/proto/transport/qp.h"
#include "model/proto/transport/syndrome.h"

namespace hca::proto {
constexpr Psn later_psn(Psn a, Psn b) { return psn_distance(a, b) > 0 ? b : a; }

// Everything from the missing packet on is sent again; a responder drops packets that are ahead.
struct GoBackN {
  struct Record {};  // nothing is recorded of single packets

  static bool may_send(const SendPsns&, const QpConfig&, Psn) { return true; }
  static bool asks(const QpConfig&, Psn) { return false; }
  static void on_sent(SendPsns&, Record&, const PsnRange&, bool) {}
  static void on_acknowledged(SendPsns&, Record&, Psn) {}
  static void on_nak(SendPsns& s, Record&, const PsnRange& missing) { s.go_back(missing.first); }
  static void on_refused(SendPsns& s, Record&, const PsnRange& packet) { s.go_back(packet.first); }
  static bool on_selective_nak(SendPsns&, Record&, const PsnRange&) { return false; }
  static void on_migrated(SendPsns&, Record&) {}
  static bool keeps(const QpConfig&, Psn, Psn) { return false; }
};

// The requester's record of the single packets of a connection.
struct LossRecord {
  // By PSN modulo their number, from the oldest unacknowledged one on: the responder keeps it.
  std::array<u64, kMostReordered / 64> kept{};
  Psn lost_end = 0;      // packets before it that are not kept are lost
  Psn repeated_end = 0;  // lost packets before it are sent again
  Psn new_since = 0;     // the first packet that is sent for the first time after that
  bool begun = false;

  bool is_kept(const SendPsns& s, Psn psn) const {
    return psns_between(s.unacked_psn, psn) < kMostReordered && bit(psn);
  }
  void mark(Psn first, u32 count, bool is_kept) {
    for (u32 i = 0; i < std::min(count, kMostReordered); ++i) {
      const u32 at = psn_add(first, i) % kMostReordered;
      const u64 mask = u64{1} << at % 64;
      kept[at / 64] = is_kept ? kept[at / 64] | mask : kept[at / 64] & ~mask;
    }
  }
  // The first lost packet from `from` on; if there is none, the next one never sent.
  Psn next_lost(const SendPsns& s, Psn from) const {
    for (Psn psn = from; psn_distance(psn, lost_end) > 0; psn = psn_add(psn, 1))
      if (!is_kept(s, psn)) return psn;
    return s.sent_psn;
  }
  // Packets before the oldest unacknowledged one are forgotten.
  void pass(const SendPsns& s) {
    lost_end = begun ? later_psn(lost_end, s.unacked_psn) : s.unacked_psn;
    repeated_end = begun ? later_psn(repeated_end, s.unacked_psn) : s.unacked_psn;
    new_since = begun ? later_psn(new_since, s.unacked_psn) : s.unacked_psn;
    begun = true;
  }

 private:
  bool bit(Psn psn) const {
    return kept[psn % kMostReordered / 64] >> psn % kMostReordered % 64 & 1;
  }
};

// Only missing packets are sent again. A responder keeps packets that are ahead, within a window
// from the expected packet on, and reports them; the requester has no more than that window in
// flight.
struct SelectiveRepeat {
  using Record = LossRecord;

  static bool may_send(const SendPsns& s, const QpConfig& qp, Psn psn) {
    return psns_between(s.unacked_psn, psn) < qp.options.reorder_window;
  }
  // AckReq is set not only in the last packets of messages: so the window moves on within a long
  // one.
  static bool asks(const QpConfig& qp, Psn psn) {
    return psn % std::max(1, qp.options.reorder_window / 4) == 0;
  }
  static void on_sent(SendPsns& s, Record& r, const PsnRange& packet, bool is_new) {
    r.pass(s);
    if (is_new) return;
    r.repeated_end = later_psn(r.repeated_end, packet.end());
    r.new_since = s.sent_psn;
    aim(s, r);
  }
  // `before`: the previous oldest unacknowledged PSN.
  static void on_acknowledged(SendPsns& s, Record& r, Psn before) {
    r.mark(before, psns_between(before, s.unacked_psn), false);
    r.pass(s);
    aim(s, r);
  }
  // A sequence NAK, or the timer: everything is sent again that the responder is not known to keep.
  static void on_nak(SendPsns& s, Record& r, const PsnRange& missing) {
    on_refused(s, r, missing);
    r.lost_end = s.sent_psn;
  }
  // An RNR NAK, or a missing response: this packet is sent again, and packets after it that are
  // known to be lost.
  static void on_refused(SendPsns& s, Record& r, const PsnRange& packet) {
    r.pass(s);
    r.mark(packet.first, packet.count, false);
    r.lost_end = later_psn(r.lost_end, psn_add(packet.first, 1));
    r.repeated_end = packet.first;
    s.go_back(packet.first);
  }
  // The responder keeps this packet and lacks others before it. True: the requester goes back to
  // them: once, and again when a packet came that left after the repetition.
  static bool on_selective_nak(SendPsns& s, Record& r, const PsnRange& kept) {
    r.pass(s);
    const u32 ahead = psns_between(s.unacked_psn, kept.first);
    if (!s.is_outstanding(kept.first) || ahead >= kMostReordered) return false;
    r.mark(kept.first, std::min(kept.count, kMostReordered - ahead), true);
    r.lost_end = later_psn(r.lost_end, kept.first);
    if (s.repeats()) return false;  // the lost packets follow
    if (psn_distance(r.new_since, kept.first) >= 0) r.repeated_end = s.unacked_psn;
    const Psn lost = r.next_lost(s, r.repeated_end);
    if (lost == s.sent_psn) return false;
    s.go_back(lost);
    return true;
  }
  // The responder drops what it kept, because it came over the old path: all of it is sent again.
  static void on_migrated(SendPsns& s, Record& r) {
    r.kept = {};
    r.pass(s);
    r.repeated_end = s.unacked_psn;
  }
  static bool keeps(const QpConfig& qp, Psn expected, Psn psn) {
    return psns_between(expected, psn) < qp.options.reorder_window;
  }

 private:
  // While packets are repeated: moves to the next lost packet.
  static void aim(SendPsns& s, const Record& r) {
    if (s.repeats()) s.send_psn = r.next_lost(s, later_psn(s.send_psn, s.unacked_psn));
  }
};

template <class P>
concept RecoveryPolicy = requires(SendPsns& s, typename P::Record& r, const QpConfig& qp,
                                  const PsnRange& packet, Psn psn) {
  { P::may_send(s, qp, psn) } -> std::same_as<bool>;
  { P::asks(qp, psn) } -> std::same_as<bool>;
  P::on_sent(s, r, packet, true);
  P::on_acknowledged(s, r, psn);
  P::on_nak(s, r, packet);
  P::on_refused(s, r, packet);
  { P::on_selective_nak(s, r, packet) } -> std::same_as<bool>;
  P::on_migrated(s, r);
  { P::keeps(qp, psn, psn) } -> std::same_as<bool>;
};
static_assert(RecoveryPolicy<GoBackN> && RecoveryPolicy<SelectiveRepeat>);

// The policy does not matter for a service without repetitions.
inline Recovery recovery_of(const QpConfig& qp) {
  return qp.reliable ? qp.options.recovery : Recovery::GoBackN;
}
// Calls fn(policy): a static choice, with go-back-N in line.
template <class Fn>
[[gnu::always_inline]] inline decltype(auto) by_recovery(Recovery recovery, Fn&& fn) {
  if (recovery == Recovery::GoBackN) [[likely]]
    return fn(GoBackN{});
  return fn(SelectiveRepeat{});
}

// A NAK whose PSN acknowledges all packets before it, and whose MSN is the PSN of a kept packet.
inline bool is_selective_nak(const QpConfig& qp, u8 syndrome) {
  return syndrome == nak_syndrome(kSelectiveNak) && recovery_of(qp) == Recovery::SelectiveRepeat;
}
// The packets that a NAK or the timer requests again from `psn` on: one packet of `m`; a READ
// counts as a whole.
inline PsnRange packet_at(const SentMessage& m, Psn psn) {
  return {psn, m.answer == Answer::Read ? psns_between(psn, m.end_psn()) : 1};
}
}  // namespace hca::proto
