// SPDX-License-Identifier: Apache-2.0
// munmap(2) of memory that is registered: what names it afterwards ends in error.
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdio>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr std::size_t kPage = 4096;

// Two pages that are registered, of which the second can be given back to the system.
struct Pages {
  explicit Pages(End& end)
      : at(static_cast<unsigned char*>(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        mr(ibv_reg_mr(end.pd, at, 2 * kPage, kAllAccess)) {}
  ~Pages() {
    if (ibv_dereg_mr(mr)) std::printf("a region that is not mapped stays\n");
    munmap(at, kPage);
  }
  Pages(const Pages&) = delete;
  void unmap() const { munmap(at + kPage, kPage); }
  std::uintptr_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(at + offset);
  }
  ibv_sge sge(std::size_t offset) const { return {address(offset), 64, mr->lkey}; }

  unsigned char* at;
  ibv_mr* mr;
};

enum class Whose { Own, Peers };
struct UnmappedRow {
  const char* what;
  ibv_wr_opcode opcode;
  Whose whose;
  ibv_wc_status at_requester, at_responder = IBV_WC_SUCCESS;  // SUCCESS there: no completion
  int event = -1;                                             // at the responder
};
constexpr std::array kUnmapped{
    UnmappedRow{"a SEND of it", IBV_WR_SEND, Whose::Own, IBV_WC_LOC_PROT_ERR},
    UnmappedRow{"a WRITE of it", IBV_WR_RDMA_WRITE, Whose::Own, IBV_WC_LOC_PROT_ERR},
    UnmappedRow{"a READ into it", IBV_WR_RDMA_READ, Whose::Own, IBV_WC_LOC_PROT_ERR},
    UnmappedRow{"a SEND into it", IBV_WR_SEND, Whose::Peers, IBV_WC_REM_OP_ERR,
                IBV_WC_LOC_PROT_ERR},
    UnmappedRow{"a WRITE to it", IBV_WR_RDMA_WRITE, Whose::Peers, IBV_WC_REM_ACCESS_ERR,
                IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
    UnmappedRow{"a READ of it", IBV_WR_RDMA_READ, Whose::Peers, IBV_WC_REM_ACCESS_ERR,
                IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
    UnmappedRow{"an ATOMIC on it", IBV_WR_ATOMIC_FETCH_AND_ADD, Whose::Peers, IBV_WC_REM_ACCESS_ERR,
                IBV_WC_SUCCESS, IBV_EVENT_QP_ACCESS_ERR},
};

void set_remote_at(ibv_send_wr& wr, std::uintptr_t address, std::uint32_t rkey) {
  if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    wr.wr.atomic.remote_addr = address, wr.wr.atomic.rkey = rkey;
  else
    wr.wr.rdma.remote_addr = address, wr.wr.rdma.rkey = rkey;
}

// With 64 bytes at this offset of the pages.
ibv_wc_status status_of(Bench& bench, const Pair& pair, const UnmappedRow& row, const Pages& pages,
                        std::size_t offset) {
  const bool own = row.whose == Whose::Own;
  ibv_sge data = own ? pages.sge(offset) : bench.a.sge(0, 64);
  if (row.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) data.length = 8;
  ibv_send_wr wr = work(row.opcode, &data);
  set_remote(wr, bench.b);
  if (!own) set_remote_at(wr, pages.address(offset), pages.mr->rkey);
  if (row.opcode == IBV_WR_SEND) post_receive(pair.b, own ? bench.b.sge(0, 64) : pages.sge(offset));
  bench.checks->equal(row.what, post(pair.a, wr), 0);
  return bench.a.next_completion().status;
}

void check_unmapped(Bench& bench, const UnmappedRow& row) {
  Checks& checks = *bench.checks;
  const std::string what = row.what;
  const Pages pages(row.whose == Whose::Own ? bench.a : bench.b);
  const Pair pair(bench, IBV_QPT_RC);
  const bool receives = row.opcode == IBV_WR_SEND;
  checks.equal(what + " while it is mapped", status_of(bench, pair, row, pages, kPage),
               IBV_WC_SUCCESS);
  if (receives) bench.b.next_completion();
  pages.unmap();
  checks.equal(what + ": what is left of the region", status_of(bench, pair, row, pages, 0),
               IBV_WC_SUCCESS);
  if (receives) bench.b.next_completion();
  // The last bytes alone.
  const bool atomic = row.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;  // it would not be aligned
  checks.equal(what, status_of(bench, pair, row, pages, atomic ? kPage : kPage - 4),
               row.at_requester);
  checks.equal(what + ": the requester's state", state_of(pair.a), IBV_QPS_ERR);
  if (row.at_responder != IBV_WC_SUCCESS)
    checks.equal(what + " at the responder", bench.b.next_completion().status, row.at_responder);
  if (row.event >= 0) checks.equal(what + ": its event", bench.b.next_event(), row.event);
  checks.equal(what + ": the responder's state", state_of(pair.b),
               row.whose == Whose::Peers ? IBV_QPS_ERR : IBV_QPS_RTS);
}

// What was used for long is looked at as well.
void check_used_for_long(Bench& bench) {
  constexpr int kTimes = 100;
  for (const UnmappedRow& row : kUnmapped) {
    if (row.opcode == IBV_WR_SEND) continue;
    const Pages pages(row.whose == Whose::Own ? bench.a : bench.b);
    const Pair pair(bench, IBV_QPT_RC);
    int good = 0;
    for (int i = 0; i < kTimes; ++i)
      good += status_of(bench, pair, row, pages, kPage) == IBV_WC_SUCCESS;
    const std::string what = row.what;
    bench.checks->equal(what + " many times", good, kTimes);
    pages.unmap();
    bench.checks->equal(what + " then", status_of(bench, pair, row, pages, kPage),
                        row.at_requester);
    if (row.event >= 0) bench.b.next_event();
  }
}

// ---- In a handler of a signal that comes at any time, also while the thread unmaps memory.
volatile sig_atomic_t g_handled = 0;
void map_and_unmap() {
  munmap(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kPage);
}
void unmap_in_handler(int) {
  map_and_unmap();
  g_handled = g_handled + 1;
}
void unmap_in_handlers(Bench& bench) {
  constexpr int kEnough = 2000;
  struct sigaction action {
  }, before{};
  action.sa_handler = unmap_in_handler;
  sigaction(SIGUSR2, &action, &before);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL, event.sigev_signo = SIGUSR2;
  timer_t timer{};
  bench.checks->equal("a timer", timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec often{{0, 20'000}, {0, 20'000}};
  timer_settime(timer, 0, &often, nullptr);
  while (g_handled < kEnough) map_and_unmap();
  timer_delete(timer);
  sigaction(SIGUSR2, &before, nullptr);
  bench.checks->holds("memory is unmapped in a handler", g_handled >= kEnough);
}
}  // namespace

void check_unmapped(Bench& bench) {
  for (const UnmappedRow& row : kUnmapped) check_unmapped(bench, row);
  check_used_for_long(bench);
  unmap_in_handlers(bench);
}
}  // namespace cases
