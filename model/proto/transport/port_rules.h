// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/interface/drop_counters.h"
#include "model/proto/interface/events.h"
#include "model/proto/transport/path_rules.h"
#include "model/proto/transport/responder_rules.h"

namespace hca::proto {
// T15: a change of a port's attributes and the event that reports it, in the order of reporting.
struct PortEventRow {
  EventType type;
  bool (*happens)(const PortAttributes& before, const PortAttributes& after);
};
inline constexpr std::array kPortEvents{
    PortEventRow{EventType::PortErr,
                 [](auto& a, auto& b) { return is_active(a) && !is_active(b); }},
    PortEventRow{EventType::PortActive,
                 [](auto& a, auto& b) { return !is_active(a) && is_active(b); }},
    PortEventRow{EventType::LidChange, [](auto& a, auto& b) { return a.lid != b.lid; }},
    PortEventRow{EventType::GidChange, [](auto& a, auto& b) { return a.gids != b.gids; }},
    PortEventRow{EventType::PkeyChange, [](auto& a, auto& b) { return a.pkeys != b.pkeys; }},
    PortEventRow{EventType::SmChange, [](auto& a, auto& b) { return a.sm_lid != b.sm_lid; }},
    PortEventRow{EventType::ClientReregister, [](auto&, auto& b) { return b.reregister; }},
};
// Bit i: row i. A port reports no event for its first SetPort.
using PortEvents = u8;
inline PortEvents port_events(const PortAttributes& before, const PortAttributes& after) {
  PortEvents events = 0;
  if (before.state == PortState::AsItIs) return events;
  for (std::size_t i = 0; i < kPortEvents.size(); ++i)
    if (kPortEvents[i].happens(before, after)) events |= PortEvents(1u << i);
  return events;
}

// BTH-4: a request of an optional operation with a bad form is malformed for a device that has the
// operation; for others its operation is unknown.
inline bool is_malformed(const QpConfig& qp, const ParsedPacket& packet) {
  if (packet.opcode) [[likely]]
    return false;
  const OpcodeRow* row = opcode_row(packet.bth.opcode);
  return row && has(qp.options, row->traits().capability);
}

// The port's checks of a well-formed frame, before its queue pair sees it. Returns the counter of
// the first failing check; nullptr if none fails. `number`: of the port, from 1 on; `qp`: named by
// DestQP, if it exists.
inline u64 DropCounters::*port_drop(const PortAttributes& port, u32 number, const u8* frame,
                                    const ParsedPacket& packet, const QpConfig* qp) {
  using D = DropCounters;
  if (!may_receive(port, packet.bth.dest_qp)) [[unlikely]]
    return &D::port_down;
  if (!is_for_port(port, frame, packet) && !is_for_any_port(frame, packet)) return &D::not_for_port;
  if (!is_of_vlan(port, frame, packet)) return &D::wrong_vlan;
  if (packet.payload_bytes > port.mtu) return &D::above_mtu;  // G34.3
  if (!qp) return &D::unknown_qp;
  if (is_malformed(*qp, packet)) return counter_of(form_if_executed(packet));
  return is_of_port(*qp, number) ? nullptr : &D::wrong_port;
}

// T13, C9-215, G12.7: the states in which responses are accepted.
inline bool takes_responses(QpState state) {
  return state == QpState::Rts || state == QpState::Sqd;
}

// The rules of stage Header that drop apply to responses too, but a queue pair accepts responses in
// fewer states (G12.7). Good if no rule is broken.
template <Service service>
RequestCause judge_response_header_of(const RequestView& view) {
  RequestCause first = RequestCause::Good;
  const auto is_broken = [&]<std::size_t i>() {
    constexpr RequestRule rule = kRequestRules[i];
    if constexpr (rule.stage != RuleStage::Header || rule.action != RequestAction::Drop ||
                  !includes(rule.services, service))
      return false;
    const bool by_state = rule.cause == RequestCause::BadQpState;
    const bool broken =
        by_state ? !takes_responses(view.qp.state) || view.state.failing : rule.broken(view);
    if (broken) first = rule.cause;
    return broken;
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (void)(is_broken.template operator()<i>() || ...);
  }
  (std::make_index_sequence<kRequestRules.size()>{});
  return first;
}
inline RequestCause refuse_response(const RequestView&) { return RequestCause::WrongService; }

// By OpCode[7:5], as kRequestJudges.
inline constexpr auto kResponseJudges = [] {
  std::array<RequestCause (*)(const RequestView&), 8> judges{};
  judges.fill(refuse_response);
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((judges[i] =
          includes(kExecuted, Service(i)) ? judge_response_header_of<Service(i)> : judges[i]),
     ...);
  }
  (std::make_index_sequence<judges.size()>{});
  return judges;
}();
// Not inlined, as judge_by_service().
[[gnu::noinline]] inline RequestCause judge_response_by_service(const RequestView& view) {
  return kResponseJudges[std::size_t(view.qp.service)](view);
}
inline RequestCause judge_response_header(const RequestView& view) {
  return view.qp.service == Service::Rc ? judge_response_header_of<Service::Rc>(view)
                                        : judge_response_by_service(view);
}

constexpr u64 DropCounters::*counter_of(PathFault fault) {
  using D = DropCounters;
  constexpr std::array<u64 D::*, 6> members{nullptr,        &D::wrong_framing,  &D::wrong_sgid,
                                            &D::wrong_dgid, &D::multicast_slid, &D::wrong_lid};
  return members[std::size_t(fault)];
}

// The drop counter of a packet that breaks a rule of stage Header; nullptr: it breaks none.
inline u64 DropCounters::*counter_of(RequestCause cause, const QpConfig& qp, const u8* frame,
                                     const FrameShape& shape) {
  using D = DropCounters;
  switch (cause) {
    case RequestCause::WrongService:
      return &D::wrong_service;
    case RequestCause::BadQpState:
      return qp.service == Service::Rd ? &D::bad_ee_context : &D::bad_qp_state;
    case RequestCause::WrongPath:
      return counter_of(includes(kConnected, qp.service) ? path_fault(qp.path, frame, shape)
                                                         : PathFault::MulticastSlid);
    case RequestCause::BadPkey:
      return &D::bad_pkey;
    case RequestCause::BadQkey:
      return &D::bad_qkey;
    case RequestCause::WrongVl:
      return &D::wrong_vl;
    default:
      return nullptr;
  }
}
}  // namespace hca::proto
