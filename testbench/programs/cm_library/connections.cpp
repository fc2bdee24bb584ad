// SPDX-License-Identifier: Apache-2.0
// Connections: requested, accepted, refused, ended.
#include <algorithm>
#include <cstring>

#include "model/proto/transport/timeout.h"
#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
namespace {
int put_private(attach::CmParameters& p, const void* data, std::size_t bytes) {
  if (bytes > p.private_data.size()) return EINVAL;
  p.private_bytes = u8(bytes);
  if (bytes) std::memcpy(p.private_data.data(), data, bytes);
  return 0;
}
// How many READs and ATOMICs the device can have outstanding.
u8 most_outstanding(const Id& id) {
  ibv_device_attr device{};
  if (!id.verbs || ibv_query_device(id.verbs, &device)) return 0;
  return u8(std::clamp(device.max_qp_rd_atom, 0, int(RDMA_MAX_RESP_RES)));
}
// Limits of outstanding READs and ATOMICs: those of the device, and the values for
// RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH.
struct Limits {
  u8 most, resources, depth;
};
// errno's values.
int limit(u8 asked, u8 stands_for, u8 most, u8& out) {
  static_assert(RDMA_MAX_RESP_RES == RDMA_MAX_INIT_DEPTH);
  out = asked == RDMA_MAX_RESP_RES ? stands_for : asked;
  return out > most ? EINVAL : 0;
}
// The parameters that a program requests, or the maximum. Returns an errno value.
int parameters_of(const Id& id, const rdma_conn_param* asked, const Limits& limits,
                  attach::CmParameters& p) {
  rdma_conn_param all{};
  all.responder_resources = all.initiator_depth = RDMA_MAX_RESP_RES;
  all.flow_control = 1;
  all.retry_count = proto::kRetryMax;
  all.rnr_retry_count = proto::kRnrRetryForever;
  if (asked) all = *asked;
  p.qpn = id.qp ? id.qp->qp_num : all.qp_num;
  p.srq = id.qp ? id.qp->srq != nullptr : all.srq;
  p.qkey = attach::kUdpQkey;
  p.flow_control = all.flow_control;
  p.retry_count = all.retry_count;
  p.rnr_retry_count = all.rnr_retry_count;
  if (!is_datagram(id.ps)) {
    int error =
        limit(all.responder_resources, limits.resources, limits.most, p.responder_resources);
    if (!error) error = limit(all.initiator_depth, limits.depth, limits.most, p.initiator_depth);
    if (error) return error;
  }
  return put_private(p, all.private_data, all.private_data_len);
}
// Uses the peer's parameters unless the program gives others. Returns an errno value.
int accept(Id& id, const rdma_conn_param* asked) {
  attach::CmParameters p;
  const u8 most = most_outstanding(id);
  const Limits limits{most, std::min(id.requested.responder_resources, most),
                      std::min(id.requested.initiator_depth, most)};
  int error = parameters_of(id, asked, limits, p);
  if (!error && id.qp) error = to_rts(id, p.responder_resources, p.initiator_depth);
  return error ? error : ask_with(CmCall::Accept, id.handle, p);
}
}  // namespace
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

HCA_CM int rdma_connect(rdma_cm_id* plain, rdma_conn_param* asked) {
  Id& id = id_of(plain);
  if (!asked && !id.qp && !is_datagram(id.ps)) return fail(EINVAL);
  attach::CmParameters p;
  const u8 most = most_outstanding(id);
  int error = parameters_of(id, asked, {most, most, most}, p);
  if (!error) error = ask_with(CmCall::Connect, id.handle, p);
  if (error) return fail(error);
  return complete(id);
}
HCA_CM int rdma_accept(rdma_cm_id* plain, rdma_conn_param* asked) {
  Id& id = id_of(plain);
  if (const int error = accept(id, asked)) return fail(error);
  return is_datagram(id.ps) ? 0 : complete(id);
}
HCA_CM int rdma_reject(rdma_cm_id* id, const void* data, uint8_t bytes) {
  attach::CmParameters p;
  int error = put_private(p, data, bytes);
  if (!error) error = ask_with(CmCall::Refuse, id_of(id).handle, p);
  return told(error);
}
HCA_CM int rdma_reject_ece(rdma_cm_id* id, const void* data, uint8_t bytes) {
  return rdma_reject(id, data, bytes);
}
HCA_CM int rdma_disconnect(rdma_cm_id* plain) {
  Id& id = id_of(plain);
  if (id.qp && !is_datagram(id.ps)) to_error(id);
  if (const int error = ask(CmCall::Disconnect, id.handle)) return fail(error);
  return complete(id);
}
// For a program that has the queue pair to itself.
HCA_CM int rdma_establish(rdma_cm_id* id) {
  return id->qp ? fail(EINVAL) : told(ask(CmCall::Confirm, id_of(id).handle));
}
HCA_CM int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  return event == IBV_EVENT_COMM_EST ? told(ask(CmCall::Notify, id_of(id).handle)) : fail(EINVAL);
}

// The device has no options that connections would have to agree on.
HCA_CM int rdma_set_local_ece(rdma_cm_id*, ibv_ece* ece) {
  if (!ece) return fail(EINVAL);
  return ece->vendor_id ? refuse("rdma_set_local_ece", "the device has no such options") : 0;
}
HCA_CM int rdma_get_remote_ece(rdma_cm_id*, ibv_ece* ece) {
  if (!ece) return fail(EINVAL);
  *ece = {};
  return 0;
}
