// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/syndrome.h"
#include "testbench/replay/replay_judge_msn.h"
#include "testbench/replay/replay_judge_reliable.h"

namespace hca::testbench {
using namespace proto;
using enum ConversationRule;

namespace {
bool is_saved_request(const KnownRequest& r) { return r.packet->row().traits().is_saved(); }

class Answers {
 public:
  Answers(Requests& requests, Verdicts& verdicts) : r_(requests), v_(verdicts), msns_(requests) {}

  void judge(const std::vector<const JudgedPacket*>& answers) {
    msns_.learn(answers);
    for (const JudgedPacket* p : answers) {
      while (seen_ < r_.copies.size() && r_.copies[seen_].packet->number < p->number) see_request();
      take(*p);
    }
    while (seen_ < r_.copies.size()) see_request();
    for (const Hole& h : r_.holes) close(h);
  }

 private:
  // ---- Requests as they come
  void see_request() {
    const Copy& c = r_.copies[seen_++];
    const bool is_new = c.last() >= newest_;
    if (is_new) judge_credits(c);
    newest_ = std::max(newest_, c.last() + 1);
    const bool resyncs = c.packet->is(Operation::Resync);  // it need not be expected
    if ((c.first <= executed_ || resyncs) && c.last() >= executed_) executed_ = c.last() + 1;
    if (!is_new) judge_retry(c);
    if (rnr_ && rnr_->psn == c.first) {
      const u64 waited = c.packet->time - rnr_->time;
      // What was on its way when the NAK came is not sent again because of it.
      if (waited < rnr_->delay && !is_new)
        v_.broken(RnrTooSoon, c.packet->number,
                  fmt::format("PSN {} after {} ns, at least {} ns", c.packet->psn(), waited,
                              rnr_->delay));
      rnr_.reset();
    }
    if (nak_ && c.first <= *nak_) nak_.reset();
  }
  // G11.3: the oldest unacknowledged packet again; RNR NAKs have a count of their own.
  void judge_retry(const Copy& c) {
    const CmEnd* const sender = r_.flow().sender();
    const KnownRequest* const before = r_.at(c.first);
    const bool oldest = c.first <= acked_ + 1 && c.last() > acked_;
    if (!sender || !oldest || (rnr_ && rnr_->psn == c.first)) return;
    if (before && before->packet->bytes == c.packet->bytes) return;  // doubled on the way
    if (std::exchange(retried_at_, acked_) != acked_) retries_ = 0;
    if (++retries_ > sender->retry_count)
      v_.broken(TooManyRetries, c.packet->number,
                fmt::format("{}, sent again {} times without an answer, {} allowed",
                            c.packet->text(), retries_, sender->retry_count));
  }
  // G6.3.
  void judge_credits(const Copy& c) {
    if (!limit_ || !c.packet->is(Operation::Send) || !begins_message(c.packet->row().position))
      return;
    if (r_.wqes_by(c.first - 1) + 1 > *limit_ + 1)
      v_.broken(BeyondCredits, c.packet->number, c.packet->text());
  }
  void take_credits(u8 syndrome, LongPsn psn) {
    v_.freedom(syndrome_value(syndrome) == kCreditsUnused ? "ACK without credits"
                                                          : "ACK with credits");
    if (syndrome_value(syndrome) == kCreditsUnused) {
      limit_.reset();
      unlimited_ = true;
      return;
    }
    if (unlimited_) return;
    const KnownRequest* at = r_.at(psn);
    const bool inside = at && !ends_message(at->packet->row().position);
    const u64 limit = r_.wqes_by(psn) + kCredits[syndrome_value(syndrome)] + inside;
    limit_ = std::max(limit_.value_or(0), limit);
  }

