// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"

namespace hca::blocks {
using engine::Cycle;
struct Packet;

// What a chip does to its surroundings; the cycle is the one in which it happens.
class Outside {
 public:
  virtual ~Outside() = default;
  // False: what is there cannot be read.
  virtual bool read_memory(u64 address, u8* to, u32 bytes, Cycle at) = 0;
  virtual void write_memory(u64 address, const u8* from, u32 bytes, Cycle at) = 0;
  // The first bit of the packet's frame enters the wire in cycle `at`; the packet is the receiver's
  // from now on.
  virtual void transmit(Packet* packet, Cycle at) = 0;
};
}  // namespace hca::blocks
