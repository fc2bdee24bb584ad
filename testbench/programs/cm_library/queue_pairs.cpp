// SPDX-License-Identifier: Apache-2.0
// Queue pairs of identifiers, and the attributes that a connection gives them.
#include <algorithm>
#include <cstring>

#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
namespace {
constexpr unsigned kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr u8 kMinRnrTimer = 0;

// Fills in the attributes of a change to this state. Returns errno's values.
int attributes_for(const Id& id, ibv_qp_state state, ibv_qp_attr& a, int& words) {
  attach::CmNegotiated n;
  if (const int error = negotiated(id, n)) return error;
  const bool datagram = is_datagram(id.ps), reliable = id.qp_type == IBV_QPT_RC;
  a = {};
  words = IBV_QP_STATE;
  a.qp_state = state;
  if (state == IBV_QPS_INIT) {
    words |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (datagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    a.port_num = id.port_num;
    a.qkey = n.qkey;
    a.qp_access_flags = kAccess;
  } else if (state == IBV_QPS_RTR && !datagram) {
    words |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (reliable) words |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    a.ah_attr = path_of(n.route);
    a.path_mtu = ibv_mtu(n.route.mtu);
    a.dest_qp_num = n.qpn;
    a.rq_psn = n.rq_psn;
    a.max_dest_rd_atomic = n.responder_resources;
    a.min_rnr_timer = kMinRnrTimer;
  } else if (state == IBV_QPS_RTS) {
    words |= IBV_QP_SQ_PSN;
    if (reliable)
      words |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    a.sq_psn = n.sq_psn;
    a.timeout = n.route.ack_timeout;
    a.retry_cnt = n.retry_count;
    a.rnr_retry = n.rnr_retry_count;
    a.max_rd_atomic = n.initiator_depth;
  }
  return 0;
}
// errno's values.
int change(Id& id, ibv_qp_state state, const u8* most = nullptr) {
  ibv_qp_attr a;
  int words;
  if (const int error = attributes_for(id, state, a, words)) return error;
  if (most) {
    a.max_dest_rd_atomic = std::min(a.max_dest_rd_atomic, *most);
    a.max_rd_atomic = std::min(a.max_rd_atomic, *most);
  }
  return ibv_modify_qp(id.qp, &a, words);
}
}  // namespace

int negotiated(const Id& id, attach::CmNegotiated& all) {
  attach::Request request;
  attach::Reply reply;
  const int error = ask(CmCall::Query, id.handle, request, reply);
  if (!error) all = attach::get<attach::CmNegotiated>(reply.body);
  return error;
}

ibv_ah_attr path_of(const attach::CmRoute& route) {
  ibv_ah_attr path{};
  path.dlid = route.dlid;
  path.sl = route.sl;
  path.port_num = u8(route.port);
  path.is_global = route.global;
  if (!route.global) return path;
  std::memcpy(path.grh.dgid.raw, route.dgid.data(), route.dgid.size());
  path.grh.sgid_index = route.sgid_index;
  path.grh.hop_limit = route.hop_limit;
  path.grh.traffic_class = route.traffic_class;
  return path;
}

int to_init(Id& id) {
  int error = change(id, IBV_QPS_INIT);
  if (error || !is_datagram(id.ps)) return error;
  if (!(error = change(id, IBV_QPS_RTR))) error = change(id, IBV_QPS_RTS);
  return error;
}
int to_rts(Id& id, u8 responder_resources, u8 initiator_depth) {
  if (is_datagram(id.ps)) return 0;
  if (const int error = change(id, IBV_QPS_RTR, &responder_resources)) return error;
  return change(id, IBV_QPS_RTS, &initiator_depth);
}
int to_error(Id& id) {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_ERR;
  return ibv_modify_qp(id.qp, &a, IBV_QP_STATE);
}

namespace {
// Completion queues for one that is given none: each with a channel. errno's values.
int make_queues(Id& id, ibv_qp_init_attr_ex& a) {
  struct Row {
    ibv_cq* ibv_qp_init_attr_ex::*wanted;
    ibv_cq* rdma_cm_id::*cq;
    ibv_comp_channel* rdma_cm_id::*channel;
    u32 entries;
  };
  for (const Row& row : {Row{&ibv_qp_init_attr_ex::send_cq, &rdma_cm_id::send_cq,
                             &rdma_cm_id::send_cq_channel, a.cap.max_send_wr},
                         Row{&ibv_qp_init_attr_ex::recv_cq, &rdma_cm_id::recv_cq,
                             &rdma_cm_id::recv_cq_channel, a.cap.max_recv_wr}}) {
    if (a.*row.wanted) continue;
    if (!(id.*row.cq)) {
      if (!(id.*row.channel = ibv_create_comp_channel(id.verbs))) return errno;
      id.*row.cq = ibv_create_cq(id.verbs, int(std::max(row.entries, 1u)), &id, id.*row.channel, 0);
      if (!(id.*row.cq)) return errno;
    }
    a.*row.wanted = id.*row.cq;
  }
  return 0;
}
void free_queues(Id& id) {
  for (const auto& [cq, channel] :
       {std::pair{&rdma_cm_id::send_cq, &rdma_cm_id::send_cq_channel},
        std::pair{&rdma_cm_id::recv_cq, &rdma_cm_id::recv_cq_channel}}) {
    if (id.*cq) ibv_destroy_cq(id.*cq);
    if (id.*channel) ibv_destroy_comp_channel(id.*channel);
    id.*cq = nullptr, id.*channel = nullptr;
  }
}
int create_queue_pair(Id& id, ibv_qp_init_attr_ex& a) {
  if (id.qp || !id.verbs) return EINVAL;
  if (!(a.comp_mask & IBV_QP_INIT_ATTR_PD)) {
    a.comp_mask |= IBV_QP_INIT_ATTR_PD;
    a.pd = id.pd;
  }
  if (a.pd->context != id.verbs) return EINVAL;
  if (id.srq && !a.srq) a.srq = id.srq;
  int error = make_queues(id, a);
  if (!error && !(id.qp = ibv_create_qp_ex(id.verbs, &a))) error = errno;
  if (!error && (error = to_init(id))) ibv_destroy_qp(std::exchange(id.qp, nullptr));
  if (error) free_queues(id);
  if (!error) id.pd = a.pd;
  return error;
}
}  // namespace
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

HCA_CM int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attributes) {
  return told(create_queue_pair(id_of(id), *attributes));
}
HCA_CM int rdma_create_qp(rdma_cm_id* plain, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  ibv_qp_init_attr_ex all{};
  all.qp_context = attributes->qp_context;
  all.send_cq = attributes->send_cq;
  all.recv_cq = attributes->recv_cq;
  all.srq = attributes->srq;
  all.cap = attributes->cap;
  all.qp_type = attributes->qp_type;
  all.sq_sig_all = attributes->sq_sig_all;
  if (pd) {
    all.comp_mask = IBV_QP_INIT_ATTR_PD;
    all.pd = pd;
  }
  if (rdma_create_qp_ex(plain, &all)) return -1;
  attributes->cap = all.cap;
  return 0;
}
HCA_CM void rdma_destroy_qp(rdma_cm_id* plain) {
  Id& id = id_of(plain);
  if (!id.qp) return;
  for (Id::Group& group : id.groups)
    if (std::exchange(group.attached, false)) ibv_detach_mcast(id.qp, &group.gid, group.lid);
  ibv_destroy_qp(std::exchange(id.qp, nullptr));
  free_queues(id);
}

HCA_CM int rdma_create_srq_ex(rdma_cm_id* plain, ibv_srq_init_attr_ex* attributes) {
  Id& id = id_of(plain);
  if (id.srq || !id.verbs) return fail(EINVAL);
  if (!(attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD)) {
    attributes->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    attributes->pd = id.pd;
  }
  id.srq = ibv_create_srq_ex(id.verbs, attributes);
  return id.srq ? 0 : -1;
}
HCA_CM int rdma_create_srq(rdma_cm_id* plain, ibv_pd* pd, ibv_srq_init_attr* attributes) {
  Id& id = id_of(plain);
  if (id.srq || !id.verbs) return fail(EINVAL);
  id.srq = ibv_create_srq(pd ? pd : id.pd, attributes);
  return id.srq ? 0 : -1;
}
HCA_CM void rdma_destroy_srq(rdma_cm_id* plain) {
  Id& id = id_of(plain);
  if (id.srq) ibv_destroy_srq(std::exchange(id.srq, nullptr));
}

HCA_CM int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attributes, int* words) {
  return told(attributes_for(id_of(id), attributes->qp_state, *attributes, *words));
}
