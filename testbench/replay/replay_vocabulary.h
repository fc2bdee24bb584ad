// SPDX-License-Identifier: Apache-2.0
// The allowed events in the JSON of a capture. vectors/captures/README.md has the same list.
#pragma once
#include <span>
#include <string_view>

#include "model/proto/types.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
enum class EventRole : u8 {
  Host,    // repeated by the host of the replay
  Seen,    // reported to the host: compared
  Remark,  // for people
};
struct EventKind {
  std::string_view name;
  EventRole role;
  bool has_side;
  std::string_view sentence;
  std::string_view same_as;  // an alias of this one; empty: not an alias
};
std::span<const EventKind> event_kinds();
// Refuses an event outside the list, with the requirements for it.
const EventKind& event_kind(const JsonAt& event);
}  // namespace hca::testbench
