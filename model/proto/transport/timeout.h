// SPDX-License-Identifier: Apache-2.0
// The transport timer and the retry counters (T5-22, T5-23).
#pragma once
#include "model/proto/transport/syndrome.h"

namespace hca::proto {

inline constexpr u8 kTimeoutOff = 0;
inline constexpr u8 kRetryMax = 7;
inline constexpr u8 kRnrRetryForever = 7;

// The base interval T = 4.096 us * 2^timeout in ns, timeout 1..31; a loss is detected between T and
// 4T. Code 0 switches the timer off and returns 0.
constexpr u64 ack_timeout_ns(u8 timeout) {
  return timeout == kTimeoutOff ? 0 : u64{4096u} << (timeout & 0x1F);
}
constexpr u64 ack_timeout_limit_ns(u8 timeout) { return 4 * ack_timeout_ns(timeout); }

}  // namespace hca::proto
