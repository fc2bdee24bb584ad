// SPDX-License-Identifier: Apache-2.0
// Functions of rsocket.h that are not here.
#include <rdma/rsocket.h>

#include "testbench/programs/cm_library/library.h"

using namespace hca::cm_library;

namespace {
constexpr const char* kNoMapping = "memory of sockets is not mapped";
}
HCA_CM off_t riomap(int, void*, size_t, int, int, off_t) { return refuse("riomap", kNoMapping); }
HCA_CM int riounmap(int, void*, size_t) { return refuse("riounmap", kNoMapping); }
HCA_CM size_t riowrite(int, const void*, size_t, off_t, int) {
  return size_t(refuse("riowrite", kNoMapping));
}
