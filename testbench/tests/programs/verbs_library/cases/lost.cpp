// SPDX-License-Identifier: Apache-2.0
// What a program sees whose device is gone: ibv_poll_cq(3), ibv_get_async_event(3),
// ibv_get_cq_event(3).
#include <poll.h>
#include <time.h>

#include <cstdio>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
// What a loop sees that looks for POLLIN alone.
bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 1000) == 1 && (one.revents & POLLIN);
}
}  // namespace

// Says so when all is posted; then the simulation is to be killed.
void check_lost(Bench& bench) {
  Checks& checks = *bench.checks;
  End& a = bench.a;
  ibv_qp* const qp = a.make_qp(IBV_QPT_RC);
  checks.equal("a queue pair is initialized", to_init(qp, a), 0);
  for (int i = 0; i < 3; ++i) checks.equal("a receive", post_receive(qp, a.sge(0, 8), i), 0);
  ibv_comp_channel* const channel = ibv_create_comp_channel(a.context);
  ibv_cq* const cq = ibv_create_cq(a.context, 1, nullptr, channel, 0);
  checks.equal("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0), 0);
  std::printf("ready\n");
  std::fflush(stdout);
  void* context;
  ibv_cq* told;
  checks.holds("the channel is readable", is_readable(channel->fd));
  checks.holds("so is what gives asynchronous events", is_readable(a.context->async_fd));
  checks.equal("no event comes any more", ibv_get_cq_event(channel, &told, &context), -1);
  for (int i = 0; i < 3; ++i) {
    const ibv_wc wc = a.next_completion();
    checks.equal("a receive is flushed", wc.status, IBV_WC_WR_FLUSH_ERR);
    checks.equal("in order", (long long)wc.wr_id, i);
  }
  ibv_wc wc;
  checks.holds("there is no other completion", ibv_poll_cq(a.cq, 1, &wc) < 0);
  checks.equal("an event", a.next_event(), IBV_EVENT_DEVICE_FATAL);
  checks.equal("only one", a.next_event(), -1);
  checks.holds("nothing is made any more", !ibv_alloc_pd(a.context) && errno == EIO);
  checks.equal("nor changed", ibv_destroy_qp(qp), EIO);
  checks.equal("ibv_close_device", ibv_close_device(a.context), 0);
  a.context = bench.b.context = nullptr;
}

// It makes no further call that could report this: it is ended.
void check_spinning(Bench& bench) {
  bench.checks->holds("a device is open", bench.a.context);
  std::printf("ready\n");
  std::fflush(stdout);
  const volatile unsigned char& byte = bench.a.buffer[0];
  while (!byte) continue;
}
}  // namespace cases
