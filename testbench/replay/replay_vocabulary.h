// SPDX-License-Identifier: Apache-2.0
// The events that the JSON of a capture may have. vectors/captures/README.md has the same list.
#pragma once
#include <span>
#include <string_view>

#include "model/proto/types.h"
#include "testbench/text/json_at.h"

namespace hca::testbench {
enum class EventRole : u8 {
  Host,    // done again by the host of the replay
  Seen,    // what the host was told: compared
  Remark,  // for people
};
struct EventKind {
  std::string_view name;
  EventRole role;
  bool has_side;
  std::string_view sentence;
  std::string_view same_as;  // read as this one; empty: as itself
};
std::span<const EventKind> event_kinds();
// Refuses one that is not in the list, with what it would need.
const EventKind& event_kind(const JsonAt& event);
}  // namespace hca::testbench
