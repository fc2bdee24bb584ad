// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "testbench/tests/programs/verbs_library/cases/xrc.h"

namespace cases {
NamelessFile::NamelessFile() : fd(memfd_create("xrc", MFD_CLOEXEC)) {}
NamelessFile::~NamelessFile() { close(fd); }

ibv_xrcd* open_domain(ibv_context* context, int fd, int oflags) {
  ibv_xrcd_init_attr wanted{};
  wanted.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  wanted.fd = fd, wanted.oflags = oflags;
  return ibv_open_xrcd(context, &wanted);
}

ibv_srq* make_xrc_srq(const End& end, ibv_xrcd* domain, ibv_cq* cq) {
  ibv_srq_init_attr_ex wanted{};
  wanted.attr = {kDepth, 1, 0};
  wanted.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  wanted.srq_type = IBV_SRQT_XRC, wanted.pd = end.pd, wanted.xrcd = domain, wanted.cq = cq;
  return ibv_create_srq_ex(end.context, &wanted);
}

ibv_qp* make_initiator(const End& end, std::uint64_t send_ops) {
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_type = IBV_QPT_XRC_SEND, wanted.send_cq = end.cq, wanted.pd = end.pd;
  wanted.cap = {kDepth, kDepth, 2, 2, 64};
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0);
  wanted.send_ops_flags = send_ops;
  return ibv_create_qp_ex(end.context, &wanted);
}

ibv_qp* make_target(ibv_context* context, ibv_xrcd* domain) {
  ibv_qp_init_attr_ex wanted{};
  wanted.qp_type = IBV_QPT_XRC_RECV;
  wanted.comp_mask = IBV_QP_INIT_ATTR_XRCD, wanted.xrcd = domain;
  return ibv_create_qp_ex(context, &wanted);
}

ibv_qp* open_target(ibv_context* context, ibv_xrcd* domain, std::uint32_t qpn) {
  ibv_qp_open_attr wanted{};
  wanted.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  wanted.qp_num = qpn, wanted.xrcd = domain, wanted.qp_type = IBV_QPT_XRC_RECV;
  return ibv_open_qp(context, &wanted);
}

std::uint32_t number_of(ibv_srq* srq) {
  std::uint32_t number = 0;
  return ibv_get_srq_num(srq, &number) ? 0 : number;
}

int post_shared(ibv_srq* srq, ibv_sge sge, std::uint64_t id) {
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = id, wr.sg_list = &sge, wr.num_sge = 1;
  return ibv_post_srq_recv(srq, &wr, &bad);
}

ibv_wc next_completion(ibv_cq* cq) {
  constexpr int kPolls = 100'000;
  ibv_wc wc{};
  for (int i = 0; i < kPolls; ++i) {
    if (ibv_poll_cq(cq, 1, &wc) == 1) return wc;
    if (i > 1000) usleep(10);
  }
  wc.status = ibv_wc_status(-1);
  return wc;
}
}  // namespace cases
