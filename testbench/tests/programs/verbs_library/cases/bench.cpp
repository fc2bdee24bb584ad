// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/verbs_library/cases/bench.h"

#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cases {
void Checks::equal(const std::string& what, long long got, long long wanted) {
  (got == wanted ? passed_ : failed_)++;
  if (got != wanted) std::printf("%s: %lld, not %lld\n", what.c_str(), got, wanted);
}

namespace {
template <class Pointer>
Pointer must(Pointer pointer, const char* what) {
  if (pointer) return pointer;
  std::perror(what);
  std::exit(2);
}
ibv_device* last_of(ibv_device** list) {
  while (list[1]) ++list;
  return *list;
}
constexpr double kWhile = 0.5;  // seconds of the clock that the program sees
double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}
}  // namespace

End::End(ibv_device* opened) : context(must(ibv_open_device(opened), "ibv_open_device")) {
  pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
  cq = must(ibv_create_cq(context, 2 * kDepth, this, nullptr, 0), "ibv_create_cq");
  mr = must(ibv_reg_mr(pd, buffer.data(), buffer.size(), kAllAccess), "ibv_reg_mr");
  ibv_query_device(context, &device);
  ibv_query_port(context, 1, &port);
  ibv_query_gid(context, 1, 0, &gid);
  fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
}
End::~End() {
  if (!context) return;
  const int error = ibv_dereg_mr(mr) | ibv_destroy_cq(cq) | ibv_dealloc_pd(pd);
  if (error) std::printf("an end is not released: %s\n", std::strerror(error));
  ibv_close_device(context);
}
void End::close() {
  ibv_close_device(context);
  context = nullptr;
}

ibv_qp_init_attr End::wanted_qp(ibv_qp_type type) const {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = cq, wanted.qp_type = type;
  wanted.cap = {kDepth, kDepth, 2, 2, 64};
  return wanted;
}
ibv_qp* End::make_qp(ibv_qp_type type, ibv_srq* srq) {
  ibv_qp_init_attr wanted = wanted_qp(type);
  wanted.srq = srq;
  return must(ibv_create_qp(pd, &wanted), "ibv_create_qp");
}

ibv_wc End::next_completion() {
  ibv_wc wc{};
  for (const double end = now() + kWhile; now() < end;)
    if (ibv_poll_cq(cq, 1, &wc) == 1) return wc;
  wc.status = ibv_wc_status(-1);
  return wc;
}
bool End::has_completion_left() {
  ibv_wc wc;
  timespec moment{0, 100'000};
  nanosleep(&moment, nullptr);
  return ibv_poll_cq(cq, 1, &wc) > 0;
}
int End::next_event() {
  pollfd ready{context->async_fd, POLLIN, 0};
  ibv_async_event event;
  if (::poll(&ready, 1, int(kWhile * 1000)) != 1 || ibv_get_async_event(context, &event)) return -1;
  ibv_ack_async_event(&event);
  return event.event_type;
}
ibv_sge End::sge(std::uint32_t offset, std::uint32_t bytes) const {
  return {reinterpret_cast<std::uintptr_t>(buffer.data() + offset), bytes, mr->lkey};
}

// ---- Queue pairs
ibv_ah_attr address_of(const End& to) {
  ibv_ah_attr path{};
  path.port_num = 1, path.dlid = to.port.lid;
  if (to.port.link_layer == IBV_LINK_LAYER_ETHERNET) {
    path.is_global = 1, path.grh.dgid = to.gid, path.grh.hop_limit = 64;
  }
  return path;
}

Path path_to(ibv_qp_type type, const End&, const End& to, std::uint32_t qpn) {
  Path path;
  const bool connected = type != IBV_QPT_UD;
  const bool answers = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
  const bool requests = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
  path.init.qp_state = IBV_QPS_INIT, path.rtr.qp_state = IBV_QPS_RTR;
  path.rts.qp_state = IBV_QPS_RTS;
  path.init.port_num = 1, path.init.qkey = 0x1234;
  path.init.qp_access_flags =
      IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  path.init_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
                   (connected ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
  path.rtr_mask = IBV_QP_STATE;
  path.rts_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (connected) {
    path.rtr.ah_attr = address_of(to), path.rtr.path_mtu = IBV_MTU_1024;
    path.rtr.dest_qp_num = qpn;
    path.rtr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  }
  if (answers) {
    path.rtr.max_dest_rd_atomic = 4, path.rtr.min_rnr_timer = 1;
    path.rtr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  }
  path.rts.timeout = 6;  // 262 us
  if (answers || requests) path.rts_mask |= IBV_QP_TIMEOUT;
  if (requests) {
    path.rts.max_rd_atomic = 4, path.rts.retry_cnt = 1;
    path.rts_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return path;
}

namespace {
int lead(ibv_qp* qp, Path path) {
  int error = ibv_modify_qp(qp, &path.init, path.init_mask);
  if (!error) error = ibv_modify_qp(qp, &path.rtr, path.rtr_mask);
  return error ? error : ibv_modify_qp(qp, &path.rts, path.rts_mask);
}
}  // namespace

int connect(ibv_qp* one, const End& its, ibv_qp* other, const End& others) {
  const int error = lead(one, path_to(one->qp_type, its, others, other->qp_num));
  return error ? error : lead(other, path_to(other->qp_type, others, its, one->qp_num));
}
int to_init(ibv_qp* qp, const End& its) {
  Path path = path_to(qp->qp_type, its, its, 0);
  return ibv_modify_qp(qp, &path.init, path.init_mask);
}
ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  if (ibv_query_qp(qp, &attributes, IBV_QP_STATE, &made)) return IBV_QPS_UNKNOWN;
  return attributes.qp_state;
}

Bench::Bench()
    : list(must(ibv_get_device_list(nullptr), "devices")), a(list[0]), b(last_of(list)) {}
Bench::~Bench() { ibv_free_device_list(list); }

Pair::Pair(Bench& bench, ibv_qp_type type) : a(bench.a.make_qp(type)), b(bench.b.make_qp(type)) {
  bench.checks->equal("two queue pairs are connected", connect(a, bench.a, b, bench.b), 0);
}
Pair::~Pair() {
  for (ibv_qp* qp : {a, b})
    if (qp && ibv_destroy_qp(qp)) std::printf("a queue pair is not destroyed\n");
}

ibv_send_wr work(ibv_wr_opcode opcode, ibv_sge* sge, std::uint64_t id) {
  ibv_send_wr wr{};
  wr.wr_id = id, wr.opcode = opcode, wr.sg_list = sge, wr.num_sge = sge ? 1 : 0;
  wr.send_flags = IBV_SEND_SIGNALED;
  return wr;
}
void set_remote(ibv_send_wr& wr, const End& at, std::uint32_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(at.buffer.data() + offset);
  if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
    wr.wr.atomic.remote_addr = address, wr.wr.atomic.rkey = at.mr->rkey;
  else
    wr.wr.rdma.remote_addr = address, wr.wr.rdma.rkey = at.mr->rkey;
}
int post(ibv_qp* qp, ibv_send_wr& wr) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &wr, &bad);
}
int post_receive(ibv_qp* qp, ibv_sge sge, std::uint64_t id) {
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = id, wr.sg_list = &sge, wr.num_sge = 1;
  return ibv_post_recv(qp, &wr, &bad);
}
}  // namespace cases
