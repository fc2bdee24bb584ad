// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/proto/types.h"

namespace hca::engine {
// The unit of a configuration value. All values are exact u64; Cycles are those of the block's own
// clock.
enum class Unit : u8 { Cycles, Count, Bytes, Picoseconds, BitsPerSecond, Hertz, Bool, Enum };

std::string_view unit_name(Unit unit);

// A condition on a number in addition to its range.
struct KnobRule {
  bool (*holds)(u64 value);
  std::string_view problem;  // describes a value that breaks the rule: "has ..."
  std::string_view allowed;  // printed after the range
};

// One row of a block's knobs without its type: printed by `hca config`, named in errors.
struct KnobInfo {
  std::string_view block, name;
  Unit unit;
  u64 min, max;                             // both allowed
  std::span<const std::string_view> names;  // Unit::Enum: the word for each value
  std::string_view sentence;
  const KnobRule* rule = nullptr;
  bool allows(u64 value) const {
    return value >= min && value <= max && (!rule || rule->holds(value));
  }
  std::string path() const;   // "requester.latency"
  std::string range() const;  // "1 cycle .. 1000 cycles", "store | cut_through"
};

// A configuration that cannot be used; what() is a whole sentence with all fields below.
struct ConfigError : std::runtime_error {
  ConfigError(std::string knob_path, std::string given, std::string allowed,
              std::string nearest_name, std::string_view problem,
              std::string_view label = "allowed");
  std::string knob, value, range;  // range: allowed values, or the known names
  std::string nearest;             // nearest known name; empty if none is near
};

// Text to value and back, exact in both directions. parse() throws ConfigError.
u64 parse_knob(const KnobInfo& knob, std::string_view text);
std::string print_knob(const KnobInfo& knob, u64 value);

// The known name with the smallest edit distance; empty if none shares at least half of its
// letters.
std::string nearest_name(std::string_view given, std::span<const std::string_view> known);
// The edit distance between two texts: changed, added or removed letters, ignoring case. Only the
// first 64 letters of each are compared.
inline constexpr std::size_t kComparedLetters = 64;
std::size_t edit_distance(std::string_view a, std::string_view b);
[[noreturn]] void unknown_knob(std::string_view block, std::string_view name,
                               std::string_view value, std::span<const std::string_view> known);

// Words that YAML 1.1 reads as booleans: each as yes, Yes and YES.
constexpr bool is_yaml11_boolean(std::string_view text) {
  for (const std::string_view word : {"y", "n", "yes", "no", "on", "off"}) {
    if (text.size() != word.size()) continue;
    unsigned upper = 0, same = 0;
    for (std::size_t i = 0; i < word.size(); ++i) {
      same += text[i] == word[i] || text[i] == word[i] - 'a' + 'A';
      upper += text[i] == word[i] - 'a' + 'A';
    }
    const bool title = upper == 1 && text[0] == word[0] - 'a' + 'A';
    if (same == word.size() && (!upper || upper == word.size() || title)) return true;
  }
  return false;
}
}  // namespace hca::engine
