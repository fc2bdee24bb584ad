// SPDX-License-Identifier: Apache-2.0
// Deliberate mistakes. Each has a name and is made in a copy of the model (mistakes/*.toml, read by
// scripts/write_mistakes.py). A conformance vector proves its statement by failing under a mistake.
// Only the program hca_mutants has the copy; it switches one mistake on.
#pragma once
#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/proto/rows.h"
#include "model/proto/types.h"
#include "testbench/host/in_device.h"

namespace hca::mutants {
// A name as a template argument.
template <std::size_t N>
struct MutantName {
  char text[N];
  constexpr MutantName(const char (&name)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
};

// The packets that a mistake affects: all, or those whose `key` is `value`.
inline constexpr std::array<std::string_view, 4> kScopeKeys{"framing", "service", "operation",
                                                            "opcode"};
struct MutantScope {
  std::size_t key = kScopeKeys.size();  // all
  u32 value = 0;

  static MutantScope of(std::string_view text) {
    const auto equals = text.find('=');
    for (std::size_t i = 0; i < kScopeKeys.size(); ++i)
      if (text.substr(0, equals) == kScopeKeys[i])
        return {i, u32(std::stoul(std::string(text.substr(equals + 1))))};
    return {};
  }
  bool holds(const std::array<u32, kScopeKeys.size()>& packet) const {
    return key == kScopeKeys.size() || packet[key] == value;
  }
};

// One switch in the list of all mistakes.
class Mutant {
 public:
  explicit Mutant(std::string name) : name_(std::move(name)), next_(first_) { first_ = this; }
  Mutant(const Mutant&) = delete;

  bool on() const {
    const bool in_device = testbench::InDevice::now();
    if (watched_ && in_device) [[unlikely]]
      for (std::size_t key = 0; key < seen_.size(); ++key) reached_[key].set(seen_[key]);
    return on_ && in_device && scope_.holds(seen_);
  }
  // From now on each switch records the packets for which it was evaluated.
  static void watch() { watched_ = true; }
  using Reached = std::array<std::bitset<256>, kScopeKeys.size()>;  // by key and value
  const Reached& reached() const { return reached_; }
  const std::string& name() const { return name_; }
  const Mutant* next() const { return next_; }
  static const Mutant* first() { return first_; }
  // Switches on only the mistakes of this name; false: there is none.
  // "name@service=2" restricts it by the packet parsed last; the keys are those of kScopeKeys.
  static bool choose(std::string_view name) {
    const auto at = name.find('@');
    scope_ = at == name.npos ? MutantScope{} : MutantScope::of(name.substr(at + 1));
    bool found = false;
    for (Mutant* m = first_; m; m = m->next_) found |= m->on_ = m->name_ == name.substr(0, at);
    return found;
  }
  // Describes the packet that is being parsed.
  static void parses(u32 framing, u32 opcode) {
    seen_ = {framing, opcode >> 5, opcode & 31, opcode};
  }
  // A new run begins: the state of a mistake belongs to one run.
  static u64 run() { return run_; }
  static void begin_run() { ++run_; }

