// SPDX-License-Identifier: Apache-2.0
// Converts the model's contexts and regions to the form of rtl/responder_check/responder_check.sv,
// and its verdict back.
#pragma once
#include "model/blocks/twins/responder_check_unit.h"
#include "rtl/responder_check/judged.h"

namespace hca::testbench {
// `path`: the path of the queue pair's packets.
rtl::CheckedConfig checked_config(const proto::QpConfig& qp, const proto::AddressVector& path);
// Adds the SRQ that a request uses; nullptr: none that exists.
void show_queue(rtl::CheckedConfig& config, u32 srqn, const proto::SharedQueue* shared);
// Adds the queue pair that a request to an EE context names, `served` if that is one of RD;
// nullptr: none that exists.
void show_queue_pair(rtl::CheckedConfig& config, u32 served, const proto::QpConfig* named);
// `owner_consumed`: WQEs taken from the receive queue of state.owner.
rtl::CheckedState checked_state(const proto::ReceiveState& state, u32 rq_consumed, u32 rq_limit,
                                u32 owner_consumed = 0);
rtl::CheckedRegion checked_region(const proto::Region& region);

// The context of an item's queue pair as it is now.
rtl::CheckedContext checked_context(const blocks::ResponderCheckItem& item);
// Applies the verdict to the item, as process() of the item would have done.
void take_judged(const rtl::Judged& judged, const blocks::ResponderCheckItem& item);
}  // namespace hca::testbench
