// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/response_check.h"

#include "model/proto/path_rules.h"

namespace hca::blocks {
using namespace proto;

Cycle ResponseCheck::check(Packet& p, Cycle at, Acknowledgement& out) {
  const QpConfig& qp = context_.contexts.qps[p.qpn];
  if (!good(p, qp)) return kNever;
  ++counters.good;
  out = {p.qpn, p.psn, 0, 0, nullptr};
  if (p.parsed.has(Ext::Aeth)) out.msn = p.parsed.aeth.msn, out.syndrome = p.parsed.aeth.syndrome;
  if (p.parsed.opcode->operation != Operation::Acknowledge) out.packet = &p;
  const Cycle leaves = stage_.enter(context_.look_up(port_, at, p.qpn));
  probe.event(leaves, Step::Passed, p.qpn, p.psn);
  return leaves;
}

bool ResponseCheck::good(const Packet& p, const QpConfig& qp) {
  if (p.parsed.bth.opcode >> 5 != unsigned(qp.service))
    return ++counters.wrong_service, false;  // C9-38
  if (qp.state != QpState::Rts && qp.state != QpState::Sqd)
    return ++counters.bad_qp_state, false;                                                  // G12.7
  if (!comes_from_peer(qp.path, p.frame(), p.parsed)) return ++counters.wrong_path, false;  // VAL-6
  if (!pkey_match(p.parsed.bth.pkey, qp.pkey)) return ++counters.bad_pkey, false;           // C9-43
  return true;
}
}  // namespace hca::blocks
