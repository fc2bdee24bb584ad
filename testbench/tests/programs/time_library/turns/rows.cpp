// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/time_library/turns/rows.h"

#include <pthread.h>
#include <unistd.h>

#include <array>

#include "testbench/programs/time_library/library.h"
#include "testbench/tests/programs/time_library/turns/call_rows.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"
#include "testbench/tests/programs/time_library/turns/simulation.h"

namespace hca::explored {
namespace {
constexpr std::array kTold{"before", "in", "after"};
constexpr useconds_t kLater = 20;  // us, simulated

const Row* g_row;
bool g_joins_late;
std::array<pthread_t, 2> g_waiters;
unsigned g_waited;

void* run_waiter(void*) {
  block_until([] { return time_library::is_open(); }, "until the clock is open");
  if (g_row->told == Told::Before) usleep(kLater);
  g_row->call->wait();
  check_turn(g_row->call->name);
  ++g_waited;
  return nullptr;
}
void* run_teller(void*) {
  block_until([] { return time_library::is_open(); }, "until the clock is open");
  if (g_row->call->begin) g_row->call->begin();
  if (g_row->told == Told::After) usleep(kLater);
  if (g_row->call->tell) g_row->call->tell();
  return nullptr;
}
void make_threads(Made when) {
  const Row& row = *g_row;
  const auto make = [](pthread_t& made, const char* name, void* (*routine)(void*)) {
    name_thread(name);
    if (pthread_create(&made, nullptr, routine, nullptr)) fault("a thread cannot be made");
  };
  if (row.teller == when) make(teller(), "teller", run_teller);
  if (row.waiter != when) return;
  for (unsigned i = 0; i < row.waiters; ++i)
    make(g_waiters[i], i ? "waiter 2" : "waiter", run_waiter);
}
}  // namespace

std::string Row::name() const {
  const auto made = [](Made when) { return when == Made::Before ? "before" : "after"; };
  return std::string(call->name) + ", told " + kTold[unsigned(told)] + " its turn; " +
         std::to_string(waiters) + " made " + made(waiter) + " the clock, who tells " +
         made(teller);
}

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const CallRow& call : call_rows())
    for (const Made waiter : {Made::Before, Made::After})
      for (const Made teller : {Made::Before, Made::After})
        for (const Told told : {Told::Before, Told::In, Told::After})
          for (unsigned waiters = 1; waiters <= call.waiters; ++waiters)
            // A thread that joins the teller needs its identity.
            if (!(call.joins && waiter == Made::Before && teller == Made::After))
              rows.push_back({&call, waiter, teller, told, waiters});
  return rows;
}

void set_up_row(const Row& row, bool joins_late) {
  g_row = &row, g_joins_late = joins_late, g_waited = 0;
  set_up_calls(row.waiters, row.teller == Made::After && !simulation().takes_away,
               row.waiter == Made::After);
}

void run_row() {
  make_threads(Made::Before);
  open_clock();
  make_threads(Made::After);
  if (g_joins_late) usleep(2 * kLater);
  for (unsigned i = 0; i < g_row->waiters; ++i) pthread_join(g_waiters[i], nullptr);
  if (!g_row->call->joins) pthread_join(teller(), nullptr);
  if (g_waited != g_row->waiters) fault("a thread ended before it had waited");
  check_turn("pthread_join");
}
}  // namespace hca::explored
