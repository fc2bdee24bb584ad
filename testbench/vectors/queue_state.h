// SPDX-License-Identifier: Apache-2.0
// The `state` of a queue pair in a set-up: what no command sets, and what a case must begin with to
// see its end.
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
// Its keys, each a number; needs no set-up.
void check_queue_state(const JsonAt& json);
// `state`: that of the queue pair `a` of `service`, in the state that its set-up asks for. Refuses
// what is out of range, or not there in that state or service.
QueueState plan_queue_state(const JsonAt& state, proto::Service service,
                            const proto::QpAttributes& a, const Symbols& symbols);
// Of a queue pair at rest.
void put_queue_state(const QueueState& state, device::Contexts& contexts, u32 qpn);
}  // namespace hca::testbench
