// SPDX-License-Identifier: Apache-2.0
// Verbs one after the other, for whoever takes the time: `commands N` allocates and deallocates a
// domain N times, `writes N` posts an RDMA WRITE of 8 bytes and polls for its completion N times;
// with a number of threads behind it as many do that together, each on a queue pair of its own.
#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {
struct End {
  explicit End(ibv_context* opened) : context(opened) {
    pd = context ? ibv_alloc_pd(context) : nullptr;
    cq = pd ? ibv_create_cq(context, 16, nullptr, nullptr, 0) : nullptr;
    mr = cq ? ibv_reg_mr(pd, buffer.data(), buffer.size(),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
            : nullptr;
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq, wanted.qp_type = IBV_QPT_RC;
    wanted.cap = {16, 16, 1, 1, 0};
    qp = mr ? ibv_create_qp(pd, &wanted) : nullptr;
    if (!qp || ibv_query_port(context, 1, &port)) std::exit(2);
  }
  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;
  ibv_mr* mr;
  ibv_qp* qp;
  ibv_port_attr port{};
  std::array<unsigned char, 64> buffer{};
};

void connect(const End& one, const End& other) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT, to.port_num = 1, to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  int error = ibv_modify_qp(one.qp, &to,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  to.qp_state = IBV_QPS_RTR, to.path_mtu = IBV_MTU_4096, to.dest_qp_num = other.qp->qp_num;
  to.max_dest_rd_atomic = 1, to.min_rnr_timer = 12;
  to.ah_attr.dlid = other.port.lid, to.ah_attr.port_num = 1;
  error |= ibv_modify_qp(one.qp, &to,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  to.qp_state = IBV_QPS_RTS, to.timeout = 14, to.retry_cnt = to.rnr_retry = 7;
  to.max_rd_atomic = 1;
  error |= ibv_modify_qp(one.qp, &to,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error) std::exit(3);
}

void command(const End& end) {
  ibv_pd* const pd = ibv_alloc_pd(end.context);
  if (!pd || ibv_dealloc_pd(pd)) std::exit(4);
}

void write(const End& from, const End& to) {
  ibv_sge data{reinterpret_cast<std::uintptr_t>(from.buffer.data()), 8, from.mr->lkey};
  ibv_send_wr wr{}, *bad = nullptr;
  wr.opcode = IBV_WR_RDMA_WRITE, wr.send_flags = IBV_SEND_SIGNALED;
  wr.sg_list = &data, wr.num_sge = 1;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.buffer.data());
  wr.wr.rdma.rkey = to.mr->rkey;
  if (ibv_post_send(from.qp, &wr, &bad)) std::exit(5);
  ibv_wc wc{};
  while (!ibv_poll_cq(from.cq, 1, &wc)) continue;
  if (wc.status != IBV_WC_SUCCESS) std::exit(6);
}

struct Pair {
  Pair(ibv_context* one, ibv_context* other) : a(one), b(other) { connect(a, b), connect(b, a); }
  End a, b;
};
}  // namespace

int main(int count, char** arguments) {
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (count < 3 || count > 4 || !list || !list[0] || !list[1]) return 1;
  ibv_context *const one = ibv_open_device(list[0]), *const other = ibv_open_device(list[1]);
  const bool writes = !std::strcmp(arguments[1], "writes");
  const long times = std::atol(arguments[2]), threads = count > 3 ? std::atol(arguments[3]) : 1;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (long i = 0; i < threads; ++i) pairs.push_back(std::make_unique<Pair>(one, other));
  const auto work = [&](const Pair& pair) {
    for (long left = times / threads; left > 0; --left)
      writes ? write(pair.a, pair.b) : command(pair.a);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < pairs.size(); ++i) others.emplace_back([&, i] { work(*pairs[i]); });
  work(*pairs[0]);
  for (std::thread& thread : others) thread.join();
}
