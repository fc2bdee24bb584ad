// SPDX-License-Identifier: Apache-2.0
// The producer index of a ring of entries in host memory, and the step of a CQ's producer for a
// CQE (G21.1, G21.3). rtl/completion/completion.sv does the same.
#pragma once
#include <utility>

#include "model/proto/interface/device.h"

namespace hca::proto {
// The ring of a CQ or an EQ. Indices count entries modulo 2^32.
struct EntryRing {
  bool allocated = false;
  u8 log_entries = 0;
  // CQ: accepts no more CQEs (G21.3); EQ: events were lost since the last EQE
  bool overflowed = false;
  u64 address = 0;
  u32 producer = 0, consumer = 0;

  u32 entries() const { return u32{1} << log_entries; }
  bool takes_more() const { return !overflowed && !is_full(); }
  bool is_full() const { return producer - consumer >= entries(); }
  u64 slot(u32 entry_bytes) const {
    return address + u64{producer & (entries() - 1)} * entry_bytes;
  }
  // 1 on the first pass.
  bool phase() const { return !(producer >> log_entries & 1); }
};

enum class CqResult : u8 {
  Written,    // the CQE has its entry
  FirstLost,  // no room: the CQ accepts no more, which is reported once (CQ_ERR)
  Lost,       // it had overflowed before
  NoQueue,    // the CQ does not exist any more
};
struct CqePlace {
  CqResult result{};
  u64 address = 0;  // Written: address of its entry
};
// Writes the bytes of a CQE (kCqeBytes) to `out`, if the ring has room for its entry.
inline CqePlace put_cqe(EntryRing& cq, const Cqe& cqe, u8* out) {
  if (!cq.allocated) return {CqResult::NoQueue};
  if (!cq.takes_more()) {
    const bool told = std::exchange(cq.overflowed, true);
    return {told ? CqResult::Lost : CqResult::FirstLost};
  }
  Cqe written = cqe;
  written.phase = cq.phase();
  written.status = cqe.status;
  encode(written, out);
  const CqePlace place{CqResult::Written, cq.slot(kCqeBytes)};
  ++cq.producer;
  return place;
}
// G21.2: true if the CQE counts for a CQ armed for solicited completions.
constexpr bool is_solicited(const Cqe& cqe) {
  return cqe.solicited || cqe.status != WcStatus::Success;
}
}  // namespace hca::proto
