// SPDX-License-Identifier: Apache-2.0
// The producers of CQs as a block between links, with contexts that arrive late: the effect of CQEs
// and doorbells on proto::EntryRing. The C++ twin of rtl/completion/completion.sv.
//
// Contract: that of a LookUpUnit without regions. A step takes one beat and sees the effect of all
// earlier steps on its CQ.
#pragma once
#include "model/blocks/twins/look_up_unit.h"
#include "model/proto/interface/cq_ring.h"

namespace hca::blocks {
enum class CqStep : u8 {
  Complete,  // a CQE is written to its entry, if there is room
  Doorbell,  // software has consumed the CQEs up to `consumer`
  Count
};
inline constexpr std::array<std::string_view, std::size_t(CqStep::Count)> kCqStepNames{"Complete",
                                                                                       "Doorbell"};
inline constexpr std::array<std::string_view, 4> kCqResultNames{"Written", "FirstLost", "Lost",
                                                                "NoQueue"};

struct CqRequest {
  CqStep step{};
  u32 consumer = 0;
  proto::Cqe cqe{};
};
struct CqAnswer {
  proto::CqePlace place{};  // after a doorbell: Written, or NoQueue
  bool solicited = false;   // Written: the CQE counts for a CQ armed for solicited ones
  std::array<u8, proto::kCqeBytes> bytes{};  // Written: the bytes of the entry
  proto::EntryRing after{};
};
CqAnswer step_cq(proto::EntryRing& cq, const CqRequest& request);

struct CompletionItem {
  static constexpr const char* kUnit = "completion";
  static constexpr engine::Cycle kLatency = 3;
  u32 cqn = 0;
  const CqRequest* request = nullptr;
  proto::EntryRing* cq = nullptr;
  CqAnswer* answer = nullptr;
  engine::Cycle context_late = 0, region_late = 0;

  bool falls() const { return false; }
  u32 bytes_in() const { return 0; }
  u32 number() const { return cqn; }
  u32 key() const { return 0; }
  u32 bytes_out() const { return 0; }
  void process() const { *answer = step_cq(*cq, *request); }
};
using CompletionUnit = LookUpUnit<CompletionItem>;
}  // namespace hca::blocks
