// SPDX-License-Identifier: Apache-2.0
// G17: the alternate path of a connection, and the changes of its migration state by software.
#pragma once
#include <algorithm>
#include <span>

#include "model/proto/interface/port_attributes.h"
#include "model/proto/transport/qp.h"

namespace hca::proto {
// The values that migration makes those of the connection.
struct AlternatePath {
  bool loaded = false;
  u8 port = 0;  // from 1 on
  u8 timeout = 0, service_level = 0;
  u16 pkey_index = 0;
  u32 rate_limit = 0;
  Path path{};
};

// The attributes that only a device with automatic path migration has.
inline constexpr u32 kMigrationAttributes = kQpAltPath | kQpPathMigState;

// G17.2: the migration states that ModifyQp may set, by the present one. Only a packet leads to
// Armed. Rearm needs an alternate path.
struct MigrationRow {
  PathMigState from, to;
  bool migrates = false;
};
inline constexpr std::array kMigrations{
    MigrationRow{PathMigState::Migrated, PathMigState::Migrated},
    MigrationRow{PathMigState::Migrated, PathMigState::Rearm},
    MigrationRow{PathMigState::Rearm, PathMigState::Rearm},
    MigrationRow{PathMigState::Armed, PathMigState::Rearm},
    MigrationRow{PathMigState::Armed, PathMigState::Migrated, true},
};
constexpr const MigrationRow* find_migration(PathMigState from, PathMigState to) {
  const auto row = std::ranges::find_if(
      kMigrations, [&](const MigrationRow& m) { return m.from == from && m.to == to; });
  return row == kMigrations.end() ? nullptr : &*row;
}

// The attributes of a path, by the names that QpAttributes has for the primary one.
struct PathAttributes {
  u64 dmac = 0, dgid_high = 0, dgid_low = 0;
  u8 sgid_index = 0, traffic_class = 0, hop_limit = 0, sl = 0;
  u32 flow_label = 0;
  u16 dlid = 0, udp_source_port = 0;
  u32 rate_limit = 0;
  u8 path_bits = 0;
};
// Each of them, in the primary and in the alternate path of QpAttributes.
template <class Fn>
constexpr void for_each_path_attribute(const Fn& fn) {
  using P = PathAttributes;
  using A = QpAttributes;
  fn(&P::dmac, &A::dmac, &A::alt_dmac);
  fn(&P::dgid_high, &A::dgid_high, &A::alt_dgid_high);
  fn(&P::dgid_low, &A::dgid_low, &A::alt_dgid_low);
  fn(&P::sgid_index, &A::sgid_index, &A::alt_sgid_index);
  fn(&P::traffic_class, &A::traffic_class, &A::alt_traffic_class);
  fn(&P::hop_limit, &A::hop_limit, &A::alt_hop_limit);
  fn(&P::sl, &A::sl, &A::alt_sl);
  fn(&P::flow_label, &A::flow_label, &A::alt_flow_label);
  fn(&P::dlid, &A::dlid, &A::alt_dlid);
  fn(&P::udp_source_port, &A::udp_source_port, &A::alt_udp_source_port);
  fn(&P::rate_limit, &A::rate_limit, &A::alt_rate_limit);
  fn(&P::path_bits, &A::path_bits, &A::alt_path_bits);
}
constexpr PathAttributes alternate_of(const QpAttributes& a) {
  PathAttributes path;
  for_each_path_attribute(
      [&](auto of_path, auto, auto of_alternate) { path.*of_path = a.*of_alternate; });
  return path;
}
constexpr PathAttributes primary_of(const QpAttributes& a) {
  PathAttributes path;
  for_each_path_attribute(
      [&](auto of_path, auto of_primary, auto) { path.*of_path = a.*of_primary; });
  return path;
}
constexpr void set_alternate(QpAttributes& a, const PathAttributes& path) {
  for_each_path_attribute(
      [&](auto of_path, auto, auto of_alternate) { a.*of_alternate = path.*of_path; });
}
constexpr void set_primary(QpAttributes& a, const PathAttributes& path) {
  for_each_path_attribute(
      [&](auto of_path, auto of_primary, auto) { a.*of_primary = path.*of_path; });
}

// Checks the migration attributes of a ModifyQp. An alternate path in Armed is in use by both
// sides: it changes only together with Rearm.
inline CommandStatus check_migration(const QpConfig& qp, const AlternatePath& alternate,
                                     const QpAttributes& a) {
  if (!(a.mask & kMigrationAttributes)) return CommandStatus::Ok;
  if (!qp.options.apm) return CommandStatus::BadState;
  if (qp.moves) return CommandStatus::Busy;
  const bool sets = a.mask & kQpPathMigState;
  if (sets && a.path_mig_state > PathMigState::Armed) return CommandStatus::BadValue;
  const MigrationRow* row = find_migration(qp.path_mig, sets ? a.path_mig_state : qp.path_mig);
  const bool loads = a.mask & kQpAltPath;
  if (!row || (row->migrates && loads)) return CommandStatus::BadState;
  const bool has_path = loads || alternate.loaded;
  return row->to == PathMigState::Rearm && !has_path ? CommandStatus::BadState : CommandStatus::Ok;
}

// G17.3: the alternate path becomes the primary one; none is loaded any more. `ports`: from port 1
// on.
inline void migrate(QpConfig& qp, QpAttributes& given, AlternatePath& alternate,
                    std::span<const PortAttributes> ports) {
  set_primary(given, alternate_of(given));
  qp.has_moved |= alternate.port != qp.port;
  given.port = qp.port = alternate.port;
  given.pkey_index = qp.pkey_index = alternate.pkey_index;
  given.timeout = qp.timeout = alternate.timeout;
  qp.rate_limit = alternate.rate_limit;
  qp.service_level = alternate.service_level;
  qp.pkey = ports[alternate.port - 1u].pkeys[alternate.pkey_index];
  qp.path = alternate.path;
  qp.path_mig = PathMigState::Migrated;
  qp.moves = false;
  alternate = {};
  // QueryQp reports no alternate path any more.
  set_alternate(given, {});
  given.alt_port = given.alt_timeout = 0;
  given.alt_pkey_index = 0;
}
}  // namespace hca::proto
