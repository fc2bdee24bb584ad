// SPDX-License-Identifier: Apache-2.0
// Automatic path migration of a connection (G17).
#pragma once
#include "model/device/contexts.h"
#include "model/proto/transport/migration_rules.h"

namespace hca::device {
// What the rules of migration know of an arriving packet.
inline proto::PathStepView path_step_view(const Contexts& contexts, const proto::QpConfig& qp,
                                          u32 port, const proto::ParsedPacket& packet,
                                          const u8* frame) {
  const proto::AlternatePath& alternate = contexts.alternate_of(qp.qpn);
  const u16 pkey =
      alternate.loaded ? contexts.ports[alternate.port - 1u].pkeys[alternate.pkey_index] : u16{0};
  return {packet, frame, port, qp, contexts.receive_of(qp.qpn), alternate, pkey};
}
inline void migrate(Contexts& contexts, u32 qpn) {
  proto::migrate(contexts.qps[qpn], contexts.given[qpn], contexts.alternate_of(qpn),
                 contexts.ports);
  contexts.receive_of(qpn).keeps = false;  // what came over the old path (recovery.h)
  ++contexts.version;
}
// True: the migration leads to another port.
inline bool changes_port(const Contexts& contexts, u32 qpn) {
  return contexts.alternate_of(qpn).port != contexts.qps[qpn].port;
}
}  // namespace hca::device
