// SPDX-License-Identifier: Apache-2.0
// READs, ATOMICs and similar requests that a responder keeps for their duplicates (G29, G3.3,
// G3.4).
#pragma once
#include <vector>

#include "model/proto/transport/request_effect.h"

namespace hca::proto {
struct SavedRequest {
  u32 first_psn = 0, packets = 0;
  u64 va = 0;
  u32 rkey = 0, bytes = 0;
  u64 original = 0;  // ATOMIC: the previous value in memory
  Operation operation = Operation::ReadRequest;
  bool valid = false;
};

// Holds the queue pair's max_dest_rd_atomic entries; a new one replaces the oldest.
class SavedRequests {
 public:
  void save(u32 depth, const RequestEffect& e, Operation operation, u64 original) {
    if (entries_.size() != depth) {
      entries_.assign(depth, {});
      next_ = 0;
    }
    entries_[next_] = {e.ack_psn, e.packets, e.va, e.rkey, e.byte_len, original, operation, true};
    next_ = next_ + 1 == entries_.size() ? 0 : next_ + 1;
  }
  // G3.3: true for a part of a held READ or GET: its PSN gives the beginning, all other fields must agree.
  // READ-16: it ends at the end of the READ or of one of its packets, so that each PSN has one
  // payload.
  bool holds_read(const RequestEffect& e, Operation operation, u32 path_mtu) const {
    const SavedRequest* held = find_result(e.ack_psn, operation);
    if (!held || !e.packets) return false;
    if (held->rkey != e.rkey) return false;
    const u64 offset = u64{psn_sub(e.ack_psn, held->first_psn)} * path_mtu;
    if (e.va != held->va + offset) return false;
    const u64 left = held->bytes - offset;
    return e.byte_len == left || (e.byte_len && e.byte_len < left && e.byte_len % path_mtu == 0);
  }
  // G3.4: the saved request of this kind, with the result of one that is executed only once;
  // nullptr if it is not held.
  const SavedRequest* find_result(u32 psn, Operation operation) const {
    const SavedRequest* held = find(psn);
    return held && held->operation == operation ? held : nullptr;
  }

 private:
  const SavedRequest* find(u32 psn) const {
    for (const SavedRequest& e : entries_)
      if (e.valid && psn_sub(psn, e.first_psn) < e.packets) return &e;
    return nullptr;
  }
  std::vector<SavedRequest> entries_;
  std::size_t next_ = 0;
};
}  // namespace hca::proto
