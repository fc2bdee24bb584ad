// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/requester_psn_unit.h"

namespace hca::blocks {
using namespace proto;

namespace {
constexpr bool takes_psns(PsnStep step) {
  return step == PsnStep::Message || step == PsnStep::Packet || step == PsnStep::Resync;
}
}  // namespace

PsnAnswer step_psns(SendPsns& s, const PsnRequest& r, u32 path_mtu) {
  PsnAnswer a;
  const u32 packets = r.kind == PsnKind::Atomic ? 1 : psns_of(r.byte_len, path_mtu);
  const auto answered = [&](Psn up_to) {
    a.progress = s.acknowledge(up_to);
    if (r.step != PsnStep::Acknowledge) s.go_back(up_to);
  };
  switch (r.step) {
    case PsnStep::Start:
      s.start(r.psn);
      break;
    case PsnStep::Message:
      a.psns = {s.next_psn, packets};
      if (s.is_full(packets))
        a.result = PsnResult::Full;
      else
        s.take(packets);
      break;
    case PsnStep::Packet:
      a.psns = psns_of_packet(r.psn, packets, r.index, r.kind == PsnKind::Read);
      a.repeated = !s.send(a.psns);
      break;
    case PsnStep::Acknowledge:
    case PsnStep::GoBack:
      if (s.is_outstanding(r.psn))
        answered(psn_add(r.psn, r.step == PsnStep::Acknowledge));
      else
        a.result = r.step == PsnStep::Acknowledge && s.is_newest_acked(r.psn) ? PsnResult::Newest
                                                                              : PsnResult::Ghost;
      break;
    case PsnStep::Resync:
      a.psns = {s.next_psn, 1};
      a.progress = s.acknowledge(s.next_psn);
      s.start(s.next_psn);
      s.take(1);
      break;
    default:
      answered(s.unacked_psn);
  }
  if (!takes_psns(r.step)) a.psns = {s.unacked_psn, 0};
  a.after = s;
  return a;
}
}  // namespace hca::blocks
