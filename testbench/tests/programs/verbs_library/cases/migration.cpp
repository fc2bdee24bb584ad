// SPDX-License-Identifier: Apache-2.0
// ibv_modify_qp(3) with IBV_QP_ALT_PATH and IBV_QP_PATH_MIG_STATE: a connection goes on through the
// second port when its retries are exhausted, and comes back by a call. The wire of port 1 loses
// each request with PSN 20.
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
constexpr int kWrites = 40;

ibv_ah_attr address_through(const End& to, std::uint8_t port) {
  ibv_ah_attr path = address_of(to);
  ibv_port_attr attributes{};
  ibv_query_port(to.context, port, &attributes);
  ibv_query_gid(to.context, port, 0, &path.grh.dgid);
  path.port_num = port, path.dlid = attributes.lid;
  return path;
}

// Loads the path through a port, and sets Rearm.
int rearm(ibv_qp* qp, const End& to, std::uint8_t port) {
  ibv_qp_attr change{};
  change.qp_state = IBV_QPS_RTS;
  change.alt_ah_attr = address_through(to, port);
  change.alt_port_num = port, change.alt_timeout = 6;
  change.path_mig_state = IBV_MIG_REARM;
  return ibv_modify_qp(qp, &change, IBV_QP_STATE | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

int set_state(ibv_qp* qp, ibv_mig_state state) {
  ibv_qp_attr change{};
  change.qp_state = IBV_QPS_RTS, change.path_mig_state = state;
  return ibv_modify_qp(qp, &change, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
}

ibv_qp_attr attributes_of(ibv_qp* qp) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  ibv_query_qp(qp, &attributes, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, &made);
  return attributes;
}

void write(Bench& bench, const Pair& pair, int number) {
  bench.a.buffer[0] = static_cast<unsigned char>(number);
  ibv_sge data = bench.a.sge(0, 1);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b, std::uint32_t(number));
  bench.checks->equal("ibv_post_send", post(pair.a, wr), 0);
  bench.checks->equal("a WRITE", bench.a.next_completion().status, IBV_WC_SUCCESS);
  bench.checks->equal("its byte", bench.b.buffer[std::size_t(number)], number);
}

void expect(Bench& bench, const Pair& pair, ibv_mig_state state, int port) {
  for (ibv_qp* qp : {pair.a, pair.b}) {
    const ibv_qp_attr now = attributes_of(qp);
    bench.checks->equal("path_mig_state", now.path_mig_state, state);
    bench.checks->equal("port_num", now.port_num, port);
    bench.checks->equal("ah_attr.port_num", now.ah_attr.port_num, port);
    bench.checks->equal("alt_port_num", now.alt_port_num, state == IBV_MIG_MIGRATED ? 0 : 3 - port);
  }
}
void expect_migrated(Bench& bench, const Pair& pair, int port) {
  bench.checks->equal("the requester migrates", bench.a.next_event(), IBV_EVENT_PATH_MIG);
  bench.checks->equal("the responder too", bench.b.next_event(), IBV_EVENT_PATH_MIG);
  expect(bench, pair, IBV_MIG_MIGRATED, port);
}
}  // namespace

void check_migration(Bench& bench) {
  Checks& checks = *bench.checks;
  checks.holds("a device with path migration",
               bench.a.device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG);
  const Pair pair(bench, IBV_QPT_RC);
  expect(bench, pair, IBV_MIG_MIGRATED, 1);
  checks.holds("Rearm without a path", set_state(pair.a, IBV_MIG_REARM) != 0);
  checks.holds("a port that is none", rearm(pair.a, bench.b, 3) != 0);
  checks.equal("a path through port 2", rearm(pair.a, bench.b, 2), 0);
  checks.equal("and back", rearm(pair.b, bench.a, 2), 0);
  expect(bench, pair, IBV_MIG_REARM, 1);
  checks.holds("Armed by a call", set_state(pair.a, IBV_MIG_ARMED) != 0);
  int number = 0;
  write(bench, pair, number++);
  expect(bench, pair, IBV_MIG_ARMED, 1);
  while (number < kWrites) write(bench, pair, number++);
  expect_migrated(bench, pair, 2);
  checks.equal("a path through port 1", rearm(pair.a, bench.b, 1), 0);
  checks.equal("and back", rearm(pair.b, bench.a, 1), 0);
  write(bench, pair, number++);
  expect(bench, pair, IBV_MIG_ARMED, 2);
  checks.equal("migration by a call", set_state(pair.a, IBV_MIG_MIGRATED), 0);
  write(bench, pair, number++);
  expect_migrated(bench, pair, 1);
}
}  // namespace cases
