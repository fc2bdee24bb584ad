// SPDX-License-Identifier: Apache-2.0
// The responder's checks of 9.6 and 9.7 as one table: the first rule that a request breaks decides
// (T10, T12).
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "model/proto/memory/key.h"
#include "model/proto/transport/path_rules.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/psn.h"
#include "model/proto/transport/rd_rules.h"
#include "model/proto/transport/remote_memory.h"
#include "model/proto/transport/request_causes.h"
#include "model/proto/transport/syndrome.h"

namespace hca::proto {

enum class RuleStage : u8 { Header, Order, Sequence, Support, Resource, Length, Access };
inline constexpr std::array kRuleStages{
    RuleStage::Header,   RuleStage::Order,  RuleStage::Sequence, RuleStage::Support,
    RuleStage::Resource, RuleStage::Length, RuleStage::Access};

struct RequestRule {
  Services services;
  RuleStage stage;
  RequestCause cause;
  std::string_view statement;
  bool (*broken)(const RequestView&);
  RequestAction action;
  NakCode nak;
};

namespace request {
inline bool takes_receive_wqe(const OpcodeRow& row) { return row.takes_receive(); }

inline bool wrong_service(const RequestView& v) {
  return (v.packet.bth.opcode >> 5) != unsigned(v.qp.service);
}
// G24.1: a request to an initiator of XRC, or a response to a target.
inline bool wrong_side(const RequestView& v) {
  const bool answers = v.packet.opcode && !v.packet.opcode->is_request;
  return answers ? !has_requester(v.qp) : !has_responder(v.qp);
}
// VAL-9; packets of reserved opcodes and responses have no XRCETH.
inline bool names_xrc_srq(const RequestView& v) {
  return v.packet.opcode && v.packet.has(Ext::XrcEth);
}
inline bool no_xrc_srq(const RequestView& v) {
  return names_xrc_srq(v) && (!v.shared || !v.shared->is_xrc());
}
inline bool wrong_xrc_domain(const RequestView& v) {
  return names_xrc_srq(v) && v.shared->xrcd != v.qp.xrcd;
}
// G24.5: a later packet of a message names another SRQ than the first one.
inline bool changes_xrc_srq(const RequestView& v) {
  const bool inside = names_xrc_srq(v) && v.state.message != InMessage::None &&
                      !begins_message(v.packet.opcode->position);
  return inside && v.packet.xrc_eth.xrc_srq != v.state.xrc_srqn &&
         v.qp.options.xrc_srq_change == XrcSrqChange::Refuse;
}
// A request that takes the queue pair to Error ends it for all later ones, even before the state is
// Error (G7.4).
inline bool bad_state(const RequestView& v) {
  return !takes_requests(v.qp.state) || v.state.failing;
}
inline bool wrong_path(const RequestView& v) {
  return !comes_from_peer(v.qp.path, v.frame.data(), v.packet);
}
// C9-56: all forbidden addresses of a datagram's sender.
inline bool from_group(const RequestView& v) { return comes_from_group(v.frame.data(), v.packet); }
inline bool bad_pkey(const RequestView& v) { return !pkey_match(v.packet.bth.pkey, v.qp.pkey); }
// G27.2, G27.3: VL 15 is only for QP 0, and QP 0 uses only VL 15.
inline bool wrong_vl(const RequestView& v) {
  if (!is_native(v.packet.framing)) return false;
  const bool is_lane = v.frame[0] >> 4 == kQp0Lane;
  if (is_lane) return v.qp.qpn != kQp0;
  return v.qp.qpn == kQp0;
}
// C9-41, C9-42, C9-43.
inline bool bad_datagram_pkey(const RequestView& v) {
  if (v.qp.qpn == kQp0) return false;
  if (v.qp.qpn == kQp1 && v.port) return !find_pkey(v.port->pkeys, v.packet.bth.pkey);
  return bad_pkey(v);
}
// C9-48, C9-49, C9-50; a packet of a reserved opcode has no DETH.
inline bool bad_qkey(const RequestView& v) {
  if (!v.packet.opcode) return false;  // a later stage refuses it
  if (v.qp.qpn == kQp0) return false;
  return v.packet.deth.qkey != own_qkey(v.qp);
}
inline PsnRegion region(const RequestView& v) { return psn_region(v.packet.bth.psn, v.state.epsn); }
inline bool duplicate(const RequestView& v) { return region(v) == PsnRegion::Duplicate; }
inline bool duplicate_read(const RequestView& v) {
  return v.packet.opcode && v.packet.opcode->traits().is_saved() && duplicate(v);
}
inline bool ahead_again(const RequestView& v) {
  return region(v) == PsnRegion::Ahead && v.state.nak_sent && !is_resync(v);
}
inline bool ahead(const RequestView& v) {
  if (is_resync(v)) return false;
  return region(v) == PsnRegion::Ahead;
}
inline bool out_of_sequence(const RequestView& v) {
  if (!v.packet.opcode) return false;  // the next stage refuses it
  const bool inside = v.state.message != InMessage::None,
             begins = begins_message(v.packet.opcode->position);
  if (inside && begins) return true;
  if (!inside && !begins) return true;
  return inside && v.packet.opcode->traits().message != v.state.message;
}
// EXT-5.
inline bool leaves_put(const RequestView& v) {
  return v.packet.opcode && extended::leaves_message(v.packet, v.state, v.qp.options);
}
// RD: the same; a RESYNC may come at any time (RSY-3).
inline bool rd_out_of_sequence(const RequestView& v) {
  return !is_resync(v) && (out_of_sequence(v) || changes_queue_pair(v) || leaves_put(v));
}
// UC, G14.2: a packet after a gap that begins no message.
inline bool begins(const RequestView& v) {
  return v.packet.opcode && begins_message(v.packet.opcode->position);
}
inline bool behind_gap(const RequestView& v) {
  return region(v) != PsnRegion::Expected && !begins(v);
}
// UC, G14.3: a packet that belongs to no message; First and Only begin one in any case.
inline bool continues_nothing(const RequestView& v) {
  if (!v.packet.opcode) return false;  // the next stage refuses it
  if (begins(v)) return false;
  return v.state.message != v.packet.opcode->traits().message;
}
// Reserved placement types and selectivities, and a FLUSH without a placement type ([U]).
inline bool bad_flush(const ParsedPacket& packet) {
  if (!packet.has(Ext::Feth)) [[likely]]
    return false;
  const u8 placement = packet.feth.placement_type;
  return !placement || placement & ~(kPlaceGlobal | kPlacePersistent) ||
         packet.feth.selectivity > kFlushRegion;
}
[[gnu::always_inline]] inline bool unsupported(const RequestView& v) {
  const OpcodeRow* row = v.packet.opcode;
  if (!row || !has(v.qp.options, row->traits().capability) || bad_flush(v.packet)) return true;
  if (row->is_class()) [[unlikely]]
    return true;  // EXT-6: an unknown Extended OpCode
  const Rights needed = needed_rights(v.packet);
  return (v.qp.access & needed) != needed;  // G31.1
}
// G29.3, G29.4.
inline bool too_many_reads(const RequestView& v) {
  const u32 held = v.reads_unfinished;
  const u32 depth = v.qp.max_dest_rd_atomic;
  return v.packet.opcode->traits().is_saved() && held >= depth;
}
inline bool no_receive_wqe(const RequestView& v) {
  return takes_receive_wqe(*v.packet.opcode) && v.state.rq_posted == v.state.rq_consumed;
}
// C9-9.
inline bool shared_queue_failed(const RequestView& v) {
  return v.state.shared_failed && takes_receive_wqe(*v.packet.opcode);
}
// Unreliable service with an SRQ: its WQEs are taken in order of arrival (G23.1).
inline bool lacks_shared_wqe(const RequestView& v) { return uses_srq(v.qp) && no_receive_wqe(v); }
inline bool too_long(u32 dma_len) { return dma_len > (u32{1} << 31); }
// T7-l4, T7-l5, EXT-8; C9-9.
inline bool bad_saved_length(const ParsedPacket& packet, const TransportOptions& options) {
  const u32 exact = packet.opcode->traits().exact_bytes;
  if (!payload_length_ok(packet.opcode->payload, packet.payload_bytes, 0)) return true;
  if (!packet.has(Ext::Reth)) return false;
  if (packet.has(Ext::Eoeth) && extended::bad_new_get(packet, options)) return true;
  return exact ? packet.reth.dma_len != exact : too_long(packet.reth.dma_len);
}
// T7-l1 to T7-l3, T7-l8.
[[gnu::always_inline]] inline bool bad_length(const RequestView& v) {
  const u32 bytes = v.packet.payload_bytes, mtu = v.qp.path_mtu;
  if (v.packet.opcode->traits().is_saved()) return bad_saved_length(v.packet, v.qp.options);
  const Position at = v.packet.opcode->position;
  const bool full = at == Position::First || at == Position::Middle;
  if (full && bytes != mtu) return true;
  if (bytes && is_resync(v)) return true;
  if (bytes > mtu) return true;
  if (at == Position::Last && !bytes) return true;
  if (!v.packet.opcode->traits().places_payload()) return false;
  if (v.packet.has(Ext::Eoeth) && extended::bad_put_response(v.packet, v.qp.options)) return true;
  const u32 left = begins_message(at) ? v.packet.reth.dma_len : v.state.write_left;
  if (too_long(left)) return true;
  return full ? left <= bytes : left != bytes;
}
inline bool misaligned(const RequestView& v) {
  return v.packet.opcode->traits().is_aligned() && remote_bytes(v.packet).va % kAtomicBytes;
}
// HDR-12, G22.3, G22.5: the packet with the RETH is checked for the whole DMALen.
[[gnu::noinline]] inline bool refuses_key(const RequestView& v) {
  const OpcodeRow& row = *v.packet.opcode;
  const u32 key = remote_key(v.packet);
  const Accessor who = remote_accessor(v.qp, v.shared);
  const Rights needed = needed_rights(v.packet);
  if (row.traits().is_atomic())
    return !key_allows(v.region, key, who, v.packet.atomic_eth.va, kAtomicBytes, needed);
  if (!row.has(Ext::Reth)) return false;
  if (names_whole_region(v.packet))
    return !key_allows(v.region, key, who, v.region ? v.region->start : 0, 0, needed, true);
  return !key_allows(v.region, key, who, v.packet.reth.va, v.packet.reth.dma_len, needed);
}
inline bool bad_rkey(const RequestView& v) {
  const OpcodeRow& row = *v.packet.opcode;
  const bool names = row.has(Ext::Reth) && begins_message(row.position);
  return (names || row.traits().is_atomic()) && refuses_key(v);
}
}  // namespace request

inline constexpr std::array kRequestRules{
    // clang-format off
    //          services    stage                cause                            statement     broken                        action                      NAK
    RequestRule{kWithoutContext, RuleStage::Header, RequestCause::WrongService,    "C9-38",      request::wrong_service,       RequestAction::Drop,        {}},
    RequestRule{kXrc,       RuleStage::Header,   RequestCause::WrongService,      "G24.1",      request::wrong_side,          RequestAction::Drop,        {}},
    RequestRule{kWithoutContext, RuleStage::Header, RequestCause::BadQpState,      "C9-37",      request::bad_state,           RequestAction::Drop,        {}},
    RequestRule{kRd,        RuleStage::Header,   RequestCause::BadQpState,        "T8-2",       request::bad_state,           RequestAction::Drop,        {}},
    RequestRule{kConnected, RuleStage::Header,   RequestCause::WrongPath,         "VAL-6",      request::wrong_path,          RequestAction::Drop,        {}},
    RequestRule{kUd,        RuleStage::Header,   RequestCause::WrongPath,         "C9-56",      request::from_group,          RequestAction::Drop,        {}},
    RequestRule{kSenders,   RuleStage::Header,   RequestCause::WrongVl,           "G27.2",      request::wrong_vl,            RequestAction::Drop,        {}},
    RequestRule{kConnected, RuleStage::Header,   RequestCause::BadPkey,           "C9-43",      request::bad_pkey,            RequestAction::Drop,        {}},
    RequestRule{kUd,        RuleStage::Header,   RequestCause::BadPkey,           "T10-13/UD",  request::bad_datagram_pkey,   RequestAction::Drop,        {}},
    RequestRule{kUd,        RuleStage::Header,   RequestCause::BadQkey,           "T10-12/UD",  request::bad_qkey,            RequestAction::Drop,        {}},
    RequestRule{kRd,        RuleStage::Header,   RequestCause::NoRdQueue,         "T10-14/RD",  request::no_rd_queue,         RequestAction::Nak,         NakCode::InvalidRdRequest},
    RequestRule{kRd,        RuleStage::Header,   RequestCause::WrongRdDomain,     "T10-11/RD",  request::wrong_rd_domain,     RequestAction::Nak,         NakCode::InvalidRdRequest},
    RequestRule{kRd,        RuleStage::Header,   RequestCause::BadQkey,           "T10-12/RD",  request::bad_rd_qkey,         RequestAction::Nak,         NakCode::InvalidRdRequest},
    RequestRule{kReliable,  RuleStage::Order,    RequestCause::Duplicate,         "G3.3",       request::duplicate_read,      RequestAction::Repeat,      {}},
    RequestRule{kReliable,  RuleStage::Order,    RequestCause::Duplicate,         "G3.1",       request::duplicate,           RequestAction::Acknowledge, {}},
    RequestRule{kReliable,  RuleStage::Order,    RequestCause::NakPending,        "G2.3",       request::ahead_again,         RequestAction::Drop,        {}},
    RequestRule{kRc,        RuleStage::Order,    RequestCause::PsnAhead,          "T10-8/RC",   request::ahead,               RequestAction::Nak,         NakCode::PsnSequenceError},
    RequestRule{kXrc,       RuleStage::Order,    RequestCause::PsnAhead,          "T10-8/XRC",  request::ahead,               RequestAction::Nak,         NakCode::PsnSequenceError},
    RequestRule{kRd,        RuleStage::Order,    RequestCause::PsnAhead,          "T10-8/RD",   request::ahead,                RequestAction::Nak,         NakCode::PsnSequenceError},
    RequestRule{kUc,        RuleStage::Order,    RequestCause::PsnAhead,          "T10-8/UC",   request::behind_gap,          RequestAction::Abandon,     {}},
    RequestRule{kXrc,       RuleStage::Sequence, RequestCause::NoXrcSrq,          "T10-21/XRC", request::no_xrc_srq,          RequestAction::NakAndFail,  NakCode::InvalidRdRequest},
    RequestRule{kXrc,       RuleStage::Sequence, RequestCause::WrongXrcDomain,    "T10-22/XRC", request::wrong_xrc_domain,    RequestAction::NakAndFail,  NakCode::InvalidRdRequest},
    RequestRule{kXrc,       RuleStage::Sequence, RequestCause::NoXrcSrq,          "G24.5",      request::changes_xrc_srq,     RequestAction::NakAndFail,  NakCode::InvalidRdRequest},
    RequestRule{kRc,        RuleStage::Sequence, RequestCause::BadSequence,       "T10-9/RC",   request::out_of_sequence,     RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kXrc,       RuleStage::Sequence, RequestCause::BadSequence,       "T10-9/XRC",  request::out_of_sequence,     RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRc | kXrc, RuleStage::Sequence, RequestCause::BadSequence,       "EXT-5",      request::leaves_put,          RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRd,        RuleStage::Sequence, RequestCause::BadSequence,       "T10-9/RD",   request::rd_out_of_sequence,   RequestAction::NakAndEnd,   NakCode::InvalidRequest},
    RequestRule{kUc,        RuleStage::Sequence, RequestCause::BadSequence,       "T10-10/UC",  request::continues_nothing,   RequestAction::Abandon,     {}},
    RequestRule{kRc,        RuleStage::Support,  RequestCause::Unsupported,       "T10-2/RC",   request::unsupported,         RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kXrc,       RuleStage::Support,  RequestCause::Unsupported,       "T10-2/XRC",  request::unsupported,         RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRd,        RuleStage::Support,  RequestCause::Unsupported,       "T10-2/RD",   request::unsupported,          RequestAction::NakAndEnd,   NakCode::InvalidRequest},
    RequestRule{kUc,        RuleStage::Support,  RequestCause::Unsupported,       "T10-2/UC",   request::unsupported,         RequestAction::Abandon,     {}},
    RequestRule{kUd,        RuleStage::Support,  RequestCause::Unsupported,       "T10-2/UD",   request::unsupported,         RequestAction::Drop,        {}},
    RequestRule{kRc,        RuleStage::Resource, RequestCause::TooManyReads,      "T10-4/RC",   request::too_many_reads,      RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kXrc,       RuleStage::Resource, RequestCause::TooManyReads,      "T10-4/XRC",  request::too_many_reads,      RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRd,        RuleStage::Resource, RequestCause::TooManyReads,      "T10-4/RD",   request::too_many_reads,       RequestAction::NakAndEnd,   NakCode::InvalidRequest},
    RequestRule{kRc,        RuleStage::Resource, RequestCause::SharedQueueFailed, "T10-20/RC",  request::shared_queue_failed, RequestAction::NakAndFail,  NakCode::RemoteOperationalError},
    RequestRule{kXrc,       RuleStage::Resource, RequestCause::SharedQueueFailed, "T10-20/XRC", request::shared_queue_failed, RequestAction::NakAndFail,  NakCode::RemoteOperationalError},
    RequestRule{kUc,        RuleStage::Resource, RequestCause::SharedQueueFailed, "T10-20/UC",  request::shared_queue_failed, RequestAction::Fail,        {}},
    RequestRule{kUd,        RuleStage::Resource, RequestCause::SharedQueueFailed, "T10-20/UD",  request::shared_queue_failed, RequestAction::Fail,        {}},
    RequestRule{kUd,        RuleStage::Resource, RequestCause::NoReceiveWqe,      "G15.5",      request::lacks_shared_wqe,    RequestAction::Drop,        {}},
    RequestRule{kUc,        RuleStage::Resource, RequestCause::NoReceiveWqe,      "G23.3",      request::lacks_shared_wqe,    RequestAction::Abandon,     {}},
    RequestRule{kReliable,  RuleStage::Resource, RequestCause::NoReceiveWqe,      "G8.1",       request::no_receive_wqe,      RequestAction::RnrNak,      {}},
    RequestRule{kRc,        RuleStage::Length,   RequestCause::BadLength,         "T10-16/RC",  request::bad_length,          RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kXrc,       RuleStage::Length,   RequestCause::BadLength,         "T10-16/XRC", request::bad_length,          RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRd,        RuleStage::Length,   RequestCause::BadLength,         "T10-16/RD",  request::bad_length,           RequestAction::NakAndEnd,   NakCode::InvalidRequest},
    RequestRule{kUc,        RuleStage::Length,   RequestCause::BadLength,         "T10-16/UC",  request::bad_length,          RequestAction::Abandon,     {}},
    RequestRule{kUd,        RuleStage::Length,   RequestCause::BadLength,         "T10-16/UD",  request::bad_length,          RequestAction::Drop,        {}},
    RequestRule{kRc,        RuleStage::Access,   RequestCause::Misaligned,        "T10-3/RC",   request::misaligned,          RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kXrc,       RuleStage::Access,   RequestCause::Misaligned,        "T10-3/XRC",  request::misaligned,          RequestAction::NakAndFail,  NakCode::InvalidRequest},
    RequestRule{kRd,        RuleStage::Access,   RequestCause::Misaligned,        "T10-3/RD",   request::misaligned,           RequestAction::NakAndEnd,   NakCode::InvalidRequest},
    RequestRule{kRc,        RuleStage::Access,   RequestCause::BadRkey,           "T10-5/RC",   request::bad_rkey,            RequestAction::NakAndFail,  NakCode::RemoteAccessError},
    RequestRule{kXrc,       RuleStage::Access,   RequestCause::BadRkey,           "T10-5/XRC",  request::bad_rkey,            RequestAction::NakAndFail,  NakCode::RemoteAccessError},
    RequestRule{kRd,        RuleStage::Access,   RequestCause::BadRkey,           "T10-5/RD",   request::bad_rkey,             RequestAction::NakAndEnd,   NakCode::RemoteAccessError},
    RequestRule{kUc,        RuleStage::Access,   RequestCause::BadRkey,           "T10-5/UC",   request::bad_rkey,            RequestAction::Abandon,     {}},
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

// The verdict of each rule, and at the end that of a request that breaks none.
inline constexpr auto kRequestVerdicts = [] {
  std::array<RequestVerdict, kRequestRules.size() + 1> verdicts{};
  for (std::size_t i = 0; i < kRequestRules.size(); ++i) {
    const RequestRule& rule = kRequestRules[i];
    verdicts[i] = {rule.action, rule.cause, rule.nak, rule.statement};
  }
  return verdicts;
}();

// The first broken rule of a service; Execute if there is none.
template <Service service>
const RequestVerdict& judge_request_of(const RequestView& view) {
  std::size_t first = kRequestRules.size();
  const auto is_broken = [&]<std::size_t i>() __attribute__((always_inline)) {
    if constexpr (!includes(kRequestRules[i].services, service)) return false;
    constexpr auto broken = kRequestRules[i].broken;  // a call that the compiler can inline
    if (!broken(view)) [[likely]]
      return false;
    first = i;
    return true;
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (void)(is_broken.template operator()<i>() || ...);
  }
  (std::make_index_sequence<kRequestRules.size()>{});
  return kRequestVerdicts[first];
}
// For a service without a responder here: nothing is accepted (C9-38).
inline constexpr RequestVerdict kServiceNotExecuted{RequestAction::Drop, RequestCause::WrongService,
                                                    NakCode{}, "C9-38"};
inline const RequestVerdict& refuse_service(const RequestView&) { return kServiceNotExecuted; }

// By OpCode[7:5]: each executed service has its rules, the others accept nothing.
inline constexpr auto kRequestJudges = [] {
  std::array<const RequestVerdict& (*)(const RequestView&), 8> judges{};
  judges.fill(refuse_service);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((judges[i] = includes(kExecuted, Service(i)) ? judge_request_of<Service(i)> : judges[i]), ...);
  }
  (std::make_index_sequence<judges.size()>{});
  return judges;
}();
// An executed service has rules of each stage, except for the stages listed here.
static_assert([] {
  for (const Service service : kServices)
    for (const RuleStage stage : kRuleStages) {
      const bool datagrams = service == Service::Ud;  // no order, no message, no key
      const bool without =
          datagrams &&
          (stage == RuleStage::Order || stage == RuleStage::Sequence || stage == RuleStage::Access);
      const bool has = std::ranges::any_of(kRequestRules, [&](const RequestRule& rule) {
        return rule.stage == stage && includes(rule.services, service);
      });
      if (includes(kExecuted, service) && has == without) return false;
    }
  return true;
}());

// A reliable service that is executed has a rule for each cause for which RC has one. RD names its
// queue pairs after its EE context (NoRdQueue), and has no SRQs.
static_assert([] {
  constexpr auto is_of_rd = [](RequestCause cause) {
    return cause != RequestCause::WrongService && cause != RequestCause::SharedQueueFailed;
  };
  constexpr auto has = [](RequestCause cause, Service service) {
    return std::ranges::any_of(kRequestRules, [&](const RequestRule& rule) {
      return rule.cause == cause && includes(rule.services, service);
    });
  };
  for (const Service service : kServices)
    for (const RequestRule& rule : kRequestRules)
      if (includes(kExecuted, service) && is_reliable(service) && has(rule.cause, Service::Rc) &&
          !has(rule.cause, service) && (service != Service::Rd || is_of_rd(rule.cause)))
        return false;
  return true;
}());

// Not inlined, so that the rules of RC lie close together.
[[gnu::noinline]] inline const RequestVerdict& judge_by_service(const RequestView& view) {
  return kRequestJudges[std::size_t(view.qp.service)](view);
}
inline const RequestVerdict& judge_request(const RequestView& view) {
  return view.qp.service == Service::Rc ? judge_request_of<Service::Rc>(view)
                                        : judge_by_service(view);
}
}  // namespace hca::proto
