// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/payload_writes.h"

#include <algorithm>
#include <utility>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

WcStatus PayloadWrites::judge_scatter(u32 qpn, const ResponderQueue& q, u32 bytes) {
  const QpConfig& qp = contexts_.qps[qpn];
  const Accessor receiver = receiver_of(qp, shared_of(q.open_source));
  Scatter s = q.scatter;
  while (bytes) {
    if (s.index == s.count) return WcStatus::LocLenErr;
    const auto sge = decode<Sge>(s.sges + s.index * kSgeBytes);
    const u32 here = std::min(bytes, sge.bytes - s.offset);
    if (here && !protection_.local(sge, receiver, qp, receive_right())) return WcStatus::LocProtErr;
    bytes -= here;
    s.offset = 0;
    ++s.index;
  }
  return WcStatus::Success;
}

bool PayloadWrites::begin(Packet* p, u64 address, Cycle entered) {
  plain_ = true;
  address_ = address;
  return begin_pieces(p, entered);
}

// All of the payload goes where its keys point now, whatever the cycle in which it is written.
bool PayloadWrites::begin_scattered(Packet* p, Scatter& s, Cycle entered) {
  runs_.clear();
  protection_.add_runs(s.sges, s.index, s.offset, p->parsed.payload_bytes, runs_);
  plain_ = false;
  run_ = 0;
  return begin_pieces(p, entered);
}

[[gnu::cold]] bool PayloadWrites::begin_paged(Packet* p, const Region& region, Cycle entered) {
  const RequestEffect& e = p->effect;
  runs_.clear();
  for (u32 done = 0; done < p->parsed.payload_bytes; done += runs_.back().bytes)
    runs_.push_back(run_of(&region, e.rkey, e.va + done, p->parsed.payload_bytes - done));
  plain_ = false;
  run_ = 0;
  return begin_pieces(p, entered);
}

inline bool PayloadWrites::begin_pieces(Packet* p, Cycle entered) {
  placing_ = p;
  left_ = p->parsed.payload_bytes;
  done_ = 0;
  entered_ = entered;
  if (next_piece()) [[likely]]
    return true;
  holds_ = true;
  era_ = accesses_.begin();
  return false;
}

void PayloadWrites::end() {
  placing_ = nullptr;
  if (std::exchange(holds_, false)) [[unlikely]]
    accesses_.end(era_);
}

[[gnu::hot]] bool PayloadWrites::next_piece() {
  if (!outputs_.payload_out->can_push()) return false;
  Packet* p = placing_;
  u32 bytes = left_, written = left_;
  if (!plain_) {
    const Run run = runs_[run_++];
    address_ = run.address;
    bytes = run.bytes;
    written = run.there ? bytes : 0;
  }
  left_ -= bytes;
  const bool answered = p->parsed.bth.ack_req || p->effect.completes_message;
  Cycle at = last_ask_ = std::max({entered_, last_ask_ + 1, now() + 1});
  outputs_.payload_out->start(1, at - now() - 1)
      .set_write(address_, p->piece(p->parsed.payload_offset + done_, written), left_ ? nullptr : p,
                 !left_ && answered, at, std::max(at, p->last));
  done_ += bytes;
  if (left_) {
    outputs_.payload_out->wake_when_free();
    return false;
  }
  end();
  return true;
}

DmaCallbacks PayloadWrites::client() {
  return {this,
          [](void* part, const DmaRequest& r, Cycle first, Cycle) {
            auto& x = *static_cast<PayloadWrites*>(part);
            const Packet& p = *static_cast<Packet*>(r.context);
            x.ordered_out_.push(Ordered{p.qpn, p.life}, 1, first - x.now() - 1);
          },
          [](void*, const DmaRequest& r) {
            if (r.context) PacketPool::give_back(static_cast<Packet*>(r.context));
          }};
}
}  // namespace hca::blocks
