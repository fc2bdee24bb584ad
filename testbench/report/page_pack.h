// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace hca::testbench {
// The data of a page in fewer bytes, without loss: unpack.js makes the same data of it.
//   {"~": [words], "data": packed data}
// A list that has a shorter form is an object whose first key names the form:
//   {"~o": [words], "c": [columns]}   objects with the same keys, by key
//   {"~l": lengths, "c": [columns]}   lists, by place; behind the end of a list stands 0
//   {"~s": numbers}                   words, by their places in the list of words
//   {"~r": [value, count, ...]}       runs of equal values
//   {"~d": numbers}                   each number less the one before it
//   {"~g": divisor, "v": numbers}     multiples of the divisor
// Columns, lengths and numbers are packed themselves. Throws std::invalid_argument: a key of the
// data begins with "~".
nlohmann::json packed(const nlohmann::json& data);
}  // namespace hca::testbench