 private:
  std::string name_;
  bool on_ = false;
  Mutant* next_;
  mutable Reached reached_{};
  static inline bool watched_ = false;
  static inline std::array<u32, kScopeKeys.size()> seen_{};
  static inline MutantScope scope_;
  static inline u64 run_ = 0;
  static inline Mutant* first_ = nullptr;
};

// True if the mistake of this name is on. False during constant evaluation, also a trial one:
// `const bool wrong = is_on<...>() && x;` is always false.
template <MutantName name>
inline Mutant kMutant{name.text};
template <MutantName name>
constexpr bool is_on() {
  return !std::is_constant_evaluated() && kMutant<name>.on();
}

// The same in a driver, which is outside the device but may make mistakes as well.
template <MutantName name>
bool is_on_in_driver() {
  const testbench::InDevice driver;
  return is_on<name>();
}

// ---- State of a mistake
// For one run; `what` distinguishes several states.
template <class T, MutantName what>
T& remembered() {
  static T value;
  static u64 of_run = 0;
  if (std::exchange(of_run, Mutant::run()) != Mutant::run()) value = {};
  return value;
}
// The same, one per object.
template <class T, MutantName what>
T& remembered(const void* of) {
  return remembered<std::map<const void*, T>, what>()[of];
}
// Work that the functional model postpones until after the next packet.
inline std::function<void()>& put_off(const void* device) {
  return remembered<std::function<void()>, "put off">(device);
}
// The original bytes of `key`.
using KeptBytes = std::map<u32, std::vector<u8>>;
inline void keep_first(KeptBytes& kept, u32 key, std::span<u8> bytes) {
  const auto& first = kept.try_emplace(key, bytes.begin(), bytes.end()).first->second;
  std::copy_n(first.begin(), std::min(first.size(), bytes.size()), bytes.begin());
}

// ---- Mistakes of tables
// "status:BadRkey": a wrong table value for an entry of a list of names.
template <MutantName what, const auto& names, std::size_t i>
inline Mutant kEntryMutant{std::string(what.text) + ":" + std::string(names[i])};
template <MutantName what, const auto& names, class Entry>
constexpr bool entry_is_wrong(Entry entry) {
  if (std::is_constant_evaluated()) return false;
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return ((std::size_t(entry) == i && kEntryMutant<what, names, i>.on()) || ...);
  }
  (std::make_index_sequence<names.size()>{});
}
// "not required:QKEY": `mask` without the bit of an entry.
template <MutantName what, const auto& names>
u32 without_entry(u32 mask) {
  for (std::size_t bit = 0; bit < names.size(); ++bit)
    if (entry_is_wrong<what, names>(bit)) mask &= ~(1u << bit);
  return mask;
}
// "transition:Init-RTS": a wrong table value for a pair of entries.
template <MutantName what, const auto& names, std::size_t i>
inline Mutant kPairMutant{std::string(what.text) + ":" + std::string(names[i / names.size()]) +
                          "-" + std::string(names[i % names.size()])};
template <MutantName what, const auto& names, class Entry>
bool pair_is_wrong(Entry from, Entry to) {
  const std::size_t pair = names.size() * std::size_t(from) + std::size_t(to);
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return ((pair == i && kPairMutant<what, names, i>.on()) || ...);
  }
  (std::make_index_sequence<names.size() * names.size()>{});
}

// "rule:G2.3": row `i` of a table of rules is never broken.
template <const auto& table, std::size_t i>
inline Mutant kRowMutant{"rule:" + std::string(table[i].statement)};
template <const auto& table, std::size_t i>
inline bool row_is_off() {
  return kRowMutant<table, i>.on();
}
// "first:G2.3": row `i` is checked before all others.
template <const auto& table, std::size_t i>
inline Mutant kFirstMutant{"first:" + std::string(table[i].statement)};
template <const auto& table, std::size_t i>
bool row_goes_first() {
  return kFirstMutant<table, i>.on();
}
// "action:G2.3=Drop": row `i` has another action; `names` are the names of all actions.
template <const auto& table, std::size_t i, const auto& names, std::size_t action>
inline Mutant kActionMutant{"action:" + std::string(table[i].statement) + "=" +
                            std::string(names[action])};
template <const auto& table, std::size_t i, const auto& names>
auto action_of_row() {
  auto chosen = table[i].action;
  [&]<std::size_t... action>(std::index_sequence<action...>) {
    ((kActionMutant<table, i, names, action>.on() ? void(chosen = decltype(chosen)(action))
                                                  : void()),
     ...);
  }
  (std::make_index_sequence<names.size()>{});
  return chosen;
}

// "field:BTH.PSN": the lowest bit of a field is wrong when written or read.
template <class H, std::size_t i>
inline Mutant kFieldMutant{"field:" + std::string(H::name) + "." +
                           std::string(row_at<i>(H::fields).name)};
template <class H, std::size_t i>
constexpr bool field_is_wrong() {
  return !std::is_constant_evaluated() && kFieldMutant<H, i>.on();
}
}  // namespace hca::mutants
