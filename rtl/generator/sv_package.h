// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// The text of rtl/common/hca_pkg.sv, generated from the field tables of model/proto and the CRC
// polynomial.
std::string hca_pkg_sv();
}  // namespace hca::testbench
