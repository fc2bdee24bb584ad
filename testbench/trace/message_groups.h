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
  bool operator==(const GroupedMessage&) const = default;
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

// Gives the values of a group places 1, 2 ...; those after the first kMost of a chip share place 0.
// The order of the chips may differ between two ways to run, and their places with it.
class GroupPlaces {
 public:
  static constexpr std::size_t kMost = 32, kOthers = 0;
  std::size_t of(unsigned chip, u64 value) {
    if (chip >= chips_.size()) chips_.resize(chip + 1);
    Chip& its = chips_[chip];
    if (its.last < its.values.size() && its.values[its.last] == value) [[likely]]
      return its.places[its.last];
    its.last = std::size_t(std::ranges::find(its.values, value) - its.values.begin());
    if (its.last == its.values.size()) {
      if (its.last == kMost) return kOthers;
      its.values.push_back(value);
      its.places.push_back(place_of(value));
    }
    return its.places[its.last];
  }
  std::string name(const MessageGroup& group, std::size_t place) const {
    return place == kOthers ? "all others" : group.name(values_[place - 1]);
  }
  // Sorts as the values do, the others last.
  u64 key(std::size_t place) const { return place == kOthers ? ~u64{0} : values_[place - 1]; }

 private:
  struct Chip {
    std::vector<u64> values;
    std::vector<std::size_t> places;
    std::size_t last = 0;  // found
  };
  std::size_t place_of(u64 value) {
    const auto at = std::ranges::find(values_, value);
    if (at != values_.end()) return std::size_t(at - values_.begin()) + 1;
    values_.push_back(value);
    return values_.size();
  }
  std::vector<Chip> chips_;
  std::vector<u64> values_;
};
}  // namespace hca::testbench