  // ---- Answers
  void take(const JudgedPacket& p) {
    const LongPsn psn = r_.long_psn(p.psn(), newest_ ? newest_ - 1 : 0);
    if (psn < 0 && acked_ < 0) {
      // G6.6: an ACK of the PSN before the first request advertises credits.
      if (psn == -1 && p.is(Operation::Acknowledge) && is_ack(p))
        v_.freedom("ACK before the first request, for its credits");
      else
        v_.not_judged("answers to requests from before the recording");
      return;
    }
    if (psn >= newest_ && !is_lost(psn)) {
      v_.broken(r_.at(psn) ? AnswersAhead : AnswersNothing, p.number, p.text());
      return;
    }
    const bool refuses = p.is(Operation::Acknowledge) && !is_ack(p);
    if (v_.complete() && !refuses && psn >= executed_ && psn < newest_)
      v_.broken(AnswersUnexecuted, p.number, p.text());
    if (fatal_ && psn >= *fatal_ && !is_copy(p)) v_.broken(AfterFatalNak, p.number, p.text());
    judge_asker(p, psn);
    if (p.is(Operation::Acknowledge))
      acknowledge(p, psn);
    else
      respond(p, psn);
    last_ = &p;
  }
  // RD: the answer goes to the queue pair whose message it answers.
  void judge_asker(const JudgedPacket& p, LongPsn psn) {
    const KnownRequest* const at = r_.at(psn);
    if (!at || !at->packet->p.has(Ext::Rdeth)) return;
    const u32 asker = at->packet->p.deth.src_qp;
    if (p.p.bth.dest_qp != asker)
      v_.broken(AnswerToOther, p.number,
                fmt::format("{} to QP {:#x}, {:#x} asked", p.text(), p.p.bth.dest_qp, asker));
  }
  static bool is_ack(const JudgedPacket& p) {
    return syndrome_kind(p.p.aeth.syndrome) == SyndromeKind::Ack;
  }
  // A packet in a hole of the recording existed, or it had no answer.
  bool is_lost(LongPsn psn) const {
    return !v_.complete() && std::ranges::any_of(r_.holes, [&](const Hole& h) {
      return psn >= h.from && psn < h.to;
    });
  }
  bool is_copy(const JudgedPacket& p) const {
    return last_ && last_->bytes.size() == p.bytes.size() &&
           std::equal(p.bytes.begin() + p.p.transport_offset, p.bytes.end(),
                      last_->bytes.begin() + last_->p.transport_offset);
  }

  void acknowledge(const JudgedPacket& p, LongPsn psn) {
    const u8 syndrome = p.p.aeth.syndrome;
    switch (syndrome_kind(syndrome)) {
      case SyndromeKind::Ack:
        positive(p, psn);
        break;
      case SyndromeKind::RnrNak:
        rnr_nak(p, psn);
        break;
      case SyndromeKind::Reserved:
        return v_.broken(ReservedSyndrome, p.number, fmt::format("{:#x}", syndrome));
      case SyndromeKind::Nak:
        if (syndrome_value(syndrome) > u8(NakCode::OperationInProgress))
          return v_.broken(ReservedSyndrome, p.number, fmt::format("{:#x}", syndrome));
        syndrome == nak_syndrome(NakCode::PsnSequenceError) ? sequence_nak(p, psn)
                                                            : fatal_nak(p, psn);
    }
    judge_msn(p, psn, syndrome_kind(syndrome) == SyndromeKind::Ack ? psn : psn - 1);
  }

  void positive(const JudgedPacket& p, LongPsn psn) {
    if (psn < acked_)
      return v_.broken(AckBack, p.number,
                       fmt::format("{}, {} was acknowledged", p.text(),
                                   (r_.flow().packets.front()->psn() + u32(acked_)) & kPsnMask));
    if (psn == acked_) {
      v_.freedom("ACK repeated");
    } else {
      const KnownRequest* at = r_.at(psn);
      if (at && is_saved_request(*at)) return v_.broken(AckOfRead, p.number, p.text());
      answered_before(p, psn);
      u64 asked = 0;
      for (auto i = r_.known.upper_bound(acked_); i != r_.known.end() && i->first < psn; ++i)
        asked += i->second.packet->p.bth.ack_req && !is_saved_request(i->second);
      if (asked) v_.freedom("ACK merged into a later one", asked);
      if (at && !at->packet->p.bth.ack_req) v_.freedom("ACK that no request requires");
    }
    acked_ = std::max(acked_, psn);
    rnr_.reset();
    const bool counted = syndrome_value(p.p.aeth.syndrome) != kCreditsUnused;
    if (counted && r_.flow().service == Service::Xrc)
      return v_.broken(CreditsOfXrc, p.number, p.text());
    take_credits(p.p.aeth.syndrome, psn);
  }
  // READs and ATOMICs before `psn` have their responses, for answers keep their order.
  void answered_before(const JudgedPacket& p, LongPsn psn) {
    for (auto i = r_.known.begin(); i != r_.known.end() && i->first < psn; ++i) {
      if (i->second.last() <= acked_ || !is_saved_request(i->second)) continue;
      if (r_.was_ended(i->second, psn)) continue;
      const LongPsn from = std::max(i->first, acked_ + 1), to = std::min(i->second.last(), psn - 1);
      if (from > to) continue;
      if (v_.complete() && !was_lost_on_the_way(from))
        v_.broken(AnswerSkipped, p.number, i->second.packet->text());
      else
        v_.lost("responses lost at the recorder: a later answer proves that they were sent",
                u64(to - from + 1));
    }
  }
  bool was_lost_on_the_way(LongPsn) const { return false; }

