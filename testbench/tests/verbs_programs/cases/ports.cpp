// SPDX-License-Identifier: Apache-2.0
// ibv_get_async_event(3), ibv_query_port(3): a cable that breaks and is mended, twice, while the
// program looks.
#include <poll.h>

#include "testbench/tests/verbs_programs/cases/bench.h"

namespace cases {
namespace {
constexpr int kPolling = 2, kLinkUp = 5;

// The next event of a port, within the while that a cable may last.
int next_event(ibv_context* context, int& port) {
  constexpr int kLongest = 2000;  // ms
  pollfd ready{context->async_fd, POLLIN, 0};
  ibv_async_event event;
  if (::poll(&ready, 1, kLongest) != 1 || ibv_get_async_event(context, &event)) return -1;
  port = event.element.port_num;
  ibv_ack_async_event(&event);
  return event.event_type;
}

void expect_state(Bench& bench, const End& end, ibv_port_state state, int physical) {
  ibv_port_attr port{};
  bench.checks->equal("ibv_query_port", ibv_query_port(end.context, 1, &port), 0);
  bench.checks->equal("state of the port", port.state, state);
  bench.checks->equal("its physical state", port.phys_state, physical);
}

ibv_wc_status status_of_write(Bench& bench, const Pair& pair) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  post(pair.a, wr);
  return bench.a.next_completion().status;
}
}  // namespace

void check_ports(Bench& bench) {
  Checks& checks = *bench.checks;
  for (int times = 0; times < 2; ++times) {
    for (End* end : {&bench.a, &bench.b}) expect_state(bench, *end, IBV_PORT_ACTIVE, kLinkUp);
    const Pair pair(bench, IBV_QPT_RC);
    checks.equal("a WRITE", status_of_write(bench, pair), IBV_WC_SUCCESS);
    for (End* end : {&bench.a, &bench.b}) {
      int port = 0;
      checks.equal("the cable breaks", next_event(end->context, port), IBV_EVENT_PORT_ERR);
      checks.equal("of port", port, 1);
      expect_state(bench, *end, IBV_PORT_DOWN, kPolling);
    }
    checks.equal("a WRITE then", status_of_write(bench, pair), IBV_WC_RETRY_EXC_ERR);
    for (End* end : {&bench.a, &bench.b}) {
      int port = 0;
      checks.equal("it is mended", next_event(end->context, port), IBV_EVENT_PORT_ACTIVE);
      checks.equal("of port", port, 1);
    }
  }
}
}  // namespace cases
