// SPDX-License-Identifier: Apache-2.0
// Per-port arrays of a chip. Ports count from 0 inside the model, from 1 for software.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "model/blocks/lib/limits.h"
#include "model/engine/link.h"
#include "model/proto/transport/qp.h"

namespace hca::blocks {
inline unsigned port_of(const proto::QpConfig& qp) { return qp.port - 1u; }

// The name of a port's block. A chip with one port omits the number.
inline std::string port_block_name(unsigned ports, unsigned port, std::string_view block) {
  if (ports == 1) return std::string(block);
  const std::string number = "port" + std::to_string(port + 1);
  if (block.starts_with("port")) return number + std::string(block.substr(4));
  return number + "_" + std::string(block);
}

// Calls serve(i) for the ports in round-robin order until one returns true; the next port then
// comes first. Returns true if a port was served.
template <class Serve>
bool serve_in_turn(unsigned ports, unsigned& turn, Serve&& serve) {
  for (unsigned asked = 0; asked < ports; ++asked) {
    const unsigned port = turn + asked < ports ? turn + asked : turn + asked - ports;
    if (!serve(port)) continue;
    turn = port + 1 == ports ? 0 : port + 1;
    return true;
  }
  return false;
}

// Links of the same kind into one block, one from each port. If several have an item, the ports
// alternate.
template <class L>
class PortLinks {
 public:
  explicit PortLinks(unsigned depth) : links_{L{depth}, L{depth}} { static_assert(kMaxPorts == 2); }
  // Adds the link of the next port.
  L& add() { return links_[count_++]; }
  L& operator[](unsigned port) { return links_[port]; }
  unsigned count() const { return count_; }
  void mark(u32& marks, u32 bits) {
    for (L& link : links_) link.mark(marks, bits);
  }
  bool empty() const { return links_[0].empty() && links_[1].empty(); }

  bool can_pop() const { return links_[0].can_pop() || (count_ > 1 && links_[1].can_pop()); }
  // The link whose turn it is. Its item is the next one, if any link has an item.
  L& next() {
    if (count_ > 1) [[unlikely]]
      return pick();
    return links_[0];
  }
  // Call when an item of `link` was popped: from the next cycle on the other port comes first.
  void pass_turn(const L& link, engine::Cycle now) {
    if (count_ > 1) [[unlikely]]
      turn_to_other(link, now);
  }

 private:
  [[gnu::noinline, gnu::cold]] L& pick() {
    return links_[links_[turn_].can_pop() ? turn_ : 1 - turn_];
  }
  [[gnu::noinline, gnu::cold]] void turn_to_other(const L& link, engine::Cycle now) {
    turn_ = &link == &links_[0] ? 1 : 0;
    links_[turn_].hold_until(now + 1);
  }
  unsigned count_ = 0, turn_ = 0;
  PerPort<L> links_;
};
}  // namespace hca::blocks
