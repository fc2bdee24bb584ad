// SPDX-License-Identifier: Apache-2.0
// What the man pages of rdma_cm promise, case by case. Groups are given as arguments; without: all.
#include "testbench/tests/programs/cm_library/bench.h"

namespace {
struct GroupRow {
  const char* name;
  void (*check)();
};
constexpr GroupRow kGroups[]{
    {"addresses", connections::check_addresses},
    {"private data", connections::check_private_data},
    {"refusals", connections::check_refusals},
    {"own queue pairs", connections::check_own_queue_pairs},
    {"events", connections::check_events},
    {"options", connections::check_options},
    {"endpoints", connections::check_endpoints},
    {"groups", connections::check_groups},
    {"datagrams", connections::check_datagrams},
    {"sockets", connections::check_sockets},
};
}  // namespace

int main(int count, char** arguments) {
  int ran = 0;
  for (const GroupRow& group : kGroups) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= !std::strcmp(arguments[i], group.name);
    if (!wanted) continue;
    ++ran;
    group.check();
  }
  const int failed = connections::checks.failed();
  std::printf("%d groups: %d passed, %d failed\n", ran, connections::checks.passed(), failed);
  return failed || !ran;
}
