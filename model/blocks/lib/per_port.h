// SPDX-License-Identifier: Apache-2.0
// What a chip has once for each of its ports. Inside of the model ports count from 0, for software
// from 1.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "model/blocks/lib/limits.h"
#include "model/engine/link.h"
#include "model/proto/transport/qp.h"

namespace hca::blocks {
inline unsigned port_of(const proto::QpConfig& qp) { return qp.port - 1u; }

// The name of a port's block: of a chip with one port without its number.
inline std::string port_block_name(unsigned ports, unsigned port, std::string_view block) {
  if (ports == 1) return std::string(block);
  const std::string number = "port" + std::to_string(port + 1);
  if (block.starts_with("port")) return number + std::string(block.substr(4));
  return number + "_" + std::string(block);
}

// Calls serve(i) for the ports, from the one whose turn it is on, until one says that it was
// served; the one behind it is the next. True: one was.
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

// Links of the same kind into one block, one from each port: where several have an item, the ports
// take turns.
template <class L>
class PortLinks {
 public:
  explicit PortLinks(unsigned depth) : links_{L{depth}, L{depth}} { static_assert(kMaxPorts == 2); }
  // The link of one port more.
  L& add() { return links_[count_++]; }
  L& operator[](unsigned port) { return links_[port]; }
  unsigned count() const { return count_; }
  void mark(u32& marks, u32 bits) {
    for (L& link : links_) link.mark(marks, bits);
  }
  bool empty() const { return links_[0].empty() && links_[1].empty(); }

  bool can_pop() const { return links_[0].can_pop() || (count_ > 1 && links_[1].can_pop()); }
  // The link whose turn it is; its item is the next, if there is one at all.
  L& next() {
    if (count_ > 1) [[unlikely]]
      return pick();
    return links_[0];
  }
  // An item of `link` was popped: the other port is next, from the next cycle on.
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
