// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "testbench/host/verbs.h"
#include "testbench/packets/frame_text.h"
#include "testbench/vectors/symbols.h"

namespace hca::testbench {
// A completion, with the queue that it ends a work request of.
struct QueueCompletion {
  u32 qpn, cqn;
  bool is_receive;
  Wc wc;
};

// What a completion does not have as a "send_cqe" or "recv_cqe" gives it.
std::vector<FieldDifference> compare_completion(const JsonAt& json, const Wc& wc,
                                                const Symbols& symbols);
std::string describe(const QueueCompletion& completion);
}  // namespace hca::testbench
