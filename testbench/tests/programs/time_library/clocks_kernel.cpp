// SPDX-License-Identifier: Apache-2.0
// Programs of hca_verbs_clocks that ask the kernel by themselves: `futexes` hand a turn over by
// syscall(), by an instruction of their own and in code without tables, `numbers` sleep and look at
// clocks in these ways, threads of a program that `allocates` share an allocator.
#include <linux/futex.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "testbench/tests/programs/time_library/clocks.h"
#include "testbench/tests/programs/time_library/without_tables.h"

namespace cases {
namespace {
long by_library(long number, long a, long b, long c, long d) {
  return syscall(number, a, b, c, d, 0, 0);
}
long by_instruction(long number, long a, long b, long c, long d) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = 0;
  register long r9 asm("r9") = 0;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
using Call = long (*)(long, long, long, long, long);
struct Way {
  const char* name;
  Call call;
};
constexpr std::array kWays{Way{"syscall()", by_library}, Way{"an instruction", by_instruction},
                           Way{"code without tables", by_code_without_tables}};

void wait(Call call, std::atomic<std::uint32_t>& word, std::uint32_t seen) {
  call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, long(seen), 0);
}
void wake(Call call, std::atomic<std::uint32_t>& word) {
  call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, 1, 0);
}

double time_by(Call call) {
  timespec at{};
  call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&at), 0, 0);
  return double(at.tv_sec) + double(at.tv_nsec) * 1e-9;
}
}  // namespace

void hand_over_by_futex(Bench& bench) {
  for (const Way& way : kWays) {
    const Pair pair(bench, IBV_QPT_RC);
    std::atomic<std::uint32_t> turn = 0;
    int good = 0;
    const double begun = now();
    const auto play = [&](std::uint32_t mine) {
      for (int i = 0; i < kTimes; ++i) {
        while (turn != mine) wait(way.call, turn, 1 - mine);
        good += write_to_peer(bench, pair);
        turn = 1 - mine;
        wake(way.call, turn);
      }
    };
    std::thread one(play, 0), other(play, 1);
    one.join(), other.join();
    std::printf("%s: %.9f s\n", way.name, now() - begun);
    bench.checks->equal("WRITEs", good, 2 * kTimes);
    const double waits = now();
    const timespec second{1, 0};
    const long error = way.call(SYS_futex, reinterpret_cast<long>(&turn), FUTEX_WAIT_PRIVATE,
                                long(turn), reinterpret_cast<long>(&second));
    bench.checks->holds("nobody wakes it", error < 0);
    bench.checks->holds("in simulated time", now() - waits >= 1 && now() - waits < 1.001);
  }
}

void ask_by_number(Bench& bench) {
  bench.checks->equal("clocks of the kernel to be read in memory",
                      (long long)getauxval(AT_SYSINFO_EHDR), 0);
  for (const Way& way : kWays) {
    const double begun = now();
    const timespec seconds{1000, 0};
    bench.checks->equal("nanosleep()",
                        way.call(SYS_nanosleep, reinterpret_cast<long>(&seconds), 0, 0, 0), 0);
    // In whole nanoseconds: a difference of doubles may be less than it by a rounding.
    const long long slept = std::llround((now() - begun) * 1e9);
    bench.checks->holds("1000 s later", slept >= 1'000'000'000'000 && slept < 1'000'001'000'000);
    bench.checks->holds("its clock is the same",
                        time_by(way.call) - now() < 1e-6 && now() - time_by(way.call) < 1e-6);
    bench.checks->equal("its own calls are as they were", way.call(SYS_getpid, 0, 0, 0, 0),
                        getpid());
    std::printf("%s: %.6f s\n", way.name, now() - begun);
  }
}

void allocate_together(Bench& bench) {
  constexpr int kThreads = 8, kBlocks = 2000;
  std::atomic<int> good = 0;
  const double begun = now();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::array<void*, 16> kept{};
      for (int i = 0; i < kBlocks; ++i) {
        void*& place = kept[std::size_t(i) % kept.size()];
        std::free(place);
        place = std::malloc(std::size_t(1) << (std::size_t(i + t) % 18));
        good += place != nullptr;
        if (i % 100 == 0) usleep(1);
      }
      for (void* place : kept) std::free(place);
    });
  for (std::thread& thread : threads) thread.join();
  bench.checks->equal("blocks", good, kThreads * kBlocks);
  std::printf("%.9f s\n", now() - begun);
}
}  // namespace cases
