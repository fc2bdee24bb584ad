// SPDX-License-Identifier: Apache-2.0
// A program that says what happens to it: how its calls and completions end, what its calls take.
// scripts/check_serve.py compares that with what it has told the server.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace {
using cases::Bench;

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

// Sends, each with a receive: what the calls return, and the statuses of both completions.
int send(int count) {
  const auto bench = std::make_unique<Bench>();
  cases::Checks checks;
  bench->checks = &checks;
  cases::Pair pair(*bench, IBV_QPT_RC);
  for (int i = 1; i <= count; ++i) {
    const int received = cases::post_receive(pair.b, bench->b.sge(0, 64));
    ibv_sge sge = bench->a.sge(0, 64);
    ibv_send_wr wr = cases::work(IBV_WR_SEND, &sge);
    const int sent = cases::post(pair.a, wr);
    std::printf("%d: receive %s, send %s", i, received ? std::strerror(received) : "posted",
                sent ? std::strerror(sent) : "posted");
    if (!sent) std::printf(", %s", ibv_wc_status_str(bench->a.next_completion().status));
    if (!sent && !received)
      std::printf(", %s", ibv_wc_status_str(bench->b.next_completion().status));
    std::printf("\n");
  }
  std::printf("states %d %d\n", cases::state_of(pair.a), cases::state_of(pair.b));
  return 0;
}

// Registrations of so many bytes: how long each takes.
int register_memory(unsigned long bytes) {
  const auto bench = std::make_unique<Bench>();
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const int access = IBV_ACCESS_LOCAL_WRITE;
  const double from = now();
  ibv_mr* const mr = ibv_reg_mr(bench->a.pd, memory, bytes, access);
  const double registered = now();
  if (!mr) return std::perror("ibv_reg_mr"), 1;
  ibv_dereg_mr(mr);
  const double gone = now();
  ibv_qp* const qp = bench->a.make_qp(IBV_QPT_RC);
  const double made = now();
  ibv_destroy_qp(qp);
  std::printf("register %.0f deregister %.0f create %.0f\n", registered - from, gone - registered,
              made - gone);
  return 0;
}

// So many queue pairs, which stay when it ends.
int make(int count) {
  const auto bench = std::make_unique<Bench>();
  int made = 0;
  while (made < count && bench->a.make_qp(IBV_QPT_RC)) ++made;
  std::printf("made %d\n", made);
  std::fflush(stdout);
  _exit(made == count ? 0 : 1);
}

// Sleeps in a call that nobody sees, with the turn.
int sleep_unseen(int milliseconds) {
  const auto bench = std::make_unique<Bench>();
  const timespec duration{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  const std::uint64_t no_signal = 0;
  syscall(SYS_rt_sigtimedwait, &no_signal, nullptr, &duration, sizeof no_signal);
  return 0;
}

// Waits for a WRITE by a loop that counts its rounds: it might compute.
int spin(unsigned long bytes) {
  const auto bench = std::make_unique<Bench>();
  cases::Checks checks;
  bench->checks = &checks;
  cases::Pair pair(*bench, IBV_QPT_RC);
  bench->a.buffer[0] = 1;
  ibv_sge sge = bench->a.sge(0, std::uint32_t(bytes));
  ibv_send_wr wr = cases::work(IBV_WR_RDMA_WRITE, &sge);
  cases::set_remote(wr, bench->b);
  if (cases::post(pair.a, wr)) return 1;
  const volatile unsigned char* const flag = bench->b.buffer.data();
  unsigned long rounds = 0;
  while (!*flag) ++rounds;
  std::printf("%s\n", rounds ? "it came" : "it was there");
  return bench->a.next_completion().status;
}

// Opens a device, and waits so long by its clock for a file: says when that was there.
int await_file(const std::string& file, int milliseconds) {
  const auto bench = std::make_unique<Bench>();
  const double from = now();
  std::printf("waits\n");
  std::fflush(stdout);
  while (access(file.c_str(), F_OK) != 0) {
    if (now() - from > milliseconds * 1e6) return std::printf("too late\n"), 1;
    usleep(1000);
  }
  std::printf("there\n");
  return 0;
}

// So long, really, before it opens a device; then it makes the file.
int open_late(const std::string& file, int milliseconds) {
  const timespec duration{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  syscall(SYS_nanosleep, &duration, nullptr);
  const auto bench = std::make_unique<Bench>();
  std::FILE* const made = std::fopen(file.c_str(), "w");
  return made ? std::fclose(made) : 1;
}
}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 2 ? arguments[1] : "";
  const unsigned long number = count > 2 ? std::strtoul(arguments[2], nullptr, 10) : 0;
  if (what == "send") return send(int(number));
  if (what == "register") return register_memory(number);
  if (what == "make") return make(int(number));
  if (what == "sleep") return sleep_unseen(int(number));
  if (what == "spin") return spin(number);
  if (what == "await" && count > 3) return await_file(arguments[3], int(number));
  if (what == "late" && count > 3) return open_late(arguments[3], int(number));
  std::fprintf(stderr, "told send|register|make|sleep|spin|await|late NUMBER [FILE]\n");
  return 2;
}
