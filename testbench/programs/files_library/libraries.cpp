// SPDX-License-Identifier: Apache-2.0
// Programs that open libibverbs or librdmacm by themselves are given those of the model.
#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "testbench/programs/files_library/calls.h"
#include "testbench/programs/server/protocol.h"

using namespace hca::files_library;

namespace {
// Names of files that are given another: that is in the folder of the replacement.
struct LibraryRow {
  std::string_view name, ours;
};
constexpr std::array kLibraries{LibraryRow{"libibverbs.so", "libibverbs.so.1"},
                                LibraryRow{"libibverbs.so.1", "libibverbs.so.1"},
                                LibraryRow{"librdmacm.so", "librdmacm.so.1"},
                                LibraryRow{"librdmacm.so.1", "librdmacm.so.1"}};

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const char* library_for(const char* name) {
  static thread_local std::array<char, PATH_MAX> ours;
  const char* const replacement = std::getenv(hca::attach::kReplacementVariable);
  if (!name || !replacement || !*replacement) return name;
  const auto row = std::ranges::find(kLibraries, file_of(name), &LibraryRow::name);
  if (row == kLibraries.end()) return name;
  const std::string_view path = replacement, folder = path.substr(0, path.rfind('/') + 1);
  if (folder.size() + row->ours.size() >= ours.size()) return name;
  auto* const end = std::ranges::copy(folder, ours.begin()).out;
  *std::ranges::copy(row->ours, end).out = 0;
  return ours.data();
}
}  // namespace

// The C library resolves other libraries relative to the caller: it sees the caller of this
// function.
HCA_INSTEAD void* dlopen(const char* name, int flags) noexcept {
  auto* const open = HCA_NEXT(dlopen);
  return open(library_for(name), flags);
}
