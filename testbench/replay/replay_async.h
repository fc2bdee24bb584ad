// SPDX-License-Identifier: Apache-2.0
// Asynchronous events of a recording: `event` (or `type`) has the name that libibverbs gives it,
// with or without IBV_EVENT_, or its number there; `qpn` the queue pair, where it is one's.
#pragma once
#include "testbench/host/verbs.h"
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Throws std::runtime_error for an event that libibverbs does not know.
void check_async(const JsonAt& event);

std::string_view async_name(const ReplayEvent& event);  // behind IBV_EVENT_
// Of a port or of the device.
bool is_of_no_queue(const ReplayEvent& event);
// Whether the recording means this event of ours.
bool is_async(const ReplayEvent& recorded, const AsyncEvent& ours);
std::string describe(const AsyncEvent& event);
}  // namespace hca::testbench
