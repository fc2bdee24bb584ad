// SPDX-License-Identifier: Apache-2.0
// Programs of hca_verbs_clocks that make no call for a while: one `computes` before it sends, one
// `waits` in memory until the other has written there, by a loop that does nothing else, and by one
// that counts its rounds.
#include <time.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
// By the processor's own time, without a call of this program that could take simulated time.
void compute(double milliseconds) {
  constexpr long kRounds = 200'000;  // about as many as in a millisecond
  volatile double value = 1;
  for (long i = 0; i < long(milliseconds * kRounds); ++i) value = value * 1.0000001;
}

constexpr std::uint32_t kPlace = 64;
// WRITEs one byte to where the other end looks.
bool write_byte(End& from, ibv_qp* qp, const End& to, unsigned char value) {
  from.buffer[0] = value;
  ibv_sge data = from.sge(0, 1);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, to, kPlace);
  return !post(qp, wr) && from.next_completion().status == IBV_WC_SUCCESS;
}
void wait_for(const End& at, unsigned char value, bool counts) {
  const volatile unsigned char* const byte = &at.buffer[kPlace];
  if (!counts) {
    while (*byte != value) continue;
    return;
  }
  volatile unsigned long rounds = 0;
  while (*byte != value) rounds = rounds + 1;
}

// The simulated time of some round trips, the first one left out: who waits for the first time is
// looked at more closely.
struct Way {
  double milliseconds;
  bool counts;
};
double round_trips(Bench& bench, const Pair& pair, const Way& way) {
  constexpr unsigned char kRounds = 5;
  bench.a.buffer[kPlace] = bench.b.buffer[kPlace] = 0;
  std::thread other([&] {
    for (unsigned char i = 1; i <= kRounds; ++i) {
      wait_for(bench.b, i, way.counts);
      compute(way.milliseconds);
      write_byte(bench.b, pair.b, bench.a, i);
    }
  });
  double begun = 0;
  for (unsigned char i = 1; i <= kRounds; ++i) {
    compute(way.milliseconds);
    write_byte(bench.a, pair.a, bench.b, i);
    wait_for(bench.a, i, way.counts);
    if (i == 1) begun = now();
  }
  const double took = now() - begun;
  other.join();
  return took;
}
}  // namespace

void compute_between(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  round_trips(bench, pair, {0, false});
  const double without = round_trips(bench, pair, {0, false});
  std::printf("%.9f s\n", without);
  for (const double milliseconds : {0.1, 1.0, 30.0, 100.0}) {
    const double with = round_trips(bench, pair, {milliseconds, false});
    std::printf("%.1f ms: %.9f s\n", milliseconds, with);
    bench.checks->holds("computing takes no time", with > without - 1e-9 && with < without + 1e-9);
  }
}

void wait_in_memory(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  for (const bool counts : {false, true}) {
    const double took = round_trips(bench, pair, {0, counts});
    std::printf("%.9f s\n", took);
    bench.checks->holds("they go on when the byte is there", took < 1e-4);
  }
}

// ---- Polls until nothing is left: the poll that finds nothing first returns at once, the next
// waits.
void poll_until_empty(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  bench.checks->holds("a WRITE", write_byte(bench.a, pair.a, bench.b, 1));
  ibv_wc wc;
  for (const bool waits : {false, true}) {
    const double begun = now();
    bench.checks->equal("nothing is left", ibv_poll_cq(bench.a.cq, 1, &wc), 0);
    bench.checks->equal("it waits", now() - begun > 1e-6, waits);
  }
}

// ---- A thread that was made before: it finds a lock in use while another one has the turn.
namespace {
std::mutex g_mutex;
std::atomic<bool> g_goes{false};
std::thread* g_early = nullptr;
}  // namespace
void make_early_thread() {
  g_early = new std::thread([] {
    while (!g_goes) continue;
    const std::lock_guard guard(g_mutex);
  });
}
void join_early_thread(Bench& bench) {
  g_mutex.lock();
  g_goes = true;
  compute(1);  // meanwhile it has tried
  g_mutex.unlock();
  g_early->join();
  delete g_early;
  bench.checks->holds("it is joined", true);
}
}  // namespace cases
