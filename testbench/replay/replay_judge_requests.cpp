// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "testbench/replay/replay_judge_reliable.h"

namespace hca::testbench {
using namespace proto;

namespace {
// Headers and payload of a request, but for what a copy may have otherwise (G1.3).
bool same_request(const JudgedPacket& a, const JudgedPacket& b) {
  const Bth &x = a.p.bth, &y = b.p.bth;
  if (x.opcode != y.opcode || x.solicited != y.solicited || x.pad_count != y.pad_count ||
      x.pkey != y.pkey)
    return false;
  const u32 from = a.p.transport_offset + bytes_of<Bth>(), bytes = a.p.icrc_offset - from,
            other = b.p.transport_offset + bytes_of<Bth>();
  if (bytes != b.p.icrc_offset - other) return false;
  if (a.cut || b.cut) return true;
  return std::equal(a.bytes.begin() + from, a.bytes.begin() + from + bytes,
                    b.bytes.begin() + other);
}
bool takes_wqe(const OpcodeRow& row) {
  return row.operation == Operation::Send
             ? ends_message(row.position)
             : row.operation == Operation::Write && row.has(Ext::ImmDt);
}
}  // namespace

LongPsn Requests::long_psn(u32 psn, LongPsn near) const {
  return near + psn_distance(psn_add(base_.value_or(psn), u32(near) & kPsnMask), psn);
}

void Requests::read() {
  for (const JudgedPacket* p : flow_.packets) {
    if (!p->row().is_request) continue;
    const CmEnd* const sender = flow_.sender();
    if (!base_) base_ = sender ? sender->first_psn : p->psn();
    const LongPsn first = long_psn(p->psn(), end);
    const u32 psns = psns_taken(*p, flow_.mtu);
    if (first < 0 && sender) {
      verdicts_.broken(ConversationRule::FirstPsn, p->number,
                       fmt::format("{}, told {}", p->text(), sender->first_psn));
      continue;
    }
    if (first < 0) {
      verdicts_.not_judged("requests that were sent first before the recording began");
      continue;
    }
    copies.push_back({p, first, psns});
    if (first < end) {
      repeat(*p, first);
      continue;
    }
    // G13.3: the PSN of a RESYNC is after all PSNs of its message, also of packets that never left.
    const bool resyncs = p->is(Operation::Resync);
    if (resyncs) resyncs_.insert(first);
    if (first > end && !resyncs) holes.push_back({end, first, p->number, p});
    known[first] = {p, first, psns, 0};
    end = first + psns;
  }
}

const KnownRequest* Requests::at(LongPsn psn) const {
  auto found = known.upper_bound(psn);
  if (found == known.begin()) return nullptr;
  --found;
  return psn <= found->second.last() ? &found->second : nullptr;
}

// What was missing came when it was sent again.
void Requests::fill(LongPsn from, LongPsn to) {
  std::vector<Hole> left;
  for (const Hole& h : holes) {
    if (to <= h.from || from >= h.to) {
      left.push_back(h);
      continue;
    }
    if (h.from < from) left.push_back({h.from, from, h.frame, h.after});
    if (to < h.to) left.push_back({to, h.to, h.frame, h.after});
  }
  holes = std::move(left);
}

void Requests::repeat(const JudgedPacket& p, LongPsn first) {
  const KnownRequest* whole = at(first);
  if (!whole) {
    const u32 psns = psns_taken(p, flow_.mtu);
    known[first] = {&p, first, psns, 0};
    fill(first, first + psns);
    verdicts_.lost("requests lost before the recording point, sent again");
    return;
  }
  verdicts_.freedom("request sent again");
  const JudgedPacket& before = *whole->packet;
  const auto differs = [&](ConversationRule rule) {
    verdicts_.broken(rule, p.number,
                     fmt::format("{}, frame {}: {}", p.text(), before.number, before.text()));
  };
  if (!before.is(Operation::ReadRequest) || !p.is(Operation::ReadRequest)) {
    if (first != whole->first || !same_request(before, p)) differs(ConversationRule::RepeatDiffers);
    return;
  }
  const u64 skipped = u64(first - whole->first) * flow_.mtu;
  const Reth &old = before.p.reth, &again = p.p.reth;
  const bool inside = again.rkey == old.rkey && again.va == old.va + skipped &&
                      skipped + again.dma_len <= old.dma_len;
  const bool to_its_end = skipped + again.dma_len == old.dma_len;
  if (!inside || (!to_its_end && again.dma_len % flow_.mtu))
    differs(ConversationRule::RepeatedReadBeyond);
}

void Requests::judge_length(const KnownRequest& r) {
  const JudgedPacket& p = *r.packet;
  const PayloadRule rule = p.row().payload;
  if (payload_length_ok(rule, p.p.payload_bytes, flow_.mtu)) return;
  verdicts_.broken(
      rule == PayloadRule::FullMtu ? ConversationRule::FullLength : ConversationRule::LastLength,
      p.number, fmt::format("{}, {} bytes, path MTU {}", p.text(), p.p.payload_bytes, flow_.mtu));
}

void Requests::judge_srq(const JudgedPacket& before, const JudgedPacket& p) {
  const u32 first = before.p.xrc_eth.xrc_srq, srq = p.p.xrc_eth.xrc_srq;
  if (first != srq)
    verdicts_.broken(ConversationRule::SrqChanges, p.number,
                     fmt::format("{}, SRQ {:#x} after {:#x}", p.text(), srq, first));
}

void Requests::judge_queue_pair(const JudgedPacket& before, const JudgedPacket& p) {
  const u32 first = before.p.bth.dest_qp, qp = p.p.bth.dest_qp;
  if (first != qp)
    verdicts_.broken(ConversationRule::QueuePairChanges, p.number,
                     fmt::format("{}, QP {:#x} after {:#x}", p.text(), qp, first));
}

bool Requests::was_ended(const KnownRequest& request, LongPsn by) const {
  const auto resync = resyncs_.upper_bound(request.first);
  return resync != resyncs_.end() && *resync <= by;
}

void Requests::judge_order() {
  const KnownRequest* before = nullptr;
  std::size_t segment = 0;
  u64 bytes = 0, asked = 0;
  bool whole = false;  // the message is here from its beginning on
  for (auto& [first, r] : known) {
    const OpcodeRow& row = r.packet->row();
    const Position at = row.position;
    const bool gap = before && before->last() + 1 != first;
    // What a RESYNC ended may have been executed or not: message counts are lost.
    if (gap || r.packet->is(Operation::Resync)) {
      ++segment;
      before = nullptr;
      whole = false;
    }
    r.segment = segment;
    judge_length(r);
    const bool continues = !begins_message(at);
    if (before) {
      const OpcodeRow& last = before->packet->row();
      const bool is_open = !ends_message(last.position);
      if (is_open != continues || (is_open && last.operation != row.operation))
        verdicts_.broken(ConversationRule::Sequence, r.packet->number,
                         fmt::format("{} after {}", row.name, last.name));
      if (continues && row.has(Ext::XrcEth)) judge_srq(*before->packet, *r.packet);
      if (continues && row.has(Ext::Rdeth)) judge_queue_pair(*before->packet, *r.packet);
    }
    if (!continues) {
      whole = true;
      bytes = 0;
      asked = r.packet->p.has(Ext::Reth) ? r.packet->p.reth.dma_len : 0;
    }
    bytes += r.packet->p.payload_bytes;
    if (whole && row.operation == Operation::Write && ends_message(at) && bytes != asked)
      verdicts_.broken(ConversationRule::WriteLength, r.packet->number,
                       fmt::format("{} of {} bytes", bytes, asked));
    if (row.traits().is_atomic() && r.packet->p.atomic_eth.va % kAtomicBytes)
      verdicts_.broken(ConversationRule::MisalignedAtomic, r.packet->number, r.packet->text());
    if (ends_message(at) && row.operation != Operation::Resync)
      ends_.push_back({r.last(), segment});
    if (takes_wqe(row)) wqes_.push_back(r.last());
    before = &r;
  }
}

// A READ counts from its first response on: it is executed when it is taken (G5.2).
std::optional<Requests::Ended> Requests::ended_by(LongPsn psn) const {
  const KnownRequest* request = at(psn);
  if (!request && psn != -1) return std::nullopt;
  const std::size_t segment = request ? request->segment : 0;
  const LongPsn to = request ? request->last() : psn;
  const auto begin =
      std::ranges::lower_bound(ends_, segment, {}, [](const auto& e) { return e.second; });
  const auto end_of =
      std::ranges::upper_bound(ends_, to, {}, [](const auto& e) { return e.first; });
  return Ended{segment, std::max<LongPsn>(0, end_of - begin)};
}

u64 Requests::wqes_by(LongPsn psn) const {
  return u64(std::ranges::upper_bound(wqes_, psn) - wqes_.begin());
}
}  // namespace hca::testbench