  void sequence_nak(const JudgedPacket& p, LongPsn psn) {
    if (rnr_ && rnr_->psn == psn) {
      v_.broken(NakAfterRnr, p.number, p.text());
    } else if (nak_ == psn && !is_copy(p)) {
      v_.broken(NakAgain, p.number, p.text());
    } else if (psn + 1 >= newest_ || psn < acked_) {
      v_.broken(NakWithoutGap, p.number, p.text());
    } else if (const KnownRequest* at = r_.at(psn); at && at->packet->number < p.number) {
      v_.lost("requests lost after the recording point: a sequence NAK requests them");
    }
    if (psn > acked_ + 1) answered_before(p, psn);
    nak_ = psn;
    acked_ = std::max(acked_, psn - 1);
  }
  void rnr_nak(const JudgedPacket& p, LongPsn psn) {
    const KnownRequest* at = r_.at(psn);
    const OpcodeRow* row = at ? &at->packet->row() : nullptr;
    const bool takes = row && (row->operation == Operation::Send ||
                               (row->operation == Operation::Write && row->has(Ext::ImmDt)));
    if (at && !takes) v_.broken(RnrOfOther, p.number, p.text());
    if (psn > acked_ + 1) answered_before(p, psn);
    acked_ = std::max(acked_, psn - 1);
    rnr_ = Rnr{psn, p.time, rnr_delay_ns(syndrome_value(p.p.aeth.syndrome))};
  }
  void fatal_nak(const JudgedPacket& p, LongPsn psn) {
    if (psn > acked_ + 1) answered_before(p, psn);
    acked_ = std::max(acked_, psn - 1);
    if (r_.flow().service != Service::Rd) fatal_ = psn;  // the EE context goes on
  }

  // ---- Responses of READs and ATOMICs
  void respond(const JudgedPacket& p, LongPsn psn) {
    const KnownRequest* at = r_.at(psn);
    if (!at) return;  // in a hole
    const bool is_read = p.is(Operation::ReadResponse);
    const Answer wanted = at->packet->row().traits().answer;
    if (!has_response(wanted) || is_read != (wanted != Answer::Atomic) ||
        (wanted == Answer::Empty && p.p.payload_bytes))
      return v_.broken(AnswerOfOtherKind, p.number,
                       fmt::format("{}, request {}", p.text(), at->packet->row().name));
    if (psn <= acked_) {
      const auto asks = [&](const Copy& c) { return c.first <= psn && psn <= c.last(); };
      const auto begin = r_.copies.begin();
      const bool again = std::count_if(begin, begin + std::ptrdiff_t(seen_), asks) > 1;
      if (is_copy(p))
        v_.freedom("packet doubled on the way");
      else if (!again)
        return v_.broken(AnswerUnasked, p.number, p.text());
    } else if (psn > acked_ + 1) {
      answered_before(p, psn);
    }
    is_read ? judge_read(p, psn) : judge_atomic(p, psn);
    acked_ = std::max(acked_, psn);
    rnr_.reset();
    if (p.p.has(Ext::Aeth)) {
      judge_msn(p, psn, psn);
      take_credits(p.p.aeth.syndrome, at->last());
    }
  }
  // One of the requests for it, the newest first, has it at this place and of this length.
  void judge_read(const JudgedPacket& p, LongPsn psn) {
    const u32 mtu = r_.flow().mtu;
    bool at_place = false;
    for (std::size_t i = seen_; i-- > 0;) {
      const Copy& c = r_.copies[i];
      if (!c.packet->is(Operation::ReadRequest) || psn < c.first || psn > c.last()) continue;
      const u64 index = u64(psn - c.first), length = c.packet->p.reth.dma_len;
      const bool first = index == 0, last = psn == c.last();
      const Position position = first ? (last ? Position::Only : Position::First)
                                      : (last ? Position::Last : Position::Middle);
      if (p.row().position != position) continue;
      at_place = true;
      if (p.p.payload_bytes == (last ? length - index * mtu : mtu)) return;
    }
    v_.broken(at_place ? AnswerLength : AnswerPosition, p.number,
              fmt::format("{}, {} bytes", p.text(), p.p.payload_bytes));
  }
  void judge_atomic(const JudgedPacket& p, LongPsn psn) {
    const u64 original = p.p.atomic_ack_eth.original;
    const auto [saved, is_new] = results_.try_emplace(psn, original);
    if (saved->second != original) v_.broken(AtomicAnswerDiffers, p.number, p.text());
  }

