// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hca::testbench {
// The JSON text of a page's data in fewer bytes, without loss: unpack.js makes the same data of it.
//   {"data": packed data, "~": [words]}
// A list that has a shorter form is an object with a key that names the form:
//   {"~o": [words], "c": [columns]}   objects with the same keys, by key
//   {"~l": lengths, "c": [columns]}   lists, by place; behind the end of a list stands 0
//   {"~s": numbers}                   words, by their places in the list of words
//   {"~r": [value, count, ...]}       runs of equal values
//   {"~d": numbers}                   each number less the one before it
//   {"~g": divisor, "v": numbers}     multiples of the divisor
// Columns, lengths and numbers are packed themselves. Throws std::invalid_argument: a key of the
// data begins with "~".
std::string packed(const nlohmann::json& data);
}  // namespace hca::testbench
