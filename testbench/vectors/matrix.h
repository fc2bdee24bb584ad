// SPDX-License-Identifier: Apache-2.0
// The matrix of service, operation and error class: which vectors show what becomes of an error of
// T9 (requester) and T10 (responder) in each operation of each service.
#pragma once
#include <span>
#include <string>

#include "testbench/vectors/requirements.h"
#include "testbench/vectors/vector.h"

namespace hca::testbench {
// A page: a table for each side, and the vectors of each of its cells. `to_vectors`: from the
// page's folder.
std::string matrix_page(std::span<const Statement> statements, std::span<const Vector> vectors,
                        const std::string& to_vectors);
}  // namespace hca::testbench
