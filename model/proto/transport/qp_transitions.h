// SPDX-License-Identifier: Apache-2.0
// T13: the QP's states, their rules, and the attributes of each transition.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "model/proto/memory/key.h"
#include "model/proto/transport/alternate_path.h"
#include "model/proto/transport/multicast.h"
#include "model/proto/transport/qp.h"

namespace hca::proto {
struct QpTransition {
  Services services;
  QpState from, to;
  u32 required, optional;  // masks of QpMask
  std::string_view statement;
};

// The attributes that SQD allows to change, for RC and for UC.
inline constexpr u32 kUcSqdAttributes =
    kQpPort | kQpPath | kQpAccess | kQpPkeyIndex | kMigrationAttributes;
inline constexpr u32 kSqdAttributes = kUcSqdAttributes | kQpTimeout | kQpRetryCount | kQpRnrRetry |
                                      kQpMaxRdAtomic | kQpMaxDestRdAtomic | kQpMinRnrTimer;
// The same attributes for an XRC initiator and for an XRC target.
inline constexpr u32 kInitiatorSqdAttributes =
    kUcSqdAttributes | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpMaxRdAtomic;
inline constexpr u32 kTargetSqdAttributes =
    kUcSqdAttributes | kQpTimeout | kQpMaxDestRdAtomic | kQpMinRnrTimer;
// The attributes of an RD queue pair in RTS, and those of an EE context that SQD allows to change.
inline constexpr u32 kRdAttributes = kQpCurState | kQpQkey | kQpAccess | kQpMinRnrTimer;
inline constexpr u32 kContextSqdAttributes = kQpPath | kQpPkeyIndex | kQpTimeout | kQpRetryCount |
                                             kQpRnrRetry | kQpMaxRdAtomic | kQpMaxDestRdAtomic;
inline constexpr Services kRcUcXrc = kRc | kUc | kXrcInitiator | kXrcTarget;
inline constexpr std::array kTransitions{
    // clang-format off
    QpTransition{kRcUcXrc,  QpState::Reset, QpState::Init, kQpState | kQpPkeyIndex | kQpPort | kQpAccess, 0, "T13-Reset-Init/RC"},
    QpTransition{kRcUcXrc,  QpState::Init,  QpState::Init, kQpState, kQpPkeyIndex | kQpPort | kQpAccess, "T13-Init/transitions"},
    QpTransition{kRc,       QpState::Init,  QpState::Rtr,  kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer, kQpPkeyIndex | kQpAccess | kQpAltPath, "T13-Init-RTR/RC"},
    QpTransition{kUc,       QpState::Init,  QpState::Rtr,  kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn, kQpPkeyIndex | kQpAccess | kQpAltPath, "T13-Init-RTR/UC"},
    QpTransition{kRc,       QpState::Rtr,   QpState::Rts,  kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-RTR-RTS/RC"},
    QpTransition{kUc,       QpState::Rtr,   QpState::Rts,  kQpState | kQpSqPsn, kQpCurState | kQpAccess | kMigrationAttributes, "T13-RTR-RTS/UC"},
    QpTransition{kRc,       QpState::Rts,   QpState::Rts,  kQpState, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-RTS/transitions"},
    QpTransition{kUc,       QpState::Rts,   QpState::Rts,  kQpState, kQpCurState | kQpAccess | kMigrationAttributes, "T13-RTS/transitions"},
    QpTransition{kRcUcXrc,  QpState::Rts,   QpState::Sqd,  kQpState, kQpSqdNotify, "T13-RTS/transitions"},
    QpTransition{kRc,       QpState::Sqd,   QpState::Sqd,  kQpState, kSqdAttributes, "T13-SQD/transitions"},
    QpTransition{kUc,       QpState::Sqd,   QpState::Sqd,  kQpState, kUcSqdAttributes, "T13-SQD/transitions"},
    QpTransition{kRc,       QpState::Sqd,   QpState::Rts,  kQpState, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-SQD/transitions"},
    QpTransition{kUc,       QpState::Sqd,   QpState::Rts,  kQpState, kQpCurState | kQpAccess | kMigrationAttributes, "T13-SQD/transitions"},
    QpTransition{kUc,       QpState::Sqe,   QpState::Rts,  kQpState, kQpCurState | kQpAccess, "T13-SQE/transitions"},
    QpTransition{kXrcInitiator, QpState::Init, QpState::Rtr, kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn, kQpPkeyIndex | kQpAccess | kQpAltPath, "T13-Init-RTR/XRC-INI"},
    QpTransition{kXrcTarget,    QpState::Init, QpState::Rtr, kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer, kQpPkeyIndex | kQpAccess | kQpAltPath, "T13-Init-RTR/XRC-TGT"},
    QpTransition{kXrcInitiator, QpState::Rtr,  QpState::Rts, kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic, kQpCurState | kQpAccess | kMigrationAttributes, "T13-RTR-RTS/XRC-INI"},
    QpTransition{kXrcTarget,    QpState::Rtr,  QpState::Rts, kQpState | kQpTimeout | kQpSqPsn, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-RTR-RTS/XRC-TGT"},
    QpTransition{kXrcInitiator, QpState::Rts,  QpState::Rts, kQpState, kQpCurState | kQpAccess | kMigrationAttributes, "T13-RTS/transitions"},
    QpTransition{kXrcTarget,    QpState::Rts,  QpState::Rts, kQpState, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-RTS/transitions"},
    QpTransition{kXrcInitiator, QpState::Sqd,  QpState::Sqd, kQpState, kInitiatorSqdAttributes, "T13-SQD/transitions"},
    QpTransition{kXrcTarget,    QpState::Sqd,  QpState::Sqd, kQpState, kTargetSqdAttributes, "T13-SQD/transitions"},
    QpTransition{kXrcInitiator, QpState::Sqd,  QpState::Rts, kQpState, kQpCurState | kQpAccess | kMigrationAttributes, "T13-SQD/transitions"},
    QpTransition{kXrcTarget,    QpState::Sqd,  QpState::Rts, kQpState, kQpCurState | kQpAccess | kQpMinRnrTimer | kMigrationAttributes, "T13-SQD/transitions"},
    QpTransition{kRd,       QpState::Reset, QpState::Init, kQpState | kQpPkeyIndex | kQpPort | kQpQkey | kQpRdd, kQpAccess, "T13-Reset/transitions"},
    QpTransition{kRd,       QpState::Init,  QpState::Init, kQpState, kQpPkeyIndex | kQpPort | kQpQkey | kQpAccess, "T13-Init/transitions"},
    QpTransition{kRd,       QpState::Init,  QpState::Rtr,  kQpState, kQpPkeyIndex | kQpQkey | kQpAccess | kQpMinRnrTimer, "T13-Init/transitions"},
    QpTransition{kRd,       QpState::Rtr,   QpState::Rts,  kQpState, kRdAttributes, "T13-RTR/transitions"},
    QpTransition{kRd,       QpState::Rts,   QpState::Rts,  kQpState, kRdAttributes, "T13-RTS/transitions"},
    QpTransition{kRd,       QpState::Rts,   QpState::Sqd,  kQpState, kQpSqdNotify, "T13-RTS/transitions"},
    QpTransition{kRd,       QpState::Sqd,   QpState::Sqd,  kQpState, kQpPkeyIndex | kQpQkey | kQpAccess | kQpMinRnrTimer, "T13-SQD/transitions"},
    QpTransition{kRd,       QpState::Sqd,   QpState::Rts,  kQpState, kRdAttributes, "T13-SQD/transitions"},
    QpTransition{kRd,       QpState::Sqe,   QpState::Rts,  kQpState, kRdAttributes, "T13-SQE/transitions"},
    QpTransition{kEeContext, QpState::Reset, QpState::Init, kQpState | kQpPkeyIndex | kQpPort | kQpRdd, 0, "T13-Reset/transitions"},
    QpTransition{kEeContext, QpState::Init, QpState::Init, kQpState, kQpPkeyIndex | kQpPort, "T13-Init/transitions"},
    QpTransition{kEeContext, QpState::Init, QpState::Rtr,  kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic, kQpPkeyIndex, "T13-Init/transitions"},
    QpTransition{kEeContext, QpState::Rtr,  QpState::Rts,  kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic, kQpCurState, "T13-RTR/transitions"},
    QpTransition{kEeContext, QpState::Rts,  QpState::Rts,  kQpState, kQpCurState, "T13-RTS/transitions"},
    QpTransition{kEeContext, QpState::Rts,  QpState::Sqd,  kQpState, 0, "T13-RTS/transitions"},
    QpTransition{kEeContext, QpState::Sqd,  QpState::Sqd,  kQpState, kContextSqdAttributes, "T13-SQD/transitions"},
    QpTransition{kEeContext, QpState::Sqd,  QpState::Rts,  kQpState, kQpCurState, "T13-SQD/transitions"},
    QpTransition{kUd,       QpState::Reset, QpState::Init, kQpState | kQpPkeyIndex | kQpPort | kQpQkey, 0, "T13-Reset-Init/UD"},
    QpTransition{kUd,       QpState::Init,  QpState::Init, kQpState, kQpPkeyIndex | kQpPort | kQpQkey, "T13-Init/transitions"},
    QpTransition{kUd,       QpState::Init,  QpState::Rtr,  kQpState, kQpPkeyIndex | kQpQkey, "T13-Init-RTR/UD"},
    QpTransition{kUd,       QpState::Rtr,   QpState::Rts,  kQpState | kQpSqPsn, kQpCurState | kQpQkey, "T13-RTR-RTS/UD"},
    QpTransition{kUd,       QpState::Rts,   QpState::Rts,  kQpState, kQpCurState | kQpQkey, "T13-RTS/transitions"},
    QpTransition{kUd,       QpState::Rts,   QpState::Sqd,  kQpState, kQpSqdNotify, "T13-RTS/transitions"},
    QpTransition{kUd,       QpState::Sqd,   QpState::Sqd,  kQpState, kQpPkeyIndex | kQpQkey, "T13-SQD/transitions"},
    QpTransition{kUd,       QpState::Sqd,   QpState::Rts,  kQpState, kQpCurState | kQpQkey, "T13-SQD/transitions"},
    QpTransition{kUd,       QpState::Sqe,   QpState::Rts,  kQpState, kQpCurState | kQpQkey, "T13-SQE/transitions"},
    // clang-format on
};

// Software can enter Reset and Error from every state, SQE from none. `kind`: kind_of().
inline const QpTransition* find_transition(Services kind, QpState from, QpState to) {
  static constexpr QpTransition kToReset{kSenders, QpState::Reset, QpState::Reset, kQpState,
                                         0,        "G20.3"};
  static constexpr QpTransition kToError{kSenders, QpState::Error, QpState::Error, kQpState,
                                         0,        "G20.2"};
  if (to == QpState::Reset) return &kToReset;
  if (to == QpState::Error) return &kToError;
  for (const QpTransition& t : kTransitions) {
    if (!(t.services & kind)) continue;
    if (t.from == from && t.to == to) return &t;
  }
  return nullptr;
}

// Checks a transition by software: its row, its mask, and the state that the host expects. While
// the send queue drains, attributes must not change.
inline CommandStatus check_transition(Services kind, QpState from, bool draining,
                                      const QpAttributes& a) {
  if (a.state > QpState::Error) return CommandStatus::BadValue;
  const QpTransition* t = find_transition(kind, from, a.state);
  if (!t || (a.mask & t->required) != t->required || (a.mask & ~(t->required | t->optional)))
    return CommandStatus::BadState;
  if ((a.mask & kQpCurState) && a.cur_state != from) return CommandStatus::BadState;
  const bool changes_in_sqd = from == QpState::Sqd && (a.mask & kSqdAttributes);
  return changes_in_sqd && draining ? CommandStatus::BadState : CommandStatus::Ok;
}

namespace detail {
constexpr bool value_ok(u32 mask, u32 bit, bool ok) { return !(mask & bit) || ok; }

// Of the path in QpAttributes, PathAttributes or an AddressHandle, which has none.
template <class Attributes>
constexpr u8 source_path_bits(const Attributes& a) {
  if constexpr (requires { a.path_bits; })
    return a.path_bits;
  else
    return 0;
}

template <class Attributes>
bool path_ok(const Attributes& a, const PortAttributes& port) {
  const bool udp = !is_native(Framing(port.framing)) && Framing(port.framing) != Framing::RoceV1;
  return a.sgid_index < kGidEntries && a.sl < 16 && a.flow_label < 1u << 20 &&
         source_path_bits(a) <= path_bits_of(port) &&
         (!udp || is_roce_source_port(a.udp_source_port));
}

// `port`: the port that the queue pair will have.
constexpr SqdNotify last_notify(const TransportOptions& options) {
  return options.driver_events ? SqdNotify::Suspended : SqdNotify::Drained;
}

inline bool values_ok(const QpConfig& qp, const QpAttributes& a, const PortAttributes& port) {
  return value_ok(a.mask, kQpQkey, !qkey_is_controlled(a.qkey) || qp.privileged) &&  // G19.1
         value_ok(a.mask, kQpPathMtu, is_mtu(a.path_mtu) && a.path_mtu <= port.mtu) &&
         value_ok(a.mask, kQpPkeyIndex, a.pkey_index < kPkeyEntries) &&
         value_ok(a.mask, kQpTimeout, a.timeout < 32) &&
         value_ok(a.mask, kQpAccess, !(a.access & ~(kAllAccess | optional_rights(qp.options)))) &&
         value_ok(a.mask, kQpMaxRdAtomic, a.max_rd_atomic <= kMaxRdAtomic) &&
         value_ok(a.mask, kQpMaxDestRdAtomic, a.max_dest_rd_atomic <= kMaxRdAtomic) &&
         value_ok(a.mask, kQpRetryCount, a.retry_count < 8) &&
         value_ok(a.mask, kQpRnrRetry, a.rnr_retry < 8) &&
         value_ok(a.mask, kQpMinRnrTimer, a.min_rnr_timer < 32) &&
         value_ok(a.mask, kQpSqdNotify, a.sqd_notify <= last_notify(qp.options)) &&
         value_ok(a.mask, kQpPath, path_ok(a, port));
}

// The same for an alternate path, of the port with this number.
inline bool alternate_ok(const QpConfig& qp, const QpAttributes& a, u32 path_mtu,
                         std::span<const PortAttributes> ports) {
  if (!(a.mask & kQpAltPath)) return true;
  if (!a.alt_port || a.alt_port > ports.size()) return false;
  const PortAttributes& port = ports[a.alt_port - 1u];
  if (port.framing != ports[0].framing || path_mtu > port.mtu) return false;
  // A queue pair that belongs to an SRQ stays on the SRQ's port. A target of XRC belongs to none.
  if (qp.srqn && a.alt_port != qp.port) return false;
  return a.alt_pkey_index < kPkeyEntries && a.alt_timeout < 32 && path_ok(alternate_of(a), port);
}

// The path in QpAttributes, PathAttributes or an AddressHandle.
template <class Attributes>
Path path_of(const Attributes& a, const PortAttributes& port, u8 virtual_lane = 0) {
  AddressVector av;
  av.virtual_lane = virtual_lane;
  av.source_gid = port.gids[a.sgid_index];
  av.destination_gid = make_gid(a.dgid_high, a.dgid_low);
  av.framing = Framing(port.framing);
  if (!is_native(av.framing) && av.framing != Framing::RoceV1)
    av.framing = is_ipv4_mapped(av.source_gid) ? Framing::RoceV2Ip4 : Framing::RoceV2Ip6;
  av.source_mac = port.mac;
  av.destination_mac = a.dmac;
  if (!is_native(av.framing) && is_multicast(av.destination_gid))
    av.destination_mac = mac_of_group(av.destination_gid);
  av.source_lid = u16(port.lid | source_path_bits(a));
  av.destination_lid = a.dlid;
  av.service_level = a.sl;
  av.has_vlan = port.vlan && !is_native(av.framing);
  av.vlan_id = port.vlan;
  av.priority = vlan_priority(port, a.sl);
  av.traffic_class = a.traffic_class;
  av.hop_limit = a.hop_limit;
  av.flow_label = a.flow_label;
  av.udp_source_port = a.udp_source_port;
  return make_path(av);
}

// Stores the last given value of each attribute, for QueryQp.
inline void remember(QpAttributes& given, const QpAttributes& a) {
  const auto take = [&](u32 bit, auto... members) {
    if (a.mask & bit) ((given.*members = a.*members), ...);
  };
  using A = QpAttributes;
  take(kQpPkeyIndex, &A::pkey_index);
  take(kQpPort, &A::port);
  take(kQpAccess, &A::access);
  take(kQpPath, &A::dmac, &A::dgid_high, &A::dgid_low, &A::sgid_index, &A::traffic_class,
       &A::hop_limit, &A::sl, &A::flow_label, &A::dlid, &A::udp_source_port, &A::rate_limit,
       &A::path_bits);
  take(kQpAltPath, &A::alt_dmac, &A::alt_dgid_high, &A::alt_dgid_low, &A::alt_sgid_index,
       &A::alt_traffic_class, &A::alt_hop_limit, &A::alt_sl, &A::alt_flow_label, &A::alt_dlid,
       &A::alt_udp_source_port, &A::alt_rate_limit, &A::alt_path_bits, &A::alt_port,
       &A::alt_timeout, &A::alt_pkey_index);
  take(kQpPathMtu, &A::path_mtu);
  take(kQpDestQpn, &A::dest_qpn);
  take(kQpQkey, &A::qkey);
  take(kQpRqPsn, &A::rq_psn);
  take(kQpSqPsn, &A::sq_psn);
  take(kQpMaxRdAtomic, &A::max_rd_atomic);
  take(kQpMaxDestRdAtomic, &A::max_dest_rd_atomic);
  take(kQpMinRnrTimer, &A::min_rnr_timer);
  take(kQpTimeout, &A::timeout);
  take(kQpRetryCount, &A::retry_count);
  take(kQpRnrRetry, &A::rnr_retry);
  take(kQpRdd, &A::rdd);
}

inline AlternatePath make_alternate(const QpAttributes& a, std::span<const PortAttributes> ports) {
  return {true,
          a.alt_port,
          a.alt_timeout,
          a.alt_sl,
          a.alt_pkey_index,
          a.alt_rate_limit,
          path_of(alternate_of(a), ports[a.alt_port - 1u])};
}

// The same for the execution: the fields that packets need.
inline void configure(QpConfig& qp, const QpAttributes& given, u32 mask,
                      const PortAttributes& port) {
  qp.port = given.port;
  qp.rdd = given.rdd;
  qp.pkey_index = given.pkey_index;
  qp.pkey = port.pkeys[given.pkey_index];
  qp.path_mtu = given.path_mtu;
  qp.rq_psn = given.rq_psn;
  qp.sq_psn = given.sq_psn;
  qp.max_rd_atomic = given.max_rd_atomic;
  qp.max_dest_rd_atomic = given.max_dest_rd_atomic;
  qp.timeout = given.timeout;
  qp.retry_count = given.retry_count;
  qp.rnr_retry = given.rnr_retry;
  if (qp.side == QpSide::EeContext) {
    qp.remote_eecn = given.dest_qpn;
  } else {  // an EE context has those of the queue pair that it serves
    qp.access = given.access;
    qp.dest_qpn = given.dest_qpn;
    qp.qkey = given.qkey;
    qp.min_rnr_timer = given.min_rnr_timer;
  }
  if (mask & kQpPath) {
    qp.service_level = given.sl;
    qp.rate_limit = given.rate_limit;
  }
  if (qp.service == Service::Ud)
    qp.path_mtu = port.mtu;
  else if (mask & (kQpPath | kQpPort))
    qp.path = path_of(given, port);
}
}  // namespace detail

// The destination of a datagram; nullopt if its handle is bad.
inline std::optional<Path> path_of_datagram(const QpConfig& qp, const AddressHandle& ah,
                                            const PortAttributes& port) {
  if (!detail::path_ok(ah, port)) return std::nullopt;
  PortAttributes from = port;
  if (is_native(Framing(port.framing)))
    from.framing = u8(ah.global ? Framing::IbGlobal : Framing::IbLocal);
  return detail::path_of(ah, from, qp.qpn == kQp0 ? kQp0Lane : 0);  // G27.2
}

// In SQD: messages that must finish are not completed yet (G20.1).
inline bool is_draining(const QpConfig& qp, const SendState& s) {
  const bool all = s32(s.completed - s.drains_to) >= 0 && s.completed == s.started;
  return qp.state == QpState::Sqd && !all;
}

// Once, when a queue pair that must report it is drained: the event.
inline std::optional<EventType> take_drained(const QpConfig& qp, SendState& s) {
  if (s.notify_drained == SqdNotify::None || is_draining(qp, s)) return std::nullopt;
  return std::exchange(s.notify_drained, SqdNotify::None) == SqdNotify::Drained
             ? EventType::SqDrained
             : EventType::QpSuspended;
}

// G17.2: ModifyQp asks for the alternate path.
inline bool asks_to_migrate(const QpConfig& qp, const QpAttributes& a) {
  return a.mask & kQpPathMigState && qp.path_mig == PathMigState::Armed &&
         a.path_mig_state == PathMigState::Migrated;
}

// ModifyQp: an invalid mask or value changes nothing, not even the state. `ports`: from port 1 on;
// `posted`: send WQEs rung by doorbells. A migration that it asks for is left to the caller
// (asks_to_migrate()).
inline CommandStatus modify_qp(QpConfig& qp, QpAttributes& given, AlternatePath& alternate,
                               SendState& send, ReceiveState& receive, const QpAttributes& a,
                               std::span<const PortAttributes> ports, u32 posted = 0) {
  const CommandStatus allowed =
      check_transition(kind_of(qp.service, qp.side), qp.state, is_draining(qp, send), a);
  if (allowed != CommandStatus::Ok) return allowed;
  if (const CommandStatus migrates = check_migration(qp, alternate, a);
      migrates != CommandStatus::Ok)
    return migrates;
  const u8 number = a.mask & kQpPort ? a.port : given.port;
  if ((a.mask & kQpPort) && (!number || number > ports.size())) return CommandStatus::BadValue;
  // Packets are in flight after the port in SQD, so a queue pair can change its port only in Init.
  if (qp.state == QpState::Sqd && number != given.port) return CommandStatus::BadValue;
  const PortAttributes& port = ports[number ? number - 1 : 0];
  if (!detail::values_ok(qp, a, port)) return CommandStatus::BadValue;
  const u32 path_mtu = a.mask & kQpPathMtu ? a.path_mtu : given.path_mtu;
  if (!detail::alternate_ok(qp, a, path_mtu, ports)) return CommandStatus::BadValue;
  if (a.state == QpState::Reset) {
    given = {};
    send = {};
    receive = {};  // G20.3
    alternate = {};
    qp.path_mig = PathMigState::Migrated;
    qp.moves = qp.has_moved = false;
    qp.rdd = 0;
  } else if (a.state != QpState::Error) {
    detail::remember(given, a);
    detail::configure(qp, given, a.mask, port);
    if (a.mask & kQpAltPath) alternate = detail::make_alternate(given, ports);
    if (a.mask & kQpPathMigState && a.path_mig_state == PathMigState::Rearm)
      qp.path_mig = PathMigState::Rearm;
  }
  if (a.state == QpState::Rtr) {
    receive.epsn = qp.rq_psn;
    receive.msn = 0;  // G2.1, G5.1
  } else if (a.state == QpState::Rts && qp.state == QpState::Rtr)
    send.start(qp.sq_psn);                                           // G1.1
  if (!counts_credits(qp.service)) send.credit = Credit::Unlimited;  // T4
  if (a.mask & kQpRetryCount) send.retries_left = qp.retry_count;
  if (a.mask & kQpRnrRetry) send.rnr_retries_left = qp.rnr_retry;
  if (a.state == QpState::Sqd && qp.state != QpState::Sqd)
    send.drains_to = qp.options.sqd_drains == SqdDrains::Posted ? posted : send.started;
  const SqdNotify notify = a.mask & kQpSqdNotify ? a.sqd_notify : send.notify_drained;
  send.notify_drained = a.state == QpState::Sqd ? notify : SqdNotify::None;
  qp.state = a.state;
  return CommandStatus::Ok;
}

// QueryQp: the given attributes, and the current ones.
inline QpAttributes query_qp(const QpConfig& qp, const QpAttributes& given, const SendState& s,
                             const ReceiveState& r) {
  QpAttributes a = given;
  a.mask = 0;
  a.state = a.cur_state = qp.state;
  a.rq_psn = r.epsn;
  a.sq_psn = s.next_psn;
  a.unacked_psn = s.unacked_psn;
  a.sent_psn = s.sent_psn;
  a.sq_posted = s.started;
  a.sq_completed = s.completed;
  a.rq_posted = r.rq_posted;
  a.rq_consumed = r.rq_consumed;
  a.msn = r.msn;
  a.sq_draining = is_draining(qp, s);
  a.sqd_notify = s.notify_drained;
  a.waits_rnr = s.waits_rnr;
  a.nak_sent = r.nak_sent;
  a.credit = u8(s.credit);
  a.ssn = s.ssn;
  a.limit_ssn = s.limit_ssn;
  a.retries_left = s.retries_left;
  a.rnr_retries_left = s.rnr_retries_left;
  a.reads_outstanding = s.reads_started - s.reads_placed;
  a.reads_accepted = r.reads_accepted;
  a.path_mig_state = qp.path_mig;
  return a;
}
}  // namespace hca::proto
