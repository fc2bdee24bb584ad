// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cases {
long by_code_without_tables(long number, long a, long b, long c, long d);
}  // namespace cases
