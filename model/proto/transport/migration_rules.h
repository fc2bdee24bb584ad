// SPDX-License-Identifier: Apache-2.0
// G17: the steps of automatic path migration that an arriving packet causes. They precede the
// checks of its queue pair (T12-9).
#pragma once
#include "model/proto/transport/alternate_path.h"
#include "model/proto/transport/port_rules.h"

namespace hca::proto {
enum class PathStep : u8 { None, Arm, Migrate, Refuse };

// What the packet must match, or must not match: addresses, P_Key and port of a path.
enum class PathMatch : u8 { Primary, Alternate, NotAlternate };

// A packet that matches no row is judged by the primary path alone (G17.4, G17.5).
struct PathStepRow {
  PathMigState state;
  bool mig_req;
  PathMatch match;
  PathStep step;
  std::string_view statement;
};
inline constexpr std::array kPathSteps{
    // clang-format off
    PathStepRow{PathMigState::Rearm, false, PathMatch::Primary,      PathStep::Arm,     "G17.2"},
    PathStepRow{PathMigState::Armed, true,  PathMatch::Alternate,    PathStep::Migrate, "G17.2"},
    PathStepRow{PathMigState::Armed, true,  PathMatch::NotAlternate, PathStep::Refuse,  "G17.3"},
    // clang-format on
};

struct PathStepView {
  const ParsedPacket& packet;
  const u8* frame;
  u32 port;  // that received it, from 1 on
  const QpConfig& qp;
  const ReceiveState& state;
  const AlternatePath& alternate;
  u16 alternate_pkey;
};

namespace migration {
// G17.3: the first property in which a packet differs from the alternate path, in the order of T12;
// nullptr: none.
inline u64 DropCounters::*alternate_fault(const PathStepView& v) {
  if (v.port != v.alternate.port) return &DropCounters::wrong_port;
  const PathFault fault = path_fault(v.alternate.path, v.frame, v.packet);
  if (fault != PathFault::None) return counter_of(fault);
  return pkey_match(v.packet.bth.pkey, v.alternate_pkey) ? nullptr : &DropCounters::bad_pkey;
}
inline bool is_on_primary(const PathStepView& v) {
  return is_of_port(v.qp, v.port) && comes_from_peer(v.qp.path, v.frame, v.packet) &&
         pkey_match(v.packet.bth.pkey, v.qp.pkey);
}
inline bool matches(const PathStepView& v, PathMatch match) {
  if (match == PathMatch::Primary) return is_on_primary(v);
  return (match == PathMatch::Alternate) == !alternate_fault(v);
}
// Service and state are checked first (T12-7).
inline bool is_taken(const PathStepView& v) {
  if ((v.packet.bth.opcode >> 5) != unsigned(v.qp.service) || v.state.failing) return false;
  const bool answers = v.packet.opcode && !v.packet.opcode->is_request;
  return answers ? takes_responses(v.qp.state) : takes_requests(v.qp.state);
}
}  // namespace migration

inline PathStep path_step(const PathStepView& v) {
  if (v.qp.path_mig == PathMigState::Migrated || !migration::is_taken(v)) return PathStep::None;
  for (const PathStepRow& row : kPathSteps)
    if (row.state == v.qp.path_mig && row.mig_req == v.packet.bth.mig_req &&
        migration::matches(v, row.match))
      return row.step;
  return PathStep::None;
}
}  // namespace hca::proto
