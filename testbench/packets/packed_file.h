// SPDX-License-Identifier: Apache-2.0
// Files packed by zstd or xz. Their libraries are loaded only for such a file; without them a
// program still reads all other files.
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace hca::testbench {
// Extensions of packed files, including gzip.
inline constexpr std::array<std::string_view, 3> kPackedExtensions{".gz", ".zst", ".xz"};
inline bool is_packed_extension(std::string_view extension) {
  return std::ranges::find(kPackedExtensions, extension) != kPackedExtensions.end();
}

// Opens an unnamed file with the unpacked content of `path`; the caller closes it. Empty: it is
// packed by neither. Throws std::runtime_error, with `name` for the file, if it is damaged or ends
// early, or the library is missing.
std::optional<int> unpacked_file(const std::string& path, const std::string& name);
}  // namespace hca::testbench
