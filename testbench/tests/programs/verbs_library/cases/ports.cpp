// SPDX-License-Identifier: Apache-2.0
// ibv_get_async_event(3), ibv_query_port(3): a cable that breaks and is mended, twice, while the
// program looks.
#include <poll.h>

#include <cstring>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

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

// ibv_query_gid(3), ibv_query_gid_table(3): each port has a table of its own.
void check_second(Bench& bench) {
  Checks& checks = *bench.checks;
  std::vector<ibv_gid> first;  // GIDs at index 0
  for (End* end : {&bench.a, &bench.b}) {
    checks.equal("ports", end->device.phys_port_cnt, 2);
    std::vector<ibv_gid_entry> wanted;
    for (std::uint8_t port = 1; port <= 2; ++port) {
      ibv_port_attr attributes{};
      checks.equal("ibv_query_port", ibv_query_port(end->context, port, &attributes), 0);
      for (int index = 0; index < attributes.gid_tbl_len; ++index) {
        ibv_gid gid{};
        ibv_gid_entry entry{};
        checks.equal("ibv_query_gid", ibv_query_gid(end->context, port, index, &gid), 0);
        const bool none = ibv_query_gid_ex(end->context, port, std::uint32_t(index), &entry, 0);
        checks.equal("a GID that is none is 0", gid.global.interface_id == 0, none);
        if (none) continue;
        checks.equal("port_num", entry.port_num, port);
        checks.equal("gid_index", entry.gid_index, index);
        checks.holds("the GID", !std::memcmp(entry.gid.raw, gid.raw, sizeof gid.raw));
        if (!index) first.push_back(gid);
        wanted.push_back(entry);
      }
      ibv_gid beyond;
      checks.equal("a GID beyond the table",
                   ibv_query_gid(end->context, port, attributes.gid_tbl_len, &beyond), -1);
      ibv_ah_attr path = address_of(bench.b);
      path.port_num = port;
      checks.equal("a path from it", error_of(ibv_create_ah(end->pd, &path), ibv_destroy_ah), 0);
    }
    std::vector<ibv_gid_entry> all(wanted.size() + 1);
    checks.equal("ibv_query_gid_table",
                 ibv_query_gid_table(end->context, all.data(), all.size(), 0),
                 (long long)wanted.size());
    checks.holds("is of both ports, one behind the other",
                 !std::memcmp(all.data(), wanted.data(), wanted.size() * sizeof all[0]));
    checks.equal("without room for all",
                 ibv_query_gid_table(end->context, all.data(), wanted.size() - 1, 0), -EINVAL);
    ibv_gid gid;
    checks.equal("port 3", ibv_query_gid(end->context, 3, 0, &gid), -1);
  }
  for (std::size_t i = 0; i < first.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      checks.holds("each port has its own", std::memcmp(&first[i], &first[j], sizeof(ibv_gid)));
}
}  // namespace cases
