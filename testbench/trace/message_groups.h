// SPDX-License-Identifier: Apache-2.0
// What the figures of messages are told apart by: entry, operation, size, queue pair.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/operation.h"

namespace hca::testbench {
// What groups ask of a message.
struct GroupedMessage {
  unsigned chip;  // of the sender
  u32 qpn;
  u64 bytes;
  Operation operation;
  u32 entry;
};
struct MessageGroup {
  std::string_view by;
  u64 (*value)(const GroupedMessage& message);
  std::string (*name)(u64 value);
};
inline constexpr std::array kMessageGroups{
    MessageGroup{"entry", [](const GroupedMessage& m) { return u64{m.entry}; },
                 [](u64 entry) { return fmt::format("entry {}", entry); }},
    MessageGroup{"operation", [](const GroupedMessage& m) { return u64(m.operation); },
                 [](u64 operation) { return std::string(name_of(Operation(operation))); }},
    MessageGroup{"size", [](const GroupedMessage& m) { return m.bytes; },
                 [](u64 bytes) { return fmt::format("{} B", bytes); }},
    MessageGroup{"queue pair", [](const GroupedMessage& m) { return u64{m.chip} << 32 | m.qpn; },
                 [](u64 qp) { return fmt::format("hca{} QP {:#x}", qp >> 32, u32(qp)); }},
};

// Gives the values of a group places 0, 1 ... in the order in which they come; all after the first
// kMost share the place kMost.
class GroupPlaces {
 public:
  static constexpr std::size_t kMost = 32;
  std::size_t of(u64 value) {
    if (last_ < values_.size() && values_[last_] == value) [[likely]]
      return last_;
    last_ = std::size_t(std::ranges::find(values_, value) - values_.begin());
    if (last_ == values_.size() && last_ < kMost) values_.push_back(value);
    return last_;
  }
  std::string name(const MessageGroup& group, std::size_t place) const {
    return place == kMost ? "all others" : group.name(values_[place]);
  }

 private:
  std::vector<u64> values_;
  std::size_t last_ = 0;  // found
};
}  // namespace hca::testbench
