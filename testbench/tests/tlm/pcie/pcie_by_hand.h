// SPDX-License-Identifier: Apache-2.0
// A link whose cycles can be computed by hand: 16 bytes a cycle (generation 1 with 16 lanes moves 4
// GB/s, the clock has 250 MHz), one way takes 10 cycles, the memory 5.
#pragma once
#include "tlm/pcie/pcie_config.h"

namespace hca::tlm_ {
inline constexpr u64 kHertz = 250'000'000;
// Infinite credits and memory bandwidth; if a test has a memory_rate, all of it is one channel's.
inline PcieConfig without_limits() {
  PcieConfig config;
  config.root_posted_headers = config.root_posted_data = config.root_nonposted_headers = 0;
  config.device_posted_headers = config.device_posted_data = 0;
  config.memory_rate = 0, config.memory_channels = 1;
  return config;
}
inline PcieConfig plain() {
  PcieConfig config = without_limits();
  config.generation = 1, config.lanes = 16, config.overhead = 0;
  config.latency = 40'000, config.memory_latency = 20'000;
  return config;
}
// A read of 300 bytes: with its header of 20 bytes it takes 20 cycles on the line. An MMIO write of
// 136 bytes, with its header of 24: 10 cycles.
inline constexpr u32 kReadBytes = 300, kMmioBytes = 136;
inline PcieConfig one_completion() {
  PcieConfig config = plain();
  config.mps = config.completion_bytes = 512;
  return config;
}
}  // namespace hca::tlm_
