// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/response_check.h"

#include "model/proto/transport/port_rules.h"

namespace hca::blocks {
using namespace proto;

Cycle ResponseCheck::check(Packet& p, Cycle at, Acknowledgement& out) {
  const QpConfig& qp = context_.contexts.qps[p.qpn];
  if (!good(p, qp)) [[unlikely]]
    return kNever;
  ++counters.good;
  out = {.qpn = p.qpn,
         .psn = p.psn,
         .dest_qpn = p.parsed.bth.dest_qp,
         .payload_bytes = p.parsed.payload_bytes};
  if (p.parsed.has(Ext::Aeth)) {
    out.msn = p.parsed.aeth.msn;
    out.syndrome = p.parsed.aeth.syndrome;
  }
  if (p.parsed.opcode->operation != Operation::Acknowledge) out.packet = &p;
  const Cycle leaves = stage_.enter(context_.look_up(port_, at, p.qpn));
  probe.event(leaves, Step::Passed, p.qpn, p.psn);
  return leaves;
}

bool ResponseCheck::good(const Packet& p, const QpConfig& qp) {
  const RequestCause cause = judge_response_header(
      {p.parsed, p.bytes(), qp, context_.contexts.receive_of(p.qpn), nullptr});
  counts_.drop(qp.port, counter_of(cause, qp, p.frame(), p.parsed));
  switch (cause) {
    case RequestCause::Good:
      return true;
    case RequestCause::WrongService:
      ++counters.wrong_service;
      return false;
    case RequestCause::BadQpState:
      ++counters.bad_qp_state;
      return false;
    case RequestCause::WrongPath:
      ++counters.wrong_path;
      return false;
    case RequestCause::WrongVl:
      ++counters.wrong_vl;
      return false;
    default:
      ++counters.bad_pkey;
      return false;
  }
}
}  // namespace hca::blocks
