// SPDX-License-Identifier: Apache-2.0
// The responder's answers: READs and ATOMICs, ACKs, NAKs, credits.
#include <algorithm>

#include "model/functional/functional_hca.h"

namespace hca::functional {
using namespace proto;

void FunctionalHca::execute_read(u32 qpn, const ParsedPacket& packet, const RequestEffect& effect,
                                 std::span<const u8> frame) {
  const QpConfig& qp = receiver(qpn);
  const Answer kind = packet.opcode->traits().answer;
  u64 original = 0;
  if (packet.opcode->traits().exact_bytes) {
    std::array<u8, kAtomicBytes> bytes;
    if (kind == Answer::Atomic) {
      read_memory(effect.rkey, effect.va, bytes);
      original = load_le8(bytes.data());
    }
    const AtomicEth operands = atomic_operands(packet, frame.data());
    store_le8(bytes.data(), atomic_result(*packet.opcode, operands, original));
    if (packet.opcode->traits().changes_memory()) write_memory(effect.rkey, effect.va, bytes);
  }
  // A FLUSH finds all that was written before in memory.
  progress(qpn).saved.save(qp.max_dest_rd_atomic, effect, packet.opcode->operation, original);
  if (kind != Answer::Read)
    respond_once(qp, kind, effect, original);
  else
    respond_read(qp, effect, true);
}

void FunctionalHca::repeat_read(u32 qpn, const ParsedPacket& packet, const RequestEffect& effect) {
  const QpConfig& qp = receiver(qpn);
  SavedRequests& saved = progress(qpn).saved;
  const Answer kind = packet.opcode->traits().answer;
  const Region* region = contexts_.find_region(effect.rkey);
  const SharedQueue* const shared = contexts_.find_shared(contexts_.receive_queue_of(qp, packet));
  const bool key_good = key_allows(region, effect, remote_accessor(qp, shared), packet);
  if (kind != Answer::Read) {
    const SavedRequest* held = saved.find_result(effect.ack_psn, packet.opcode->operation);
    if (held) return respond_once(qp, kind, effect, held->original);
  } else if (refuses_repeated_read(qp, key_good)) {
    counts_.add(qp, kKeyGone.cause);
    answer(qp, kKeyGone, effect);
    return device::is_ee(qpn) ? end_refused(qpn, packet, kKeyGone)
                              : fail_receive(qpn, packet, kKeyGone);
  } else if (may_repeat_read(saved, effect, packet.opcode->operation, qp, key_good)) {
    return respond_read(qp, effect, false);
  }
  count(qp, {RequestAction::Drop, RequestCause::NotSaved, {}, {}});
}

void FunctionalHca::respond_read(const QpConfig& qp, const RequestEffect& effect, bool is_new) {
  ExtHeaders ext;
  ext.aeth = {answer_syndrome({}, effect, qp), effect.msn};
  for (u32 i = 0; i < effect.packets; ++i) {
    const ReadResponsePlan plan = plan_read_response(qp, effect, i);
    if (plan.bytes && !read_memory(effect.rkey, effect.va + plan.offset,
                                   {frame_.data() + header_bytes(qp.path, *plan.row), plan.bytes}))
      return fail_read(qp.qpn, effect, plan.psn, is_new);
    transmit(qp, *plan.row, reply_bth(qp, plan.psn, takes_becn(progress(qp.qpn).congested)), ext,
             plan.bytes);
  }
  note_told(progress(qp.qpn).told, psn_add(effect.ack_psn, effect.packets - 1), ext.aeth.msn,
            ext.aeth.syndrome, effect.receive_wqe + 1);
}

// T10-17, class A without a receive WQE: the NAK takes the place of the response whose data are
// missing.
void FunctionalHca::fail_read(u32 qpn, RequestEffect effect, u32 psn, bool is_new) {
  const QpConfig& qp = contexts_.qps[qpn];
  counts_.add(qp, kUnreadableMemory.cause);
  effect.ack_psn = psn;
  effect.msn = psn_sub(effect.msn, is_new);  // G5.3
  answer(qp, kUnreadableMemory, effect);
  ReceiveState& r = contexts_.receive_of(qpn);
  if (is_new) {
    r.epsn = psn;
    r.msn = effect.msn;
    --r.reads_accepted;
  }
  contexts_.qps[qpn].state = QpState::Error;
  r.nak_sent = false;
  raise(kAsyncEq, {EventType::QpFatal, qpn, EventPart::OutboundResponse});
  enter_error(qpn);
}

// An ATOMIC Acknowledge, or a READ response without payload.
void FunctionalHca::respond_once(const QpConfig& qp, Answer kind, const RequestEffect& effect,
                                 u64 original) {
  ExtHeaders ext;
  ext.aeth = {answer_syndrome({}, effect, qp), effect.msn};
  ext.atomic_ack_eth = {original};
  transmit(qp, reply_row(qp.service, answer_row(kind).reply),
           reply_bth(qp, effect.ack_psn, takes_becn(progress(qp.qpn).congested)), ext, 0);
  note_told(progress(qp.qpn).told, effect.ack_psn, ext.aeth.msn, ext.aeth.syndrome,
            effect.receive_wqe + 1);
}

// G4.6, G7.1: an Acknowledge packet.
void FunctionalHca::answer(const QpConfig& qp, const RequestVerdict& verdict,
                           const RequestEffect& effect) {
  ExtHeaders ext;
  ext.aeth = {answer_syndrome(verdict, effect, qp), effect.msn};
  transmit(qp, reply_row(qp.service, Operation::Acknowledge),
           reply_bth(qp, effect.ack_psn, takes_becn(progress(qp.qpn).congested)), ext, 0);
  note_told(progress(qp.qpn).told, effect.ack_psn, ext.aeth.msn, ext.aeth.syndrome,
            effect.receive_wqe + 1);
}

// G6.6, C9-217: receive WQEs were posted; the newest ACK again, with their number.
void FunctionalHca::tell_credits(const QpConfig& qp) {
  const u32 posted = contexts_.receive_of(qp.qpn).rq_posted;
  ToldCredits& told = progress(qp.qpn).told;
  if (!told.must_be_told_again(posted)) return;
  ExtHeaders ext;
  ext.aeth = {told.syndrome = ack_syndrome(credit_code(told.free(posted))), told.msn};
  transmit(qp, reply_row(qp.service, Operation::Acknowledge),
           reply_bth(qp, told.psn, takes_becn(progress(qp.qpn).congested)), ext, 0);
}
}  // namespace hca::functional
