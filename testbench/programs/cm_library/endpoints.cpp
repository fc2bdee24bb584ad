// SPDX-License-Identifier: Apache-2.0
// Names as addresses, and identifiers whose calls wait.
#include <netdb.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
namespace {
// A copy that rdma_freeaddrinfo() frees; nullptr: of nothing.
sockaddr* copy_of(const sockaddr* from, socklen_t bytes) {
  if (!from || !bytes) return nullptr;
  void* const made = std::calloc(1, bytes);
  if (made) std::memcpy(made, from, bytes);
  return static_cast<sockaddr*>(made);
}
// As getaddrinfo() says errors.
int errno_of(int error) {
  switch (error) {
    case 0:
      return 0;
    case EAI_SYSTEM:
      return errno;
    case EAI_MEMORY:
      return ENOMEM;
    case EAI_FAMILY:
      return EAFNOSUPPORT;
    case EAI_BADFLAGS:
      return EINVAL;
    default:
      return ENODATA;
  }
}
void set_kind(rdma_addrinfo& out, const rdma_addrinfo* hints) {
  out.ai_qp_type = hints ? hints->ai_qp_type : 0;
  out.ai_port_space = hints ? hints->ai_port_space : 0;
  if (!out.ai_qp_type)
    out.ai_qp_type = out.ai_port_space == RDMA_PS_UDP || out.ai_port_space == RDMA_PS_IPOIB
                         ? IBV_QPT_UD
                         : IBV_QPT_RC;
  if (!out.ai_port_space)
    out.ai_port_space = out.ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}
// errno's values.
int find_address(const char* node, const char* service, const rdma_addrinfo* hints,
                 rdma_addrinfo& out) {
  const int flags = hints ? hints->ai_flags : 0;
  addrinfo wanted{};
  wanted.ai_family = hints ? hints->ai_family : AF_UNSPEC;
  wanted.ai_socktype = out.ai_port_space == RDMA_PS_TCP ? SOCK_STREAM : SOCK_DGRAM;
  if (flags & RAI_PASSIVE) wanted.ai_flags |= AI_PASSIVE;
  if (flags & RAI_NUMERICHOST) wanted.ai_flags |= AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (const int error = errno_of(getaddrinfo(node, service, &wanted, &found))) return error;
  sockaddr* const copy = copy_of(found->ai_addr, found->ai_addrlen);
  out.ai_family = found->ai_family;
  (flags & RAI_PASSIVE ? out.ai_src_addr : out.ai_dst_addr) = copy;
  (flags & RAI_PASSIVE ? out.ai_src_len : out.ai_dst_len) = found->ai_addrlen;
  freeaddrinfo(found);
  return copy ? 0 : ENOMEM;
}
}  // namespace
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

HCA_CM int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                            rdma_addrinfo** res) {
  constexpr int kIbFamily = 27;  // AF_IB
  if (!node && !service && !hints) return fail(EINVAL);
  if (hints && hints->ai_family == kIbFamily)
    return refuse("rdma_getaddrinfo", "addresses of AF_IB are not supported");
  auto* const out = static_cast<rdma_addrinfo*>(std::calloc(1, sizeof(rdma_addrinfo)));
  if (!out) return fail(ENOMEM);
  out->ai_flags = hints ? hints->ai_flags : 0;
  set_kind(*out, hints);
  int error = 0;
  if (node || service) {
    error = find_address(node, service, hints, *out);
  } else {
    out->ai_family = hints->ai_family;
    out->ai_dst_addr = copy_of(hints->ai_dst_addr, hints->ai_dst_len);
    out->ai_dst_len = hints->ai_dst_len;
  }
  if (!error && !out->ai_src_len && hints && hints->ai_src_len) {
    out->ai_src_addr = copy_of(hints->ai_src_addr, hints->ai_src_len);
    out->ai_src_len = hints->ai_src_len;
  }
  if (error) {
    rdma_freeaddrinfo(out);
    return fail(error);
  }
  *res = out;
  return 0;
}
HCA_CM void rdma_freeaddrinfo(rdma_addrinfo* list) {
  while (list) {
    rdma_addrinfo* const gone = std::exchange(list, list->ai_next);
    std::free(gone->ai_src_addr);
    std::free(gone->ai_dst_addr);
    std::free(gone);
  }
}

namespace {
// errno's values.
int bind_passive(Id& id, const rdma_addrinfo& info, ibv_pd* pd,
                 const ibv_qp_init_attr* queue_pairs) {
  if (rdma_bind_addr(&id, info.ai_src_addr)) return errno;
  id.given_pd = pd;
  if (queue_pairs) id.queue_pairs = new ibv_qp_init_attr(*queue_pairs);
  return 0;
}
int resolve_active(Id& id, const rdma_addrinfo& info, ibv_pd* pd, ibv_qp_init_attr* queue_pair) {
  if (rdma_resolve_addr(&id, info.ai_src_addr, info.ai_dst_addr, kResolveMs) ||
      rdma_resolve_route(&id, kResolveMs))
    return errno;
  if (!queue_pair) return 0;
  queue_pair->qp_type = id.qp_type;
  return rdma_create_qp(&id, pd, queue_pair) ? errno : 0;
}
}  // namespace
HCA_CM int rdma_create_ep(rdma_cm_id** out, rdma_addrinfo* info, ibv_pd* pd,
                          ibv_qp_init_attr* attributes) {
  const bool passive = info->ai_flags & RAI_PASSIVE;
  if (create_id_of(out, rdma_port_space(info->ai_port_space), ibv_qp_type(info->ai_qp_type)))
    return -1;
  Id& id = id_of(*out);
  const int error =
      passive ? bind_passive(id, *info, pd, attributes) : resolve_active(id, *info, pd, attributes);
  if (!error) return 0;
  rdma_destroy_ep(*out);
  return fail(error);
}
HCA_CM void rdma_destroy_ep(rdma_cm_id* plain) {
  Id& id = id_of(plain);
  rdma_destroy_qp(&id);
  rdma_destroy_srq(&id);
  const std::unique_ptr<ibv_qp_init_attr> gone(id.queue_pairs);
  id.queue_pairs = nullptr;
  rdma_destroy_id(&id);
}

HCA_CM int rdma_get_request(rdma_cm_id* plain, rdma_cm_id** out) {
  Id& listener = id_of(plain);
  if (!listener.waits) return fail(EINVAL);
  if (listener.event) rdma_ack_cm_event(std::exchange(listener.event, nullptr));
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener.channel, &event)) return -1;
  int error = event->status < 0 ? -event->status : event->status ? EIO : 0;
  if (!error && event->event != RDMA_CM_EVENT_CONNECT_REQUEST) error = EINVAL;
  if (!error && listener.queue_pairs) {
    ibv_qp_init_attr attributes = *listener.queue_pairs;
    if (rdma_create_qp(event->id, listener.given_pd, &attributes)) error = errno;
  }
  if (!error && rdma_migrate_id(event->id, nullptr)) error = errno;
  if (error) {
    rdma_ack_cm_event(event);
    return fail(error);
  }
  *out = event->id;
  event->id->event = event;
  return 0;
}
