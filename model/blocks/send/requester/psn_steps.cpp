// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/psn_steps.h"

namespace hca::blocks {
using namespace proto;

namespace {
PsnKind kind_of(const SentMessage& m) {
  if (m.answer == Answer::Read) return PsnKind::Read;
  return has_response(m.answer) ? PsnKind::Atomic : PsnKind::Data;
}
}  // namespace

[[gnu::cold]] PsnAnswer PsnSteps::step(u32 qpn, SendPsns& psns, const PsnRequest& request) {
  PsnAnswer answer;
  RequesterPsnItem item;
  item.qpn = qpn;
  item.path_mtu = contexts_.qps[qpn].path_mtu;
  item.request = request;
  item.psns = &psns;
  item.answer = &answer;
  stand_in->process(item);
  return answer;
}

void PsnSteps::start(u32 qpn) {
  if (!stand_in) return;
  SendPsns& s = state_of(qpn);
  s = {};  // clears everything that `command` has set
  step(qpn, s, {.step = PsnStep::Start, .psn = contexts_.qps[qpn].sq_psn});
}

[[gnu::cold]] void PsnSteps::begin(u32 qpn, const SendPsns& before, SentMessage& m) {
  if (!m.packets) return;  // a local work request sends no packets
  SendPsns& s = state_of(qpn);
  s = before;
  const PsnAnswer a =
      step(qpn, s, {.step = PsnStep::Message, .kind = kind_of(m), .byte_len = m.bytes});
  m.first_psn = a.psns.first;
  m.packets = a.psns.count;
}

[[gnu::cold]] bool PsnSteps::send(u32 qpn, const SentMessage& m, u32 index) {
  return !step(qpn, state_of(qpn),
               {.step = PsnStep::Packet,
                .kind = kind_of(m),
                .psn = m.first_psn,
                .index = index,
                .byte_len = m.bytes})
              .repeated;
}

[[gnu::cold]] void PsnSteps::resync(u32 ee, const SendPsns& before, SentMessage& m) {
  SendPsns& s = state_of(ee);
  s = before;
  const PsnAnswer a = step(ee, s, {.step = PsnStep::Resync});
  m.first_psn = a.psns.first;
  m.packets = a.psns.count;
}

[[gnu::cold]] void PsnSteps::answer(u32 qpn, const SendPsns& before, const AckVerdict& v) {
  const bool goes_back = v.action == AckAction::Resend || v.action == AckAction::Wait ||
                         v.action == AckAction::Migrate;
  PsnRequest request{.step = PsnStep::Acknowledge, .psn = psn_sub(v.psn, 1)};
  if (goes_back && v.by_timer)
    request = {.step = PsnStep::Timeout};
  else if (goes_back)
    request = {.step = PsnStep::GoBack, .psn = v.psn};
  SendPsns& s = state_of(qpn);
  s = before;
  step(qpn, s, request);
}

void PsnSteps::finish(u32 qpn, Psn next_psn) {
  SendPsns& s = state_of(qpn);
  if (stand_in)
    step(qpn, s, {.step = PsnStep::Acknowledge, .psn = psn_sub(next_psn, 1)});
  else
    s.acknowledge(next_psn);
}
}  // namespace hca::blocks
