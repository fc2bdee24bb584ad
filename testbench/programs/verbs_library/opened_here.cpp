// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <new>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
namespace {
constexpr std::size_t kPage = 4096;
}

OpenedHere::OpenedHere() {
  void* const at = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || madvise(at, kPage, MADV_WIPEONFORK)) throw std::bad_alloc();
  page_ = new (at) std::atomic<bool>(true);
}
OpenedHere::~OpenedHere() { munmap(const_cast<std::atomic<bool>*>(page_), kPage); }
}  // namespace hca::verbs_library
