// SPDX-License-Identifier: Apache-2.0
// Where another implementation stands in for requester_psn: it makes the steps of a queue pair's
// PSNs from what they were before.
#include "model/blocks/send/requester/requester.h"

namespace hca::blocks {
using namespace proto;

namespace {
PsnKind kind_of(const SentMessage& m) {
  if (m.answer == Answer::Read) return PsnKind::Read;
  return has_response(m.answer) ? PsnKind::Atomic : PsnKind::Data;
}
}  // namespace

[[gnu::cold]] PsnAnswer Requester::step_by(u32 qpn, SendPsns& psns, const PsnRequest& request) {
  PsnAnswer answer;
  RequesterPsnItem item;
  item.qpn = qpn, item.path_mtu = contexts_.qps[qpn].path_mtu;
  item.request = request, item.psns = &psns, item.answer = &answer;
  psn_stand_in->process(item);
  return answer;
}

void Requester::start(u32 qpn) {
  if (!psn_stand_in) return;
  SendPsns& s = send_[connection_of(qpn)];
  s = {};  // nothing is left of what `command` has set
  step_by(qpn, s, {.step = PsnStep::Start, .psn = contexts_.qps[qpn].sq_psn});
}

[[gnu::cold]] void Requester::begin_by(u32 qpn, const SendPsns& before, SentMessage& m) {
  if (!m.packets) return;  // work that sends none
  SendPsns& s = send_[connection_of(qpn)];
  s = before;
  const PsnAnswer a =
      step_by(qpn, s, {.step = PsnStep::Message, .kind = kind_of(m), .byte_len = m.bytes});
  m.first_psn = a.psns.first, m.packets = a.psns.count;
}

// True: it is sent for the first time. `index`: PSNs of the message in front of the packet.
[[gnu::cold]] bool Requester::send_by(u32 qpn, const SentMessage& m, u32 index) {
  return !step_by(qpn, send_[connection_of(qpn)],
                  {.step = PsnStep::Packet,
                   .kind = kind_of(m),
                   .psn = m.first_psn,
                   .index = index,
                   .byte_len = m.bytes})
              .repeated;
}

[[gnu::cold]] void Requester::answered_by(u32 qpn, const SendPsns& before, const AckVerdict& v) {
  const bool goes_back = v.action == AckAction::Resend || v.action == AckAction::Wait;
  PsnRequest request{.step = PsnStep::Acknowledge, .psn = psn_sub(v.psn, 1)};
  if (goes_back && v.by_timer)
    request = {.step = PsnStep::Timeout};
  else if (goes_back)
    request = {.step = PsnStep::GoBack, .psn = v.psn};
  SendPsns& s = send_[connection_of(qpn)];
  s = before;
  step_by(qpn, s, request);
}
}  // namespace hca::blocks
