// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// Steps of the requester's PSNs: numbers, contexts and side bands.
std::string psn_part();
// Steps of CQs: the same, and the format of a CQE.
std::string cq_part();
}  // namespace hca::testbench
