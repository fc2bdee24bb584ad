// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/link_defaults.h"

#include <algorithm>

#include "model/blocks/port/link_headroom.h"

namespace hca::testbench {
namespace {
blocks::LinkEnd link_end(const Scenario& s, const NodePort& at) {
  const blocks::ChipConfig& c = s.nodes[at.node].hca;
  return {c.core.period(), c.icrc_unit, c.port[at.port]};
}

// Of the longest cable of a node, bytes.
u64 headroom_of(const Scenario& s, unsigned node) {
  u64 most = 0;
  for (const Cable& cable : s.laid_cables())
    for (unsigned end = 0; end < kEnds; ++end)
      if (cable.ends[end].node == node)
        most = std::max(
            most, blocks::headroom(link_end(s, cable.ends[end]),
                                   link_end(s, cable.ends[other_end(end)]), cable.wire.one_way()));
  return most;
}
}  // namespace

u64 least_buffer(const Scenario& s, unsigned node) {
  return headroom_of(s, node) + u64{2} * blocks::kLargestFrame;
}

blocks::LinkControlConfig link_control_of(const Scenario& s, unsigned node) {
  using blocks::FlowControl;
  blocks::LinkControlConfig c = s.nodes[node].hca.link_control;
  if (c.mode == FlowControl::Auto)
    c.mode = proto::is_native(s.connection.framing) ? FlowControl::Credits : FlowControl::Pfc;
  if (c.stops() && !c.xoff && c.buffer >= least_buffer(s, node)) {
    c.xoff = c.buffer - u32(headroom_of(s, node));
    c.xon = c.xoff - blocks::kLargestFrame;
  }
  return c;
}

blocks::ChipConfig chip_of(const Scenario& s, unsigned node) {
  blocks::ChipConfig chip = s.nodes[node].hca;
  chip.link_control = link_control_of(s, node);
  chip.payload = s.run.payload;
  return chip;
}
}  // namespace hca::testbench
