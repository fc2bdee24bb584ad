// SPDX-License-Identifier: Apache-2.0
// The allowed values of a vector's keys: each object of the format is a table of these.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "model/proto/wire/layout.h"
#include "testbench/vectors/setup_plan.h"

namespace hca::testbench {
// Refuses a value. `plan`: nullptr in the set-up itself, whose names are known only afterwards.
using ValueRule = void (*)(const JsonAt& value, const SetupPlan* plan);
struct FormatKey {
  std::string_view name;
  ValueRule rule;
  bool is_needed = false;
};
using FormatKeys = std::span<const FormatKey>;
// Keys of which an object may have at most one.
struct Clash {
  std::string_view one, other, why;
};

std::string names_of(FormatKeys keys);
const FormatKey* find_key(FormatKeys keys, std::string_view name);
// Checks for an object with only these keys, including all required ones.
void check_object(const JsonAt& json, FormatKeys keys, const SetupPlan* plan);
void check_clashes(const JsonAt& json, std::span<const Clash> clashes);
// Refuses {} and [].
void must_hold_some(const JsonAt& json);
// Visits a value, or each value of a non-empty list.
template <class Visit>
void visit_each(const JsonAt& json, const Visit& visit) {
  if (!json.value().is_array()) return visit(json);
  must_hold_some(json);
  for (const JsonAt& entry : json.entries()) visit(entry);
}
// {field: value ..} of a structure, at least one.
void check_fields(const JsonAt& json, const proto::HeaderInfo& structure, const SetupPlan& plan);

template <class Names>
void must_be_one(const JsonAt& json, const Names& names) {
  if (std::find(names.begin(), names.end(), json.text()) != names.end()) return;
  std::string all;
  for (const std::string_view name : names) all += (all.empty() ? "" : ", ") + std::string(name);
  json.refuse("is '" + json.text() + "'", all);
}

// The keys of one table and those of another.
template <std::size_t N, std::size_t M>
constexpr std::array<FormatKey, N + M> joined(const std::array<FormatKey, N>& a,
                                              const std::array<FormatKey, M>& b) {
  std::array<FormatKey, N + M> all{};
  std::copy(b.begin(), b.end(), std::copy(a.begin(), a.end(), all.begin()));
  return all;
}

// ---- The rules
template <u64 kMax = ~u64{0}, u64 kMin = 0>
void a_number(const JsonAt& json, const SetupPlan* plan) {
  if (!plan) return check_number_form(json);
  if (const u64 value = plan->symbols.value(json, kMax); value < kMin)
    json.refuse("is " + std::to_string(value), std::to_string(kMin) + " or more");
}
template <const auto& kNames>
void one_of_names(const JsonAt& json, const SetupPlan*) {
  must_be_one(json, kNames);
}
void a_sentence(const JsonAt& json,
                const SetupPlan*);  // ten characters, including letters or digits
void some_words(const JsonAt& json, const SetupPlan*);
void a_truth(const JsonAt& json, const SetupPlan*);
void only_true(const JsonAt& json, const SetupPlan*);
void a_name(const JsonAt& json, const SetupPlan*);
void a_region(const JsonAt& json, const SetupPlan* plan);
void a_cq(const JsonAt& json, const SetupPlan* plan);
void a_port_of_setup(const JsonAt& json, const SetupPlan* plan);  // format_packet.cpp
void an_srq(const JsonAt& json, const SetupPlan* plan);
void a_qp(const JsonAt& json, const SetupPlan* plan);
void a_time(const JsonAt& json, const SetupPlan*);
void some_hex(const JsonAt& json, const SetupPlan*);
void bytes_or_none(const JsonAt& json, const SetupPlan* plan);
void some_bytes(const JsonAt& json, const SetupPlan* plan);
void an_sge_list(const JsonAt& json, const SetupPlan* plan);
void check_agent(const JsonAt& json, const SetupPlan* plan);   // host_agent.cpp
void check_driver(const JsonAt& json, const SetupPlan* plan);  // host_driver.cpp
// ---- Steps that post
void check_post_send(const JsonAt& json, const SetupPlan* plan);
void check_post_recv(const JsonAt& json, const SetupPlan* plan);
void check_post_raw(const JsonAt& json, const SetupPlan* plan);
void check_resize_srq(const JsonAt& json, const SetupPlan* plan);
void check_resize_cq(const JsonAt& json, const SetupPlan* plan);

inline constexpr std::array<std::string_view, 2> kQueueNames{"send", "receive"};
inline constexpr std::array<std::string_view, 3> kPostErrors{"EINVAL", "ENOMEM", "EBUSY"};
inline constexpr FormatKey kQp{"qp", a_qp}, kSrq{"srq", an_srq};
}  // namespace hca::testbench
