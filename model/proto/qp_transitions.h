// SPDX-License-Identifier: Apache-2.0
// T13: the QP's states, what each allows, and which attributes a transition needs.
#pragma once
#include <array>

#include "model/proto/qp.h"

namespace hca::proto {
struct QpTransition {
  QpState from, to;
  u32 required, optional;  // masks of QpMask, for RC
  std::string_view statement;
};

namespace detail {
inline constexpr u32 kAnyTime = kQpState;
inline constexpr u32 kRtsChange = kQpState | kQpAccess | kQpMinRnrTimer;
}  // namespace detail

inline constexpr std::array kRcTransitions{
    // clang-format off
    QpTransition{QpState::Reset, QpState::Init, kQpState | kQpPkeyIndex | kQpPort | kQpAccess, 0, "T13-Reset-Init/RC"},
    QpTransition{QpState::Init,  QpState::Init, kQpState, kQpPkeyIndex | kQpPort | kQpAccess, "T13-Init/transitions"},
    QpTransition{QpState::Init,  QpState::Rtr,  kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer, kQpPkeyIndex | kQpAccess, "T13-Init-RTR/RC"},
    QpTransition{QpState::Rtr,   QpState::Rts,  kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic, kQpAccess | kQpMinRnrTimer, "T13-RTR-RTS/RC"},
    QpTransition{QpState::Rts,   QpState::Rts,  kQpState, kQpAccess | kQpMinRnrTimer, "T13-RTS/transitions"},
    // clang-format on
};

// Reset and Error can be entered from every state by software.
inline const QpTransition* find_transition(QpState from, QpState to) {
  static constexpr QpTransition kToReset{QpState::Reset, QpState::Reset, kQpState, 0, "G20.3"};
  static constexpr QpTransition kToError{QpState::Error, QpState::Error, kQpState, 0, "G20.2"};
  if (to == QpState::Reset) return &kToReset;
  if (to == QpState::Error) return &kToError;
  for (const QpTransition& t : kRcTransitions)
    if (t.from == from && t.to == to) return &t;
  return nullptr;
}

struct PortState {
  PortAttributes attributes{};
  std::array<u16, 1> pkeys{0xffff};
};

namespace detail {
constexpr bool value_ok(u32 mask, u32 bit, bool ok) { return !(mask & bit) || ok; }

inline bool values_ok(const QpAttributes& a, const PortState& port) {
  const bool mtu_ok = a.path_mtu == 256 || a.path_mtu == 512 || a.path_mtu == 1024 ||
                      a.path_mtu == 2048 || a.path_mtu == 4096;
  return value_ok(a.mask, kQpPathMtu, mtu_ok && a.path_mtu <= port.attributes.mtu) &&
         value_ok(a.mask, kQpPkeyIndex, a.pkey_index < port.pkeys.size()) &&
         value_ok(a.mask, kQpPort, a.port == 1) && value_ok(a.mask, kQpTimeout, a.timeout < 32) &&
         value_ok(a.mask, kQpRetryCount, a.retry_count < 8) &&
         value_ok(a.mask, kQpRnrRetry, a.rnr_retry < 8) &&
         value_ok(a.mask, kQpMinRnrTimer, a.min_rnr_timer < 32) &&
         value_ok(a.mask, kQpPath, a.sgid_index < 2);
}

inline Gid gid_of(u64 high, u64 low) {
  Gid gid;
  store_be<8>(gid.bytes.data(), high);
  store_be<8>(gid.bytes.data() + 8, low);
  return gid;
}

inline bool is_ipv4_mapped(const Gid& gid) {
  constexpr std::array<u8, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), gid.bytes.begin());
}

inline Path path_of(const QpAttributes& a, const PortAttributes& port) {
  AddressVector av;
  av.source_gid =
      a.sgid_index ? gid_of(port.gid6_high, port.gid6_low) : gid_of(port.gid_high, port.gid_low);
  av.destination_gid = gid_of(a.dgid_high, a.dgid_low);
  av.framing = Framing(port.framing);
  if (!is_native(av.framing) && av.framing != Framing::RoceV1)
    av.framing = is_ipv4_mapped(av.source_gid) ? Framing::RoceV2Ip4 : Framing::RoceV2Ip6;
  av.source_mac = port.mac, av.destination_mac = a.dmac;
  av.source_lid = port.lid, av.destination_lid = a.dlid;
  av.service_level = a.sl;
  av.traffic_class = a.traffic_class, av.hop_limit = a.hop_limit, av.flow_label = a.flow_label;
  av.udp_source_port = a.udp_source_port;
  return make_path(av);
}

inline void copy_values(QpConfig& qp, const QpAttributes& a, const PortState& port) {
  const auto has = [&](QpMask bit) { return (a.mask & bit) != 0; };
  if (has(kQpPkeyIndex)) qp.pkey_index = a.pkey_index, qp.pkey = port.pkeys[a.pkey_index];
  if (has(kQpPort)) qp.port = a.port;
  if (has(kQpAccess)) qp.access = a.access;
  if (has(kQpPath)) qp.path = path_of(a, port.attributes);
  if (has(kQpPathMtu)) qp.path_mtu = a.path_mtu;
  if (has(kQpDestQpn)) qp.dest_qpn = a.dest_qpn;
  if (has(kQpRqPsn)) qp.rq_psn = a.rq_psn;
  if (has(kQpSqPsn)) qp.sq_psn = a.sq_psn;
  if (has(kQpMaxRdAtomic)) qp.max_rd_atomic = a.max_rd_atomic;
  if (has(kQpMaxDestRdAtomic)) qp.max_dest_rd_atomic = a.max_dest_rd_atomic;
  if (has(kQpMinRnrTimer)) qp.min_rnr_timer = a.min_rnr_timer;
  if (has(kQpTimeout)) qp.timeout = a.timeout;
  if (has(kQpRetryCount)) qp.retry_count = a.retry_count;
  if (has(kQpRnrRetry)) qp.rnr_retry = a.rnr_retry;
}
}  // namespace detail

// ModifyQp: an invalid mask or value changes nothing, not even the state.
inline CommandStatus modify_qp(QpConfig& qp, SendState& send, ReceiveState& receive,
                               const QpAttributes& a, const PortState& port) {
  const QpTransition* t = find_transition(qp.state, a.state);
  if (!t) return CommandStatus::BadState;
  if ((a.mask & t->required) != t->required || (a.mask & ~(t->required | t->optional)))
    return CommandStatus::BadState;
  if (!detail::values_ok(a, port)) return CommandStatus::BadValue;
  detail::copy_values(qp, a, port);
  if (a.state == QpState::Rtr && qp.state == QpState::Init) {
    receive.epsn = qp.rq_psn, receive.msn = 0;  // G2.1, G5.1
  } else if (a.state == QpState::Rts && qp.state == QpState::Rtr) {
    send.next_psn = send.unacked_psn = send.sent_psn = send.send_psn = qp.sq_psn;  // G1.1
    send.retries_left = qp.retry_count, send.rnr_retries_left = qp.rnr_retry;
  } else if (a.state == QpState::Reset) {
    send = {}, receive = {};  // G20.3
  }
  qp.state = a.state;
  return CommandStatus::Ok;
}
}  // namespace hca::proto
