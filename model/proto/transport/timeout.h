// SPDX-License-Identifier: Apache-2.0
// The transport timer and the retry counters (T5-22, T5-23).
#pragma once
#include "model/proto/transport/syndrome.h"

namespace hca::proto {

inline constexpr u8 kTimeoutOff = 0;
inline constexpr u8 kRetryMax = 7;
inline constexpr u8 kRnrRetryForever = 7;

// The base interval T = 4.096 us * 2^timeout in ns, timeout 1..31; a loss is detected between T and
// 4T. Code 0 switches the timer off and gives 0.
constexpr u64 ack_timeout_ns(u8 timeout) {
  return timeout == kTimeoutOff && !constexpr_mutant<"timeout_zero_is_on">()
             ? 0
             : u64{constexpr_mutant<"timeout_base_halved">() ? 2048u : 4096u} << (timeout & 0x1F);
}
// G8.3: while it waits after an RNR NAK the transport timer stands.
constexpr u64 rnr_wait_ns(u8 code, u8 timeout) {
  return constexpr_mutant<"rnr_keeps_timer">() ? ack_timeout_ns(timeout) : rnr_delay_ns(code);
}
constexpr u64 ack_timeout_limit_ns(u8 timeout) { return 4 * ack_timeout_ns(timeout); }

}  // namespace hca::proto
