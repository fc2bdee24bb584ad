// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_steps.h"

#include "model/blocks/twins/completion_unit.h"
#include "model/blocks/twins/requester_psn_unit.h"
#include "model/proto/interface/object_attributes.h"
#include "rtl/completion/cq_step.h"
#include "rtl/generator/sv_text.h"
#include "rtl/requester_psn/psn_step.h"

namespace hca::testbench {
std::string psn_part() {
  return "  // What happens to the PSNs of a requester, how a message takes them, and what comes "
         "of "
         "it.\n" +
         names_of("PsnOp", 3, blocks::kPsnStepNames) +
         names_of("PsnKind", 2, blocks::kPsnKindNames) +
         names_of("PsnResult", 2, blocks::kPsnResultNames) +
         number("PsnWindow", 24, proto::kPsnWindow) +
         size("PsnContextBits", 8 * rtl::SideBand<rtl::PsnContext>::kBytes) +
         size("PsnStateBits", 8 * rtl::SideBand<proto::SendPsns>::kBytes) + "\n" +
         plain_struct<proto::SendPsns>("Where the PSNs of a queue pair stand.", "psn_state") +
         side_band<rtl::PsnContext>("What of its context they need.") +
         side_band<rtl::PsnStepBeat>("What happens to them.") +
         side_band<rtl::PsnStepped>("What comes of it, and the context that it leaves behind.");
}

std::string cq_part() {
  return "  // What happens to a CQ, and what comes of it.\n" +
         names_of("CqOp", 1, blocks::kCqStepNames) +
         names_of("CqResult", 2, blocks::kCqResultNames) +
         number("WcStatusSuccess", 8, u8(proto::WcStatus::Success)) +
         number("MaxLogQueueEntries", 5, proto::kMaxLogQueueEntries) +
         size("CqContextBits", 8 * rtl::SideBand<rtl::CqContext>::kBytes) +
         size("CqStateBits", 8 * rtl::SideBand<rtl::CqState>::kBytes) + "\n" +
         packed_struct(proto::kHeaderInfo<proto::Cqe>) +
         plain_struct<rtl::CqState>("Where the producer of a CQ stands.", "cq_state") +
         side_band<rtl::CqContext>("What of its context a CQE needs.") +
         side_band<rtl::CqStepBeat>("What happens to it.") +
         side_band<rtl::CqStepped>("What comes of it, and the context that it leaves behind.");
}
}  // namespace hca::testbench
