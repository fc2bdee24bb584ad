// SPDX-License-Identifier: Apache-2.0
// The contexts and regions of the model as rtl/responder_check/responder_check.sv gets them, and
// its verdict back.
#pragma once
#include "model/blocks/twins/responder_check_unit.h"
#include "rtl/responder_check/judged.h"

namespace hca::testbench {
// `path`: where the queue pair's packets go.
rtl::CheckedConfig checked_config(const proto::QpConfig& qp, const proto::AddressVector& path);
rtl::CheckedState checked_state(const proto::ReceiveState& state, u32 rq_consumed, u32 rq_limit);
rtl::CheckedRegion checked_region(const proto::Region& region);

// Of the queue pair of an item as it is now.
rtl::CheckedContext checked_context(const blocks::ResponderCheckItem& item);
// What process() of the item would have left.
void take_judged(const rtl::Judged& judged, const blocks::ResponderCheckItem& item);
}  // namespace hca::testbench
