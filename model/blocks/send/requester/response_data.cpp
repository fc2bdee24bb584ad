// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/response_data.h"

#include <algorithm>

namespace hca::blocks {
using namespace proto;

void ResponseData::keep_buffers(u32 index, SendQueue& q, const SentMessage& m) {
  AwaitedWork& work = q.awaited.add();
  const u32 bytes = q.cursor.count * kSgeBytes;
  work.index = index;
  std::copy_n(q.cursor.segments, bytes, work.segments.data());
  work.cursor = {work.segments.data(), q.cursor.count};
  work.cursor.skip(response_offset(m, 0));
}

bool ResponseData::may_place(const AwaitedWork& work, const QpConfig& qp, u32 bytes) {
  GatherCursor at = work.cursor;
  while (bytes) {
    const auto sge = decode<Sge>(at.segments + at.index * kSgeBytes);
    const u32 here = std::min(bytes, sge.bytes - at.offset);
    if (here && !protection_.local(sge, accessor_of(qp), qp, kLocalWrite)) return false;
    bytes -= here;
    ++at.index;
    at.offset = 0;
  }
  return true;
}

void ResponseData::begin(Packet* p, AwaitedWork& work, u32 from, u32 bytes, bool completes) {
  GatherCursor& at = work.cursor;
  packet_ = p;
  from_ = from;
  left_ = bytes;
  completes_ = completes;
  runs_.clear();
  run_ = 0;
  era_ = accesses_.begin();
  protection_.add_runs(at.segments, at.index, at.offset, bytes, runs_);
  if (!completes) return;
  p->psn = work.index;  // identifies the WQE in the notice
  queues_[p->qpn].awaited.drop();
}

void ResponseData::end() {
  packet_ = nullptr;
  accesses_.end(era_);
}

bool ResponseData::place() {
  const Run run = runs_[run_++];
  const bool last = left_ == run.bytes;
  outputs_.responses_out->start().set_write(
      run.address, packet_->piece(from_, run.there ? run.bytes : 0), last ? packet_ : nullptr,
      last && completes_, now() + 1, now() + 1);
  from_ += run.bytes;
  left_ -= run.bytes;
  if (last) end();
  return last;
}

void ResponseData::mark_placed(u32 qpn, u32 index) {
  message_of(qpn, index).placed = true;
  ++state_of(qpn).reads_placed;
}

DmaCallbacks ResponseData::client() {
  return {this,
          [](void* owner, const DmaRequest& r, Cycle ordered, Cycle) {
            auto& x = *static_cast<ResponseData*>(owner);
            const Packet& p = *static_cast<Packet*>(r.context);
            x.placed_in.push(Placed{p.qpn, p.psn, p.life}, 1, ordered - x.dma.now() - 1);
          },
          [](void*, const DmaRequest& r) {
            if (r.context) PacketPool::give_back(static_cast<Packet*>(r.context));
          }};
}
}  // namespace hca::blocks
