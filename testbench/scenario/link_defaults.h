// SPDX-License-Identifier: Apache-2.0
// The link control of a chip, as its framing and its cables make it.
#pragma once
#include "testbench/scenario/scenario.h"

namespace hca::testbench {
// Mode auto becomes credits in native framings and PFC in the others; without its own levels, XOFF
// leaves the headroom of the longest cable of this node, and XON is a frame of 4096 B below it.
// xoff stays 0 if the buffer is too small for them: least_buffer().
blocks::LinkControlConfig link_control_of(const Scenario& scenario, unsigned node);
// The buffer of a lane with which derived levels of PAUSE and PFC stop in time: the headroom and
// two frames. Bytes.
u64 least_buffer(const Scenario& scenario, unsigned node);
// The configuration of a chip with its link control and the payload of the run.
blocks::ChipConfig chip_of(const Scenario& scenario, unsigned node);
}  // namespace hca::testbench
