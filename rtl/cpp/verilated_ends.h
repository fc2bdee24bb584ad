// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>

namespace hca::rtl {
// The RTL has ended the simulation in the middle of an evaluation.
struct RtlEnded : std::runtime_error {
  RtlEnded() : std::runtime_error("the RTL has ended the simulation") {}
};
}  // namespace hca::rtl
