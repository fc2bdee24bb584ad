// SPDX-License-Identifier: Apache-2.0
// What the man pages of the verbs promise, case by case: which value of errno, completion status or
// event. Groups are given as arguments; without: all of them.
#include <cstdio>
#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace {
struct GroupRow {
  const char* name;
  void (*check)(cases::Bench&);
  bool asked = false;  // only if it is named
};
constexpr std::array kGroups{
    // clang-format off
    GroupRow{"names",       cases::check_names},
    GroupRow{"arguments",   cases::check_arguments},
    GroupRow{"objects",     cases::check_objects},
    GroupRow{"children",    cases::check_children},
    GroupRow{"states",      cases::check_states},
    GroupRow{"posting",     cases::check_posting},
    GroupRow{"completions", cases::check_completions},
    GroupRow{"events",      cases::check_events},
    GroupRow{"closing",     cases::check_closing},
    GroupRow{"cancelling",  cases::check_cancelling},
    GroupRow{"memory",      cases::check_memory},
    GroupRow{"unmapped",    cases::check_unmapped},
    GroupRow{"resizing",    cases::check_resizing},
    GroupRow{"extended",    cases::check_extended},
    GroupRow{"datagrams",   cases::check_datagrams},
    GroupRow{"multicast",   cases::check_multicast},
    GroupRow{"windows",     cases::check_windows},
    GroupRow{"shared",      cases::check_shared},
    GroupRow{"unread",      cases::check_unread},
    GroupRow{"between",     cases::check_between},
    GroupRow{"handlers",    cases::check_handlers},
    GroupRow{"table",       cases::check_table},
    GroupRow{"limits",      cases::check_limits, true},
    GroupRow{"lost",        cases::check_lost, true},
    GroupRow{"spinning",    cases::check_spinning, true},
    GroupRow{"ports",       cases::check_ports, true},
    GroupRow{"second",      cases::check_second, true},
    GroupRow{"migration",   cases::check_migration, true},
    GroupRow{"xrc",         cases::check_xrc, true},
    GroupRow{"xrc_traffic", cases::check_xrc_traffic, true},
    GroupRow{"xrc_shared",  cases::check_xrc_shared, true},
    // clang-format on
};
}  // namespace

int main(int count, char** arguments) {
  cases::Checks checks;
  int ran = 0;
  for (const GroupRow& group : kGroups) {
    bool wanted = count == 1 && !group.asked;
    for (int i = 1; i < count; ++i) wanted |= !std::strcmp(arguments[i], group.name);
    if (!wanted) continue;
    ++ran;
    cases::Bench bench;
    bench.checks = &checks;
    group.check(bench);
  }
  std::printf("%d groups: %d passed, %d failed\n", ran, checks.passed(), checks.failed());
  return checks.failed() || !ran;
}
