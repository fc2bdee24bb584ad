// SPDX-License-Identifier: Apache-2.0
// Packets that arm an alternate path, or ask for the migration to it (G17).
#include "model/blocks/port/port.h"
#include "model/device/migration.h"

namespace hca::blocks {
using namespace proto;

// G17: true if the packet goes on. False: it is dropped, or held until `command` has taken its step.
// `counter`: the drop that is due without migration.
[[gnu::cold]] bool PortReceive::passes_path(Packet& p, const QpConfig& qp, Cycle checked,
                                            u64 DropCounters::*counter) {
  if (counter && counter != &DropCounters::wrong_port) return drop(counter);
  const PathStepView view = device::path_step_view(contexts_, qp, port_, p.parsed, p.frame());
  const PathStep step = path_step(view);
  if (step == PathStep::None) return !counter || drop(counter);
  if (step == PathStep::Refuse) {
    if (qp.options.refused_migration == RefusedMigration::Event)
      tell({EventType::PathMigErr, qp.qpn}, now() + 1);
    return drop(migration::alternate_fault(view));
  }
  p.qpn = qp.qpn;
  held_ = {&p, checked, step, false};
  pending_ |= kHeld;
  ask_step();
  return false;
}

[[gnu::cold]] void PortReceive::ask_step() {
  wake_at(now() + 1);
  held_.asked = outputs.events_out->can_push();
  if (held_.asked)
    outputs.events_out->push({.qpn = held_.packet->qpn, .fails = false, .step = held_.step});
}
}  // namespace hca::blocks
