// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/knob.h"

namespace hca::testbench {
// Knobs of many configurations by their whole path: "hca.requester.latency". The configurations
// outlive the table.
class KnobTable {
 public:
  struct Entry {
    std::string path;
    engine::KnobInfo info;
    std::function<std::string()> text;  // of the first configuration with this path
    std::vector<std::function<void(std::string_view)>> set;
  };
  // A knob's path is `prefix` and its name. Configurations with the same paths are set together.
  template <class Config>
  void add(const std::string& prefix, Config& config) {
    engine::for_each_knob(config, [&](const auto& knob) {
      Entry& entry = enter(prefix + "." + std::string(knob.info.name), knob.info);
      if (!entry.text) entry.text = [knob] { return knob.text(); };
      entry.set.push_back([knob](std::string_view text) { knob.set(text); });
    });
  }
  const std::vector<Entry>& entries() const { return entries_; }
  // What is wrong, as a sentence that begins with the path; nothing: the knob is set.
  std::optional<std::string> set(const std::string& path, std::string_view text) const;

 private:
  Entry& enter(const std::string& path, const engine::KnobInfo& info);
  std::string keys_below(const std::string& path) const;
  const Entry* find(const std::string& path) const;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> places_;  // of the entries, by path
};
}  // namespace hca::testbench
