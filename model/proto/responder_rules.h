// SPDX-License-Identifier: Apache-2.0
// The responder's checks of 9.6 and 9.7 as one table: the first rule that a request breaks decides
// (T10, T12).
#pragma once
#include <array>
#include <span>
#include <utility>

#include "model/proto/memory_region.h"
#include "model/proto/path_rules.h"
#include "model/proto/pkey.h"
#include "model/proto/psn.h"
#include "model/proto/qp.h"
#include "model/proto/request_causes.h"
#include "model/proto/syndrome.h"

namespace hca::proto {
struct RequestView {
  const ParsedPacket& packet;
  std::span<const u8> frame;
  const QpConfig& qp;
  const ReceiveState& state;
  const Region* region;      // that the R_Key of its RETH or AtomicETH names, if it has one
  u32 reads_unfinished = 0;  // READs and ATOMICs accepted before whose responses have not all left
};
// The R_Key that a request is judged by, 0 if it has none.
inline u32 remote_key(const ParsedPacket& packet) {
  if (!packet.opcode) return 0;
  if (packet.has(Ext::Reth)) return packet.reth.rkey;
  return packet.has(Ext::AtomicEth) ? packet.atomic_eth.rkey : 0;
}

enum class RuleStage : u8 { Header, Order, Sequence, Support, Resource, Length, Access };

struct RequestRule {
  RuleStage stage;
  RequestCause cause;
  std::string_view statement;
  bool (*broken)(const RequestView&);
  RequestAction action;
  NakCode nak;
};

// T13: the states in which inbound requests are processed.
constexpr bool takes_requests(QpState state) {
  const bool takes = state == QpState::Rtr || state == QpState::Rts || state == QpState::Sqd;
  return constexpr_mutant<"states_ignored">() ||
         takes != entry_is_wrong<"requests", kQpStateNames>(state);
}

namespace request {
inline bool starts(Position p) { return p == Position::First || p == Position::Only; }
inline bool ends(Position p) { return p == Position::Last || p == Position::Only; }
inline InMessage kind(const OpcodeRow& row) {
  return row.operation == Operation::Send    ? InMessage::Send
         : row.operation == Operation::Write ? InMessage::Write
                                             : InMessage::None;
}
inline bool is_atomic(const OpcodeRow& row) {
  return row.operation == Operation::CompareSwap || row.operation == Operation::FetchAdd;
}
// One that takes an entry of the saved READs and ATOMICs (G29).
inline bool is_saved(const OpcodeRow& row) {
  return row.operation == Operation::ReadRequest || is_atomic(row);
}
// The right of the queue pair and of the key that a request needs (G31.1, G22.2).
inline u8 needed_access(const OpcodeRow& row) {
  switch (row.operation) {
    case Operation::Write:
      return kRemoteWrite;
    case Operation::ReadRequest:
      return kRemoteRead;
    case Operation::CompareSwap:
    case Operation::FetchAdd:
      return kRemoteAtomic;
    default:
      return 0;
  }
}
inline bool has_reth(const OpcodeRow& row) { return row.has(Ext::Reth); }
// G23.1: a receive WQE is taken by the first packet of a SEND, the last of a WRITE with Immediate.
inline bool takes_receive_wqe(const OpcodeRow& row) {
  if (row.operation == Operation::Write && mutant<"write_takes_wqe_at_first">())
    return starts(row.position);
  return row.operation == Operation::Send
             ? starts(row.position)
             : row.operation == Operation::Write && row.has(Ext::ImmDt);
}

inline bool wrong_service(const RequestView& v) {
  if (mutant<"cnp_taken_as_response">() && v.packet.bth.opcode == 0x81) return false;
  const unsigned bits = mutant<"service_low_blocks_only">() ? 3 : 7;
  return (v.packet.bth.opcode >> 5 & bits) != unsigned(v.qp.service);
}
// A request that takes the queue pair to Error ends it for all behind, before the state is Error
// (G7.4).
inline bool bad_state(const RequestView& v) {
  return !takes_requests(v.qp.state) || v.state.failing ||
         (mutant<"atomic_stalls_responder">() && v.state.nak_sent);
}
inline bool wrong_path(const RequestView& v) {
  return !comes_from_peer(v.qp.path, v.frame.data(), v.packet);
}
inline bool bad_pkey(const RequestView& v) {
  const Framing framing = v.packet.framing;
  if (mutant<"pkey_ignored_on_roce">() && !is_native(framing)) return false;
  if (mutant<"pkey_skipped_with_grh">() &&
      (framing == Framing::IbGlobal || framing == Framing::RoceV1))
    return false;
  if (mutant<"pkey_index_compared">() && v.qp.pkey_index) return true;
  return !pkey_match(v.packet.bth.pkey, v.qp.pkey);
}
inline PsnRegion region(const RequestView& v) { return psn_region(v.packet.bth.psn, v.state.epsn); }
inline bool duplicate(const RequestView& v) { return region(v) == PsnRegion::Duplicate; }
inline bool duplicate_read(const RequestView& v) {
  return v.packet.opcode && is_saved(*v.packet.opcode) && duplicate(v);
}
inline bool ahead_again(const RequestView& v) {
  return region(v) == PsnRegion::Ahead && v.state.nak_sent;
}
inline bool ahead(const RequestView& v) {
  if (mutant<"read_ahead_executed">() && v.packet.opcode && is_saved(*v.packet.opcode))
    return false;
  return region(v) == PsnRegion::Ahead;
}
inline bool out_of_sequence(const RequestView& v) {
  if (!v.packet.opcode) return false;  // the next stage refuses it
  const bool inside = v.state.message != InMessage::None,
             begins = starts(v.packet.opcode->position);
  if (inside && begins) return !mutant<"begins_inside_allowed">();
  if (!inside && !begins) return !mutant<"middle_taken_as_only">();
  return inside && kind(*v.packet.opcode) != v.state.message && !mutant<"kind_not_compared">();
}
inline bool unsupported(const RequestView& v) {
  const OpcodeRow* row = v.packet.opcode;
  if (mutant<"get_and_put_supported">() && row && row->has(Ext::Eoeth)) return false;
  if (!row || (kind(*row) == InMessage::None && !is_saved(*row))) return true;
  const u8 needed = needed_access(*row);
  return (v.qp.access & needed) != needed && !mutant<"qp_access_ignored">();  // G31.1
}
// G29.3, G29.4.
inline bool too_many_reads(const RequestView& v) {
  const u32 held = mutant<"finished_reads_count">() ? v.state.reads_accepted : v.reads_unfinished;
  const u32 depth = v.qp.max_dest_rd_atomic;
  return is_saved(*v.packet.opcode) && held >= depth + (mutant<"depth_0_is_1">() && !depth);
}
inline bool no_receive_wqe(const RequestView& v) {
  return takes_receive_wqe(*v.packet.opcode) && v.state.rq_posted == v.state.rq_consumed;
}
// C9-9.
inline bool too_long(u32 dma_len) { return dma_len > (u32{1} << 31) && !mutant<"dmalen_bound">(); }
// T7-l1 to T7-l3, T7-l8.
inline bool bad_length(const RequestView& v) {
  const u32 bytes = v.packet.payload_bytes, mtu = v.qp.path_mtu;
  if (is_saved(*v.packet.opcode))  // T7-l4; C9-9
    return (bytes && !mutant<"read_payload_allowed">()) ||
           (v.packet.has(Ext::Reth) && too_long(v.packet.reth.dma_len));
  const Position at = v.packet.opcode->position;
  const bool full = at == Position::First || at == Position::Middle;
  if (mutant<"se_in_middle_refused">() && full && v.packet.bth.solicited) return true;
  if (full && bytes != mtu) return bytes > mtu || !mutant<"full_test_off">();
  if (bytes > mtu + (mutant<"only_may_exceed_mtu">() ? 4 : 0)) return true;
  if (at == Position::Last && !bytes) return !mutant<"last_may_be_empty">();
  if (kind(*v.packet.opcode) != InMessage::Write) return false;
  const u32 left = starts(at) ? v.packet.reth.dma_len : v.state.write_left;
  if (too_long(left)) return true;
  if (mutant<"dmalen_not_compared">()) return false;
  return full ? left <= bytes : left != bytes;
}
inline u32 checked_atomic_bytes() { return mutant<"atomic_4_bytes_checked">() ? 4 : kAtomicBytes; }
inline bool misaligned(const RequestView& v) {
  return is_atomic(*v.packet.opcode) &&
         v.packet.atomic_eth.va % (mutant<"aligned_to_4">() ? 4 : kAtomicBytes);
}
// HDR-12, G22.3, G22.5: the whole DMALen is checked with the packet that carries the RETH.
inline bool bad_rkey(const RequestView& v) {
  const OpcodeRow& row = *v.packet.opcode;
  const u32 key = remote_key(v.packet);
  const Accessor who = accessor_of(v.qp);
  const u8 needed = needed_access(row);
  if (mutant<"key_bound_to_qp">() && key && v.qp.qpn % 2 == 0) return true;
  if (is_atomic(row))
    return !key_allows(v.region, key, who, v.packet.atomic_eth.va, checked_atomic_bytes(), needed);
  if (!has_reth(row)) return false;
  const bool by_packet = mutant<"dmalen_checked_per_packet">() && kind(row) == InMessage::Write;
  const u32 bytes = by_packet ? v.packet.payload_bytes : v.packet.reth.dma_len;
  return !key_allows(v.region, key, who, v.packet.reth.va, bytes, needed);
}
}  // namespace request

inline constexpr std::array kRequestRules{
    // clang-format off
    //          stage                cause                        statement     broken                    action                    NAK
    RequestRule{RuleStage::Header,   RequestCause::WrongService,  "C9-38",      request::wrong_service,   RequestAction::Drop,        {}},
    RequestRule{RuleStage::Header,   RequestCause::BadQpState,    "C9-37",      request::bad_state,       RequestAction::Drop,        {}},
    RequestRule{RuleStage::Header,   RequestCause::WrongPath,     "VAL-6",      request::wrong_path,      RequestAction::Drop,        {}},
    RequestRule{RuleStage::Header,   RequestCause::BadPkey,       "C9-43",      request::bad_pkey,        RequestAction::Drop,        {}},
    RequestRule{RuleStage::Order,    RequestCause::Duplicate,     "G3.3",       request::duplicate_read,  RequestAction::Repeat,      {}},
    RequestRule{RuleStage::Order,    RequestCause::Duplicate,     "G3.1",       request::duplicate,       RequestAction::Acknowledge, {}},
    RequestRule{RuleStage::Order,    RequestCause::NakPending,    "G2.3",       request::ahead_again,     RequestAction::Drop,        {}},
    RequestRule{RuleStage::Order,    RequestCause::PsnAhead,      "T10-8/RC",   request::ahead,           RequestAction::Nak,         NakCode::PsnSequenceError},
    RequestRule{RuleStage::Sequence, RequestCause::BadSequence,   "T10-9/RC",   request::out_of_sequence, RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{RuleStage::Support,  RequestCause::Unsupported,   "T10-2/RC",   request::unsupported,     RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{RuleStage::Resource, RequestCause::TooManyReads,  "T10-4/RC",   request::too_many_reads,  RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{RuleStage::Resource, RequestCause::NoReceiveWqe,  "G8.1",       request::no_receive_wqe,  RequestAction::RnrNak,      {}},
    RequestRule{RuleStage::Length,   RequestCause::BadLength,     "T10-16/RC",  request::bad_length,      RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{RuleStage::Access,   RequestCause::Misaligned,    "T10-3/RC",   request::misaligned,      RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{RuleStage::Access,   RequestCause::BadRkey,       "T10-5/RC",   request::bad_rkey,        RequestAction::NakAndFail,  NakCode::RemoteAccessError},
    // clang-format on
};
static_assert([] {
  for (std::size_t i = 1; i < kRequestRules.size(); ++i)
    if (kRequestRules[i].stage < kRequestRules[i - 1].stage) return false;
  return true;
}());

struct RequestVerdict {
  RequestAction action = RequestAction::Execute;
  RequestCause cause = RequestCause::Good;
  NakCode nak{};
  std::string_view statement{};
};

// The verdict of each rule, and behind them that of a request that breaks none.
inline constexpr auto kRequestVerdicts = [] {
  std::array<RequestVerdict, kRequestRules.size() + 1> verdicts{};
  for (std::size_t i = 0; i < kRequestRules.size(); ++i) {
    const RequestRule& rule = kRequestRules[i];
    verdicts[i] = {rule.action, rule.cause, rule.nak, rule.statement};
  }
  return verdicts;
}();

// The first broken rule; Execute if none is.
inline const RequestVerdict& judge_request(const RequestView& view) {
  std::size_t first = kRequestRules.size();
#ifdef HCA_MUTANTS
  static RequestVerdict changed;
  changed = kRequestVerdicts[first];
#endif
  const auto is_broken = [&]<std::size_t i>() {
    constexpr auto broken = kRequestRules[i].broken;  // a call that the compiler sees through
    if (row_is_off<kRequestRules, i>() || !broken(view)) return false;
    first = i;
#ifdef HCA_MUTANTS
    changed = kRequestVerdicts[i];
    changed.action = action_of_row<kRequestRules, i, kRequestActionNames>();
#endif
    return true;
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (void)(((row_goes_first<kRequestRules, i>() &&
             (view.packet.opcode || kRequestRules[i].stage <= RuleStage::Support) &&
             is_broken.template operator()<i>()) ||
            ...) ||
           (is_broken.template operator()<i>() || ...));
  }
  (std::make_index_sequence<kRequestRules.size()>{});
#ifdef HCA_MUTANTS
  return changed;
#endif
  return kRequestVerdicts[first];
}

// What a request does to the responder's state, and what the following stages need of it.
struct RequestEffect {
  u64 va = 0;  // WRITE: where the payload goes; READ, ATOMIC: what is read
  u32 rkey = 0;
  u32 receive_wqe = 0;  // the WQE that it takes or belongs to
  u32 byte_len = 0;     // WRITE with Immediate: DMALen of the message; READ: what is asked for
  u32 ack_psn = 0, msn = 0;
  u32 packets = 0;        // READ: of its response
  u32 free_receives = 0;  // receive WQEs that nobody has taken: the credits of the answer
  bool completes_message = false;
  bool congested = false;  // G26.1: the next answer has BECN 1
};

namespace request {
// READ or ATOMIC, new or repeated: what is read. Only a new one changes the state.
inline void accept_read(ReceiveState& s, const ParsedPacket& packet, u32 path_mtu, bool is_new,
                        RequestEffect& e) {
  const bool atomic = is_atomic(*packet.opcode);
  e.va = atomic ? packet.atomic_eth.va : packet.reth.va, e.rkey = remote_key(packet);
  e.byte_len = atomic ? checked_atomic_bytes() : packet.reth.dma_len;
  e.packets = atomic ? 1 : psns_of(e.byte_len, path_mtu);
  if (!is_new) return;
  s.epsn = psn_add(s.epsn, mutant<"epsn_plus_one_for_read">() ? 1 : e.packets);  // G2.2
  s.msn = psn_add(s.msn, !mutant<"read_not_counted">());                         // G5.2
  s.nak_sent = atomic && mutant<"atomic_stalls_responder">();
  ++s.reads_accepted, s.rq_consumed += mutant<"read_uses_receive">();
}
}  // namespace request

// T15-COMM_EST: true once, for the first packet that a queue pair in RTR takes.
inline bool take_established(ReceiveState& s) {
  return !std::exchange(s.established, true) || mutant<"comm_est_each_packet">();
}

// Applies a verdict (G2.2, G2.3, G5.2) and returns the effect.
inline RequestEffect apply(ReceiveState& s, const ParsedPacket& packet, const QpConfig& qp,
                           const RequestVerdict& v) {
  RequestEffect e;
  e.ack_psn = packet.bth.psn;
  e.congested = packet.bth.fecn && v.action != RequestAction::Drop &&
                (qp.options.congestion_control || mutant<"fecn_always_answered">());
  const bool reads = packet.opcode && request::is_saved(*packet.opcode);
  if (reads && (v.action == RequestAction::Execute || v.action == RequestAction::Repeat)) {
    request::accept_read(s, packet, qp.path_mtu, v.action == RequestAction::Execute, e);
  } else if (v.action == RequestAction::Execute) {
    const OpcodeRow& row = *packet.opcode;
    const bool last = request::ends(row.position);
    e.ack_psn = psn_sub(e.ack_psn, mutant<"ack_psn_one_less">());
    if (request::kind(row) == InMessage::Write) {
      if (request::has_reth(row)) {
        s.write_va = packet.reth.va, s.write_rkey = packet.reth.rkey;
        s.write_left = packet.reth.dma_len, s.write_bytes = packet.reth.dma_len;
      }
      e.va = s.write_va, e.rkey = s.write_rkey, e.byte_len = s.write_bytes;
      s.write_left -= packet.payload_bytes;
      if (!mutant<"write_va_not_advanced">()) s.write_va += packet.payload_bytes;
    }
    if (request::takes_receive_wqe(row)) ++s.rq_consumed;
    s.message = last && !mutant<"message_never_ends">() ? InMessage::None : request::kind(row);
    const bool writes = request::kind(row) == InMessage::Write;
    s.epsn = psn_add(s.epsn, !(mutant<"write_keeps_epsn">() && writes));
    s.nak_sent = false;
    if ((last && !(mutant<"write_not_counted">() && writes)) || mutant<"msn_per_packet">())
      s.msn = (s.msn + 1) & kPsnMask;
    e.completes_message = last;
  } else if (v.action == RequestAction::Acknowledge) {
    if (!mutant<"duplicate_ack_own_psn">()) e.ack_psn = psn_sub(s.epsn, 1);  // ePSN - 1 (G3.1)
    s.msn += mutant<"dup_counts_msn">();
  } else if (v.cause == RequestCause::PsnAhead) {
    if (!mutant<"nak_psn_is_received">()) e.ack_psn = s.epsn;  // G7.1
    s.nak_sent = true;
  } else if (v.action == RequestAction::RnrNak) {
    s.nak_sent =  // G2.5
        qp.options.gap_after_rnr == GapAfterRnr::Drop && !mutant<"rnr_does_not_suppress">();
  } else if (v.action == RequestAction::Drop) {
    s.rq_consumed += mutant<"drop_takes_wqe">();
    s.epsn += mutant<"drop_moves_epsn">();
  }
  s.failing |= v.action == RequestAction::NakAndFail;
  s.reads_accepted +=
      reads && v.action == RequestAction::NakAndFail && mutant<"refused_atomic_counted">();
  e.receive_wqe = s.rq_consumed - 1;
  e.receive_wqe -= mutant<"receive_wqe_stays">() && e.receive_wqe;
  e.free_receives = s.rq_posted - s.rq_consumed;
  e.msn = s.msn;
  const bool refused = v.action == RequestAction::Nak || v.action == RequestAction::NakAndFail ||
                       v.action == RequestAction::RnrNak;
  if (refused && mutant<"nak_msn_plus_one">()) e.msn = psn_add(e.msn, 1);
  return e;
}

// The AETH of the answer (T5). With the option `credits` it tells the free receive WQEs, else that
// they are not counted (G6.1).
inline u8 answer_syndrome(const RequestVerdict& v, const RequestEffect& e, const QpConfig& qp) {
  if (v.action == RequestAction::RnrNak) return rnr_syndrome(qp.min_rnr_timer);
  if (v.action == RequestAction::Nak || v.action == RequestAction::NakAndFail)
    return nak_syndrome(NakCode(u8(v.nak) ^ entry_is_wrong<"nak", kRequestCauseNames>(v.cause)));
  return ack_syndrome(qp.options.credits || mutant<"credits_always">()
                          ? credit_code(e.free_receives)
                          : kCreditsUnused);
}
}  // namespace hca::proto
