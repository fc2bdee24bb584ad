// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/lib/pool.h"
#include "model/engine/link.h"

namespace hca::blocks {
// A run of receive WQEs as they stand in host memory.
struct ReceiveBatch {
  ReceiveBatch* next = nullptr;
  Pool<ReceiveBatch>* home = nullptr;
  u32 qpn = 0, first = 0, count = 0;
  u32 life = 0;             // of the queue pair that asked for it
  bool unreadable = false;  // memory answered with an error
  alignas(64) std::array<u8, 1024> wqes{};

  bool has(u32 index) const { return index - first < count; }
};
using ReceiveBatchLink = engine::Link<ReceiveBatch*, 64>;
}  // namespace hca::blocks
