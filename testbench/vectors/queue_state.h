// SPDX-License-Identifier: Apache-2.0
// The `state` of a queue pair in a set-up: values that no command sets, for cases that begin close
// to a limit.
#pragma once
#include <optional>
#include <vector>

#include "model/device/contexts.h"
#include "testbench/vectors/symbols.h"

namespace hca::testbench {
struct QueueStateRow;
struct QueueStateValue {
  const QueueStateRow* row;
  u32 value;
};
using QueueState = std::vector<QueueStateValue>;

bool is_state_key(std::string_view name);
// Checks its keys, each a number, without a set-up.
void check_queue_state(const JsonAt& json);
// `state`: of the queue pair `a` of `service`, in the state of its set-up. Refuses values out of
// range, and values that do not exist in that state or service.
QueueState plan_queue_state(const JsonAt& state, proto::Service service,
                            const proto::QpAttributes& a, const Symbols& symbols);
// For an idle queue pair.
void put_queue_state(const QueueState& state, device::Contexts& contexts, u32 qpn);
}  // namespace hca::testbench
