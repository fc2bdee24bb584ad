// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/engine/knob.h"

namespace hca::testbench {
// The known path closest to a mistyped one; paths of the same group are preferred. Empty: none is
// close.
std::string nearest_path(const std::string& path, std::span<const std::string_view> known);

// Knobs of many configurations by their whole path: "hca.requester.latency". The configurations
// must outlive the table.
class KnobTable {
 public:
  struct Entry {
    std::string path;
    const engine::KnobInfo& info;
    std::string text;  // value in the first configuration with this path
  };
  // Adds the knobs of a configuration with the paths `prefix` + name. Configurations with the same
  // prefix are set together.
  template <class Config>
  void add(const std::string& prefix, Config& config) {
    group_of(prefix, of_type<Config>).configs.push_back(&config);
  }
  // In order of addition.
  std::vector<Entry> entries() const;
  // Sets a knob. Returns the problem as a sentence that begins with the path; empty: success.
  std::optional<std::string> set(const std::string& path, std::string_view text) const;

 private:
  // Type-erased operations on a configuration, by the index of a knob in its table.
  struct Type {
    std::span<const engine::KnobInfo> knobs;
    std::string (*text)(const void* config, std::size_t knob);
    void (*set)(void* config, std::size_t knob, std::string_view text);
  };
  struct Group {
    std::string prefix;
    const Type* type;
    std::vector<void*> configs;
  };
  template <class Config>
  static constexpr Type of_type{engine::kKnobInfos<Config>,
                                [](const void* config, std::size_t knob) {
                                  return engine::nth_knob_text(*static_cast<const Config*>(config),
                                                               knob);
                                },
                                [](void* config, std::size_t knob, std::string_view text) {
                                  engine::set_nth_knob(*static_cast<Config*>(config), knob, text);
                                }};
  Group& group_of(const std::string& prefix, const Type& type);
  std::string keys_below(const std::string& path) const;
  std::string nearest(const std::string& path) const;
  std::vector<Group> groups_;
};
}  // namespace hca::testbench
