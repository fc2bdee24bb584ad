// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "testbench/host/verbs.h"
#include "testbench/packets/frame_text.h"
#include "testbench/vectors/symbols.h"

namespace hca::testbench {
// A completion, with the queue of its work request.
struct QueueCompletion {
  u32 qpn, cqn;
  bool is_receive;
  Wc wc;
};

// The differences between a completion and a "send_cqe" or "recv_cqe".
std::vector<FieldDifference> compare_completion(const JsonAt& json, const Wc& wc,
                                                const Symbols& symbols);
std::string describe(const QueueCompletion& completion);
}  // namespace hca::testbench
