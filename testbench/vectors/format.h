// SPDX-License-Identifier: Apache-2.0
// What a vector may say, judged before anything runs: verbs, keys, names, numbers, fields. What is
// refused throws std::runtime_error "place: what; allowed: ...".
#pragma once
#include <array>
#include <string_view>

#include "testbench/vectors/setup_plan.h"

namespace hca::testbench {
inline constexpr std::array<std::string_view, 3> kWindowTypes{"1", "2A", "2B"};

// A whole vector.
void check_vector(const JsonAt& top);
// The form of a set-up; SetupPlan judges its names and numbers.
void check_setup(const JsonAt& setup);
// One step: its verb, what the verb may hold, and the note.
void check_step(const JsonAt& step, const SetupPlan& plan);
// A packet to inject, and one that must be sent.
void check_injected(const JsonAt& packet, const SetupPlan& plan);
void check_sent(const JsonAt& packet, const SetupPlan& plan);

// Of a queue pair of a set-up, the members that are fields of QpAttributes.
void for_each_attribute(const JsonAt& qp,
                        const std::function<void(const proto::FieldInfo&, const JsonAt&)>& visit);
// None of them may be lost on its way to `last`; of UD the path and the peer's number are used by
// what it posts. Nor may it size a receive queue that it does not have.
void check_attributes(const JsonAt& qp, proto::Service service, proto::QpState last);
}  // namespace hca::testbench
