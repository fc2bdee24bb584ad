// SPDX-License-Identifier: Apache-2.0
#include "model/functional/functional_hca.h"

namespace hca::functional {
using namespace proto;

// G17: takes the step of path migration that a packet causes. True: the packet is dropped.
bool FunctionalHca::refuses_path(u32 qpn, const ParsedPacket& packet, std::span<const u8> frame,
                                 u32 port) {
  QpConfig& qp = contexts_.qps[qpn];
  const PathStepView view = device::path_step_view(contexts_, qp, port, packet, frame.data());
  switch (path_step(view)) {
    case PathStep::Arm:
      qp.path_mig = PathMigState::Armed;
      return false;
    case PathStep::Migrate:
      migrate(qpn);
      return false;
    case PathStep::Refuse:
      counts_.drop(port, migration::alternate_fault(view));
      if (qp.options.refused_migration == RefusedMigration::Event)
        raise(EventType::PathMigErr, qpn);
      return true;
    default:
      return false;
  }
}

void FunctionalHca::migrate(u32 qpn) {
  device::migrate(contexts_, qpn);
  by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    policy.on_migrated(contexts_.send_of(qpn), losses<decltype(policy)>(qpn));
  });
  raise(EventType::PathMig, qpn);
}
}  // namespace hca::functional
