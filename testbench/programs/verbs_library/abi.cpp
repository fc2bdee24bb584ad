// SPDX-License-Identifier: Apache-2.0
// The structures that programs were compiled with, of rdma-core 44 on 64-bit machines: what inline
// functions of the header read in them must lie where it does here.
#include <infiniband/verbs.h>

#include <cstddef>

static_assert(sizeof(void*) == 8);
static_assert(sizeof(verbs_context) == 648 && offsetof(verbs_context, context) == 320);
static_assert(offsetof(verbs_context, query_port) == 0 && offsetof(verbs_context, sz) == 312);
static_assert(offsetof(verbs_context, create_cq_ex) == 200);
static_assert(offsetof(verbs_context, query_device_ex) == 216);
static_assert(offsetof(verbs_context, create_qp_ex) == 264);
static_assert(offsetof(verbs_context, get_srq_num) == 272);
static_assert(offsetof(verbs_context, create_srq_ex) == 280);
static_assert(sizeof(ibv_context) == 328 && offsetof(ibv_context, abi_compat) == 320);
static_assert(offsetof(ibv_context, cmd_fd) == 264 && offsetof(ibv_context, async_fd) == 268);
static_assert(sizeof(ibv_device) == 664 && offsetof(ibv_device, name) == 24);
static_assert(offsetof(ibv_device, dev_name) == 88 && offsetof(ibv_device, ibdev_path) == 408);
static_assert(sizeof(ibv_qp) == 160 && sizeof(ibv_qp_ex) == 352);
static_assert(offsetof(ibv_qp_ex, wr_atomic_cmp_swp) == 184);
static_assert(sizeof(ibv_cq) == 128 && sizeof(ibv_cq_ex) == 288);
static_assert(sizeof(ibv_srq) == 128 && sizeof(ibv_mr) == 48 && sizeof(ibv_pd) == 16);
static_assert(sizeof(ibv_ah) == 24 && sizeof(ibv_comp_channel) == 16 && sizeof(ibv_wc) == 48);
static_assert(sizeof(ibv_send_wr) == 128 && sizeof(ibv_recv_wr) == 32 && sizeof(ibv_sge) == 16);
static_assert(sizeof(ibv_port_attr) == 52 && sizeof(ibv_gid_entry) == 32);
static_assert(sizeof(ibv_device_attr) == 232 && sizeof(ibv_device_attr_ex) == 400);
static_assert(sizeof(ibv_qp_attr) == 144 && sizeof(ibv_qp_init_attr) == 64);
