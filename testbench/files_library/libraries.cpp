// SPDX-License-Identifier: Apache-2.0
// Programs that open libibverbs by themselves are given that of the model.
#include <cstdlib>
#include <cstring>

#include "testbench/attach/protocol.h"
#include "testbench/files_library/calls.h"

using namespace hca::files_library;

namespace {
bool is_verbs(const char* name) {
  const char* const slash = std::strrchr(name, '/');
  const char* const file = slash ? slash + 1 : name;
  return !std::strcmp(file, "libibverbs.so") || !std::strcmp(file, "libibverbs.so.1");
}
const char* library_for(const char* name) {
  if (!name || !is_verbs(name)) return name;
  const char* const ours = std::getenv(hca::attach::kReplacementVariable);
  return ours && *ours ? ours : name;
}
}  // namespace

// The C library looks for other libraries as the caller's own: it sees who has called this one.
HCA_INSTEAD void* dlopen(const char* name, int flags) noexcept {
  auto* const open = HCA_NEXT(dlopen);
  return open(library_for(name), flags);
}
