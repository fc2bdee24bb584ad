// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "model/engine/cycle.h"

namespace hca::blocks {
using engine::Cycle;
struct Packet;

// The interface from a chip to its surroundings. Each cycle argument is that of the action.
class Outside {
 public:
  virtual ~Outside() = default;
  // An access of `bytes` bytes at `address`, of which the first move, as many as the span has.
  // False: the memory at this address cannot be read, or written.
  virtual bool read_memory(u64 address, std::span<u8> to, u32 bytes, Cycle at) = 0;
  virtual bool write_memory(u64 address, std::span<const u8> from, u32 bytes, Cycle at) = 0;
  // The first bit of the packet's frame enters the wire in cycle `at`. Ownership of the packet
  // passes to the receiver.
  virtual void transmit(Packet* packet, Cycle at) = 0;
};
}  // namespace hca::blocks
