// SPDX-License-Identifier: Apache-2.0
// Asynchronous events of a recording: `event` (or `type`) is the name in libibverbs, with or
// without IBV_EVENT_, or its number there; `qpn` is the queue pair of a queue pair event.
#pragma once
#include "testbench/host/verbs.h"
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Throws std::runtime_error for an event that libibverbs does not know.
void check_async(const JsonAt& event);

std::string_view async_name(const ReplayEvent& event);  // without IBV_EVENT_
// The event concerns a port or the device.
bool is_of_no_queue(const ReplayEvent& event);
// True if the recorded event matches ours.
bool is_async(const ReplayEvent& recorded, const AsyncEvent& ours);
std::string describe(const AsyncEvent& event);
}  // namespace hca::testbench
