// SPDX-License-Identifier: Apache-2.0
// The format of a vector, checked before anything runs: verbs, keys, names, numbers, fields. Errors
// throw std::runtime_error "place: what; allowed: ...".
#pragma once
#include <array>
#include <string_view>

#include "testbench/vectors/setup_plan.h"

namespace hca::testbench {
inline constexpr std::array<std::string_view, 3> kWindowTypes{"1", "2A", "2B"};

// A whole vector.
void check_vector(const JsonAt& top);
// The form of a set-up; SetupPlan checks its names and numbers.
void check_setup(const JsonAt& setup);
// One step: its verb, the members of the verb, and the note.
void check_step(const JsonAt& step, const SetupPlan& plan);
// A packet to inject, and a packet expected to be sent.
void check_injected(const JsonAt& packet, const SetupPlan& plan);
void check_sent(const JsonAt& packet, const SetupPlan& plan);

// Visits the members of a set-up's queue pair that are fields of QpAttributes.
void for_each_attribute(const JsonAt& qp,
                        const std::function<void(const proto::FieldInfo&, const JsonAt&)>& visit);
// Checks that every given attribute is used on the way to state `last` (for UD, path and peer
// number are used by its posts), and that a size is given only for a receive queue that exists.
void check_attributes(const JsonAt& qp, const QpInitAttr& init, proto::QpState last);
}  // namespace hca::testbench
