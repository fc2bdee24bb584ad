// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/responder_check_lockstep.h"

#include "testbench/lockstep/checked_look_ups.h"
#include "testbench/lockstep/describe.h"
#include "testbench/lockstep/lockstep.h"

namespace hca::testbench {
using namespace proto;

void ResponderCheckCounts::count(const ResponderCheckPacket& p) {
  using enum RequestAction;
  const RequestAction a = p.checked.verdict.action;
  executed += a == Execute;
  answered += a == Acknowledge || a == Repeat;
  dropped += is_silent(a);
  refused += a == Nak || a == NakAndFail || a == NakAndEnd || a == RnrNak || a == Fail;
  followed += p.distance == 1;
}

std::string ResponderCheckCounts::text() const {
  return fmt::format(
      "executed {}, duplicates answered {}, refused {}, dropped {}; right behind one of the same "
      "queue pair {}",
      executed, answered, refused, dropped, followed);
}

void ResponderCheckLockstep::set_side_band(const Packet& p, In& control) {
  const bool first = control.first, last = control.last;
  const u8 bytes = control.bytes;
  const PacketVerdict early = control.verdict;
  control = p.headers;
  control.first = first;
  control.last = last;
  control.bytes = bytes;
  if (!last) control.verdict = early;  // valid with the last beat only
}

rtl::BeatOf<rtl::Judged> ResponderCheckLockstep::expected(const Packet& p, u32, u32) {
  const blocks::CheckedRequest& k = p.checked;
  const RequestEffect& e = k.effect;
  const bool shared = p.config.shared;
  rtl::BeatOf<Out> beat;
  Out& c = beat.control;
  c.first = c.last = true;
  c.ee = p.of_ee();
  c.qpn = device::eecn_of(p.qp.qpn);
  c.srqn = p.srq ? p.srq->srqn : k.queue;
  c.keeps_wqe = k.keeps_wqe;
  c.shared = shared;
  c.action = u8(k.verdict.action);
  c.cause = u8(k.verdict.cause);
  c.nak = u8(k.verdict.nak);
  c.syndrome = k.syndrome;
  c.below_limit = k.below_limit;
  c.completes_message = e.completes_message;
  c.congested = e.congested;
  c.takes_shared = e.takes_shared;
  c.ack_psn = e.ack_psn;
  c.msn = e.msn;
  c.packets = e.packets;
  c.va = e.va;
  c.rkey = e.rkey;
  c.byte_len = e.byte_len;
  c.receive_wqe = e.receive_wqe;
  c.free_receives = e.free_receives;
  const u32 consumed = p.of_ee() ? k.queue_consumed : shared ? k.shared.taken : k.state.rq_consumed;
  c.state = checked_state(k.state, consumed, shared ? k.shared.limit : 0, k.owner_consumed);
  return beat;
}

std::string ResponderCheckLockstep::describe(const Packet& p, bool left) {
  std::string verdict;
  if (left) {
    const RequestVerdict& v = p.checked.verdict;
    const bool good = v.cause == RequestCause::Good;  // no rule is broken
    verdict = fmt::format("; {}, {} ({})", kRequestActionNames[std::size_t(v.action)],
                          kRequestCauseNames[std::size_t(v.cause)], good ? "T12-13" : v.statement);
  }
  return fmt::format(
      "packet {}: {}{}; ePSN {:#x}, in message {}, {} packets behind one of its queue pair, "
      "answers {} and {} cycles late{}\n",
      p.number, p.what, verdict, p.before.epsn, int(p.before.message), p.distance, p.context_late,
      p.region_late, headers_of(p.frame, p.link));
}

template LockstepResult<ResponderCheckLockstep> run_lockstep(
    const LockstepOptions<ResponderCheckLockstep>&);
}  // namespace hca::testbench
