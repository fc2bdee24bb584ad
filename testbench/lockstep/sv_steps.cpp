// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/sv_steps.h"

#include "model/blocks/requester_psn_unit.h"
#include "rtl/psn_step.h"
#include "testbench/lockstep/sv_text.h"

namespace hca::testbench {
std::string psn_part() {
  return "  // What happens to the PSNs of a requester, how a message takes them, and what comes "
         "of "
         "it.\n" +
         names_of("PsnOp", 3, blocks::kPsnStepNames) +
         names_of("PsnKind", 2, blocks::kPsnKindNames) +
         names_of("PsnResult", 2, blocks::kPsnResultNames) +
         number("PsnWindow", 24, proto::kPsnWindow) +
         size("PsnContextBits", 8 * rtl::SideBand<rtl::PsnContext>::kBytes) + "\n" +
         plain_struct<proto::SendPsns>("Where the PSNs of a queue pair stand.", "psn_state") +
         side_band<rtl::PsnContext>("What of its context they need.") +
         side_band<rtl::PsnStepBeat>("What happens to them.") +
         side_band<rtl::PsnStepped>("What comes of it, and the context that it leaves behind.");
}
}  // namespace hca::testbench
