// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/interface/events.h"
#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// A receiver of an object's events.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void completion_event(u32 cqn) = 0;
  // For a port or the device `kind` is None.
  virtual void async_event(proto::EventType type, Kind kind, u32 number) = 0;
};
}  // namespace hca::attach
