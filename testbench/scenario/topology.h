// SPDX-License-Identifier: Apache-2.0
// The connections between the ports of the nodes.
#pragma once
#include <array>
#include <compare>

#include "tlm/wire/wire_config.h"

namespace hca::testbench {
// A port of a node, both counted from 0.
struct NodePort {
  unsigned node = 0, port = 0;
  auto operator<=>(const NodePort&) const = default;
};

// A cable has two ends, and so has a connection: the client is the first.
inline constexpr unsigned kEnds = 2, kClient = 0, kServer = 1;
constexpr unsigned other_end(unsigned end) { return 1 - end; }
using Ends = std::array<NodePort, kEnds>;
// For a pair of nodes: a port of the first and the port of the same number of the second.
constexpr Ends ends_in_pair(unsigned port) { return {NodePort{0, port}, NodePort{1, port}}; }

struct Cable {
  Ends ends;
  tlm_::WireConfig wire{};
};
}  // namespace hca::testbench
