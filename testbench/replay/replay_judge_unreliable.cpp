// SPDX-License-Identifier: Apache-2.0
// UC and UD: nothing is answered, so missing packets were lost at an unknown place.
#include <fmt/format.h>

#include <algorithm>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
using namespace proto;

namespace {
bool same_on_wire(const JudgedPacket& a, const JudgedPacket& b) {
  return std::equal(a.bytes.begin() + a.p.transport_offset, a.bytes.end(),
                    b.bytes.begin() + b.p.transport_offset, b.bytes.end());
}

// Numbers of one sender; false: the packet is a copy of an earlier one.
class Numbers {
 public:
  Numbers(Verdicts& verdicts, const char* service) : verdicts_(verdicts), service_(service) {}
  // `jumped`: whether packets before it are missing.
  bool take(const JudgedPacket& p, bool& jumped) {
    jumped = false;
    if (!next_) {
      next_ = psn_add(p.psn(), 1);
      seen_[p.psn()] = &p;
      return true;
    }
    const s32 ahead = psn_distance(*next_, p.psn());
    if (ahead < 0) {
      const auto known = seen_.find(p.psn());
      if (known != seen_.end() && same_on_wire(*known->second, p))
        verdicts_.freedom("packet doubled on the way");
      else
        verdicts_.broken(ConversationRule::PsnBack, p.number,
                         fmt::format("{}, {} is due", p.text(), *next_));
      return false;
    }
    if (ahead > 0) {
      jumped = true;
      if (verdicts_.complete())
        verdicts_.broken(ConversationRule::PsnGap, p.number,
                         fmt::format("{}, {} is due", p.text(), *next_));
      else
        verdicts_.not_judged(
            fmt::format("{} missing packets: nothing shows where they were lost", service_),
            u64(ahead));
    }
    next_ = psn_add(p.psn(), 1);
    seen_[p.psn()] = &p;
    return true;
  }

 private:
  Verdicts& verdicts_;
  const char* service_;
  std::optional<u32> next_;
  std::map<u32, const JudgedPacket*> seen_;
};
}  // namespace

void judge_unreliable(const Flow& flow, Verdicts& verdicts) {
  Numbers numbers(verdicts, "UC");
  const JudgedPacket* before = nullptr;  // unknown after a gap
  u64 bytes = 0, asked = 0;
  for (const JudgedPacket* p : flow.packets) {
    const OpcodeRow& row = p->row();
    if (!row.is_request) {
      verdicts.broken(ConversationRule::AnswersNothing, p->number, p->text());
      continue;
    }
    if (p->p.bth.ack_req) verdicts.broken(ConversationRule::AckReqOfUc, p->number, p->text());
    const u32 length = p->p.payload_bytes;
    if (!payload_length_ok(row.payload, length, flow.mtu))
      verdicts.broken(row.payload == PayloadRule::FullMtu ? ConversationRule::FullLength
                                                          : ConversationRule::LastLength,
                      p->number, fmt::format("{}, {} bytes at {}", p->text(), length, flow.mtu));
    bool jumped = false;
    if (!numbers.take(*p, jumped)) continue;
    if (jumped) before = nullptr;
    const bool starts = begins_message(row.position);
    if (before && ends_message(before->row().position) != starts)
      verdicts.broken(ConversationRule::Sequence, p->number, p->text());
    if (before && !starts && before->row().operation != row.operation)
      verdicts.broken(ConversationRule::Sequence, p->number, p->text());
    if (starts) {
      bytes = 0;
      asked = p->p.has(Ext::Reth) ? p->p.reth.dma_len : 0;
    }
    bytes += length;
    const bool whole = before || starts;
    if (whole && row.operation == Operation::Write && ends_message(row.position) && bytes != asked)
      verdicts.broken(ConversationRule::WriteLength, p->number,
                      fmt::format("{} of {} bytes", bytes, asked));
    before = whole || ends_message(row.position) ? p : nullptr;
  }
}

void judge_datagrams(const Flow& flow, Verdicts& verdicts) {
  Numbers numbers(verdicts, "UD");
  for (const JudgedPacket* p : flow.packets) {
    bool jumped = false;
    if (p->p.payload_bytes > kPathMtus.back())
      verdicts.broken(ConversationRule::LastLength, p->number, p->text());
    // A sender numbers all its datagrams: those to other queue pairs lie between.
    numbers.take(*p, jumped);
  }
}
}  // namespace hca::testbench