  // `done`: the last PSN whose messages count. Answers of old requests have the current MSN.
  void judge_msn(const JudgedPacket& p, LongPsn psn, LongPsn done) {
    const bool may_be_newer = psn < acked_ || !p.is(Operation::Acknowledge);
    const auto range = msns_.range_of(done, may_be_newer ? newest_ - 1 : done);
    if (!range) return v_.not_judged("MSNs after missing packets");
    const u32 msn = p.p.aeth.msn, width = psn_sub(range->second, range->first);
    const KnownRequest* at = r_.at(psn);
    const bool invalidates = at && at->packet->p.has(Ext::Ieth);
    if (psn_sub(msn, range->first) > width)
      v_.broken(invalidates && !msn ? MsnOfInvalidate : Msn, p.number,
                fmt::format("{}, MSN {}, {} is right", p.text(), msn, range->first));
  }

  // ---- What never came into the recording
  void close(const Hole& h) {
    const u64 packets = u64(h.to - h.from);
    const bool proven = acked_ >= h.to - 1;
    if (proven && !v_.complete())
      v_.lost("requests lost at the recorder: answers prove that they arrived", packets);
    else
      v_.broken(PsnGap, h.frame, fmt::format("{} before {}", packets, h.after->text()));
  }

  struct Rnr {
    LongPsn psn;
    u64 time, delay;
  };
  Requests& r_;
  Verdicts& v_;
  Msns msns_;
  std::size_t seen_ = 0;  // copies before the answer
  LongPsn newest_ = 0, acked_ = -1;
  LongPsn executed_ = 0;  // the first after what came in order
  LongPsn retried_at_ = -2;
  unsigned retries_ = 0;  // since `acked_` was this
  std::optional<LongPsn> nak_, fatal_;
  std::optional<Rnr> rnr_;
  std::optional<u64> limit_;
  bool unlimited_ = false;
  std::map<LongPsn, u64> results_;
  const JudgedPacket* last_ = nullptr;
};
}  // namespace

void judge_answers(Requests& requests, const std::vector<const JudgedPacket*>& answers,
                   Verdicts& verdicts) {
  Answers(requests, verdicts).judge(answers);
}

void judge_reliable(const Flow& flow, const Flow* back, Verdicts& verdicts) {
  Requests requests(flow, verdicts);
  requests.read();
  requests.judge_order();
  std::vector<const JudgedPacket*> answers;
  if (back)
    std::ranges::copy_if(back->packets, std::back_inserter(answers),
                         [](const JudgedPacket* p) { return !p->row().is_request; });
  if (requests.known.empty()) {
    if (!answers.empty())
      verdicts.not_judged("answers whose requests are not in the recording", answers.size());
    return;
  }
  judge_answers(requests, answers, verdicts);
}
}  // namespace hca::testbench
