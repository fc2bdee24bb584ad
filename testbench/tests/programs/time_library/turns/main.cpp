// SPDX-License-Identifier: Apache-2.0
// hca_turns: tries schedules of programs in simulated time whose threads wait for each other; ends
// with 1 at the first that hangs, or in which a thread runs without its turn, with its last steps.
//   --schedules N    at random, of all rows together
//   --seed S         of the first of them
//   --changes C      and of each row all that differ at most so often from the plain schedule
//   --row TEXT       rows whose names have this alone
//   --trace N        so many steps of a fault, 20000 at most
//   --list           the names
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "testbench/tests/programs/time_library/turns/explorer.h"
#include "testbench/tests/programs/time_library/turns/rows.h"
#include "testbench/tests/programs/time_library/turns/schedules.h"
#include "testbench/tests/programs/time_library/turns/simulation.h"

namespace {
using namespace hca;
using namespace hca::explored;

struct Wanted {
  u64 schedules = 20'000, seed = 1;
  int changes = -1;
  std::string row;
  bool lists = false;
};
struct Tried {
  std::string row;
  u64 seed = 0, number = 0;
  bool random = false, takes_away = false;
} g_tried;

void tell_schedule() {
  std::printf("  row: %s\n", g_tried.row.c_str());
  if (g_tried.random)
    std::printf("  again by: --schedules 1 --seed %llu --row '%s'%s\n",
                static_cast<unsigned long long>(g_tried.seed), g_tried.row.c_str(),
                g_tried.takes_away ? " (the server takes a turn away)" : "");
  else
    std::printf("  number %llu of all with few changes\n",
                static_cast<unsigned long long>(g_tried.number));
}

void try_one(const Row& row, Schedule& schedule, unsigned takes_away, bool joins_late) {
  set_up_simulation();
  simulation().takes_away = takes_away;
  set_up_row(row, joins_late);
  run_schedule(schedule, {"the server", [] { simulation().run(); }}, {"main", run_row});
  close_clock();
}

constexpr u64 kSomeSteps = 200;
void try_at_random(const Row& row, u64 seed, u64& longest) {
  constexpr u64 kTakesAway = 5;  // one in so many
  const bool takes_away = seed % kTakesAway == 0;
  g_tried = {row.name(), seed, 0, true, takes_away};
  RandomSchedule schedule(seed, longest ? longest : kSomeSteps);
  try_one(row, schedule, takes_away, seed % 2);
  longest = std::max(longest, steps());
}
u64 try_all(const Row& row, unsigned changes) {
  g_tried = {row.name(), 0, 0, false, false};
  BoundedSchedules schedules(changes);
  do {
    ++g_tried.number;
    try_one(row, schedules, 0, false);
  } while (schedules.next());
  return g_tried.number;
}

Wanted wanted_of(int argc, char** argv) {
  Wanted wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--list") {
      wanted.lists = true;
      continue;
    }
    if (option == "--schedules")
      wanted.schedules = std::strtoull(value, nullptr, 10);
    else if (option == "--seed")
      wanted.seed = std::strtoull(value, nullptr, 10);
    else if (option == "--changes")
      wanted.changes = std::atoi(value);
    else if (option == "--trace")
      steps_shown = std::min<u64>(std::strtoull(value, nullptr, 10), 20'000);
    else if (option == "--row")
      wanted.row = value;
    else
      std::printf("%s: allowed: --schedules, --seed, --changes, --row, --trace, --list\n", argv[i]),
          std::exit(2);
    ++i;
  }
  return wanted;
}
// One processor: a switch of threads is then a switch of the kernel alone.
void take_one_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(unsigned(sched_getcpu()), &set);
  sched_setaffinity(0, sizeof set, &set);
}
}  // namespace

int main(int argc, char** argv) {
  const Wanted wanted = wanted_of(argc, argv);
  std::vector<Row> rows;
  for (const Row& row : all_rows())
    if (row.name().find(wanted.row) != std::string::npos) rows.push_back(row);
  if (rows.empty()) return std::printf("no row has \"%s\"\n", wanted.row.c_str()), 2;
  if (wanted.lists) {
    for (const Row& row : rows) std::printf("%s\n", row.name().c_str());
    return 0;
  }
  on_fault = tell_schedule, name_of_word = word_name, on_turn = see_turn;
  take_one_processor();
  u64 bounded = 0;
  if (wanted.changes >= 0)
    for (const Row& row : rows) bounded += try_all(row, unsigned(wanted.changes));
  std::vector<u64> longest(rows.size());
  for (u64 i = 0; i < wanted.schedules; ++i)
    try_at_random(rows[i % rows.size()], wanted.seed + i, longest[i % rows.size()]);
  std::printf("%zu rows, %llu schedules at random from seed %llu", rows.size(),
              static_cast<unsigned long long>(wanted.schedules),
              static_cast<unsigned long long>(wanted.seed));
  if (wanted.changes >= 0)
    std::printf(", all %llu with at most %d changes", static_cast<unsigned long long>(bounded),
                wanted.changes);
  std::printf(": each ends, and no thread runs without its turn\n");
  return 0;
}
