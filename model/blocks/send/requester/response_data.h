// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/memory/protection.h"
#include "model/blocks/send/requester/requester_part.h"

namespace hca::blocks {
// Writes the data of READ and ATOMIC responses to host memory, one piece a cycle.
class ResponseData : RequesterPart {
 public:
  ResponseData(const RequesterPart& shared, Protection& protection, Accesses& accesses)
      : RequesterPart(shared), protection_(protection), accesses_(accesses) {
    placed_in.mark(pending_, kAnswers);
  }

  struct Placed {
    u32 qpn = 0, index = 0, life = 0;
  };
  engine::Link<Placed, 64> placed_in;  // written by dma: the data of a READ or ATOMIC are ordered
  engine::Waker dma;
  DmaCallbacks client();

  // Keeps the parts of a READ's or ATOMIC's WQE that its response will need; its buffer is returned
  // before that.
  void keep_buffers(u32 index, SendQueue& q, const proto::SentMessage& m);
  // The keys still allow the access, as they did when the message began.
  bool may_place(const AwaitedWork& work, const proto::QpConfig& qp, u32 bytes);
  // Fixes the places of all data of a response packet by the keys as they are now, whatever the
  // cycle in which they are written. `from`: their offset in the packet's frame.
  void begin(Packet* packet, AwaitedWork& work, u32 from, u32 bytes, bool completes);
  bool is_placing() const { return packet_; }
  bool is_placing(u32 qpn) const { return packet_ && packet_->qpn == qpn; }
  // Requests the next piece; true when none is left.
  bool place();
  void end();
  // The data of WQE `index` are in memory.
  void mark_placed(u32 qpn, u32 index);

 private:
  Protection& protection_;
  Accesses& accesses_;
  // The response whose data are being written.
  Packet* packet_ = nullptr;
  u32 from_ = 0, left_ = 0;
  bool completes_ = false;
  std::vector<proto::Run> runs_;  // places of the data, as judged in begin()
  u32 run_ = 0;                   // the next element of runs_
  Accesses::Era era_ = 0;         // held until all runs are requested
};
}  // namespace hca::blocks
