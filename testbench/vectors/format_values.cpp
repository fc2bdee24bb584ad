// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/format_values.h"

#include <fmt/format.h>

#include <array>
#include <cctype>

#include "model/proto/interface/qp_attributes.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::size_t kShortestSentence = 10;  // characters

template <class Map>
void must_name(const JsonAt& json, const Map& map, std::string_view kind) {
  if (map.contains(json.text())) return;
  std::string names;
  for (const auto& [name, unused] : map) names += (names.empty() ? "" : ", ") + name;
  json.refuse(fmt::format("there is no {} '{}'", kind, json.text()),
              names.empty() ? "none: the set-up has none" : names);
}

constexpr std::array kHexBytes{
    FormatKey{"hex", [](const JsonAt& json, const SetupPlan*) { json.hex(); }, true}};
constexpr std::array kPatternBytes{FormatKey{"bytes", a_number<Contents::kMaxBytes>, true},
                                   FormatKey{"seed", a_number<>}};
constexpr std::array kBytesOfRegion{FormatKey{"bytes", a_number<Contents::kMaxBytes>, true},
                                    FormatKey{"of", a_region, true}, FormatKey{"at", a_number<>}};
constexpr std::array kSgeKeys{FormatKey{"va", a_number<>, true},
                              FormatKey{"bytes", a_number<~u32{0}>, true},
                              FormatKey{"key", a_number<~u32{0}>, true}};
}  // namespace

std::string names_of(FormatKeys keys) {
  std::string names;
  for (const FormatKey& key : keys) names += (names.empty() ? "" : ", ") + std::string(key.name);
  return names;
}

const FormatKey* find_key(FormatKeys keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [&](const FormatKey& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

void check_object(const JsonAt& json, FormatKeys keys, const SetupPlan* plan) {
  if (!json.value().is_object()) json.refuse("is no object", "an object with " + names_of(keys));
  for (const auto& [name, unused] : json.value().items()) {
    const FormatKey* const key = find_key(keys, name);
    if (!key) json[name].refuse("is unknown", names_of(keys));
    key->rule(json[name], plan);
  }
  for (const FormatKey& key : keys)
    if (key.is_needed) json[key.name];
}

void check_clashes(const JsonAt& json, std::span<const Clash> clashes) {
  for (const Clash& clash : clashes)
    if (json.has(clash.one) && json.has(clash.other))
      json[clash.other].refuse(fmt::format("conflicts with {}", clash.one), clash.why);
}

void must_hold_some(const JsonAt& json) {
  if (json.value().empty()) json.refuse("is empty", "one entry or more");
}

void check_fields(const JsonAt& json, const HeaderInfo& structure, const SetupPlan& plan) {
  if (!json.value().is_object()) json.refuse("is no object", names_of_fields(structure));
  must_hold_some(json);
  std::vector<u8> bytes(structure.bytes);
  for (const auto& [name, unused] : json.value().items()) {
    const JsonAt value = json[name];
    const FieldInfo* const field = find_field(structure, name);
    if (!field) value.refuse("is no field", names_of_fields(structure));
    if (structure.name == Layout<QpAttributes>::name && name.ends_with("State")) {
      if (value.value().is_string())
        must_be_one(value, kQpStateNames);
      else
        value.number(0, kQpStateNames.size() - 1);
    }
    set_field(bytes.data(), *field, value, plan.symbols);
  }
}

// ---- The rules
void a_sentence(const JsonAt& json, const SetupPlan*) {
  const std::string& text = json.text();
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (u8(c) & 0xc0) != 0x80; });
  if (std::size_t(characters) < kShortestSentence ||
      std::none_of(text.begin(), text.end(), [](char c) { return std::isalnum(u8(c)); }))
    json.refuse("is '" + text + "'",
                fmt::format("a sentence, {} characters or more", kShortestSentence));
}
void some_words(const JsonAt& json, const SetupPlan*) {
  const std::string& text = json.text();
  if (std::none_of(text.begin(), text.end(), [](char c) { return std::isalnum(u8(c)); }))
    json.refuse("is '" + text + "'", "words");
}
void a_truth(const JsonAt& json, const SetupPlan*) { json.truth(); }
void only_true(const JsonAt& json, const SetupPlan*) {
  if (!json.truth()) json.refuse("is false", "true; it is left out where it does not hold");
}
void a_name(const JsonAt& json, const SetupPlan*) {
  if (!is_name(json.text()))
    json.refuse("'" + json.text() + "' is no name", "letters, digits and _, no digit in front");
}
void a_region(const JsonAt& json, const SetupPlan* plan) {
  must_name(json, plan->regions, "region");
}
void a_cq(const JsonAt& json, const SetupPlan* plan) { must_name(json, plan->cqs, "CQ"); }
void an_srq(const JsonAt& json, const SetupPlan* plan) { must_name(json, plan->srqs, "SRQ"); }
void a_qp(const JsonAt& json, const SetupPlan* plan) { must_name(json, plan->qps, "queue pair"); }
void a_time(const JsonAt& json, const SetupPlan*) { nanoseconds_of(json); }
void some_hex(const JsonAt& json, const SetupPlan*) {
  if (json.hex().empty()) json.refuse("is empty", "hex digits in pairs");
}
void bytes_or_none(const JsonAt& json, const SetupPlan* plan) {
  if (json.value().is_string()) return void(json.hex());
  const FormatKeys keys = json.has("hex")  ? FormatKeys(kHexBytes)
                          : json.has("of") ? FormatKeys(kBytesOfRegion)
                                           : FormatKeys(kPatternBytes);
  check_object(json, keys, plan);
  plan->count_bytes(json);
}
void some_bytes(const JsonAt& json, const SetupPlan* plan) {
  bytes_or_none(json, plan);
  if (!plan->count_bytes(json)) json.refuse("is empty", "one byte or more");
}
void an_sge_list(const JsonAt& json, const SetupPlan* plan) {
  for (const JsonAt& sge : json.entries()) {
    if (sge.value().is_object()) {
      check_object(sge, kSgeKeys, plan);
      continue;
    }
    if (sge.entries().size() != 3) sge.refuse("is no SGE", "[region, offset, bytes], or an object");
    a_region(sge[0], plan);
    a_number<>(sge[1], plan);
    a_number<~u32{0}>(sge[2], plan);
  }
}
}  // namespace hca::testbench
