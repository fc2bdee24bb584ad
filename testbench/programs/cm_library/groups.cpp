// SPDX-License-Identifier: Apache-2.0
// Multicast groups.
#include <algorithm>

#include "model/proto/transport/multicast.h"
#include "testbench/programs/cm_library/library.h"
#include "testbench/programs/server/multicast_lid.h"

namespace hca::cm_library {
namespace {
using attach::kIpv4, attach::kIpv4At;

bool is_ethernet(const Id& id) {
  ibv_port_attr port{};
  return !ibv_query_port(id.verbs, id.port_num, &port) &&
         port.link_layer == IBV_LINK_LAYER_ETHERNET;
}
// The GID of a group's IP address: on Ethernet the address itself, where packets have a header of
// IPv4 or the group is of IPv6; on InfiniBand it has the partition, and the mark of rdma_cm.
ibv_gid gid_of(const Id& id, const attach::CmAddress& group, const attach::CmRoute& route) {
  ibv_gid gid{};
  u8* const raw = gid.raw;
  const bool ipv4 = group.family == kIpv4;
  if (is_ethernet(id)) {
    std::copy(group.ip.begin(), group.ip.end(), raw);
    if (ipv4) raw[10] = raw[11] = 0xff;
    if (ipv4 && !proto::is_ipv4_mapped(proto::Gid{route.sgid})) {
      raw[0] = 0xff;
      raw[1] = 0x0e;
    }
    return gid;
  }
  std::copy(group.ip.begin() + (ipv4 ? kIpv4At : 6), group.ip.end(), raw + (ipv4 ? kIpv4At : 6));
  if (ipv4) raw[kIpv4At] &= 0x0f;
  raw[0] = 0xff;
  raw[1] = 0x12;  // of the link
  raw[2] = ipv4 ? 0x40 : 0x60;
  raw[3] = id.ps == RDMA_PS_UDP ? 0x01 : 0x1b;
  raw[4] = raw[5] = 0xff;  // partition
  return gid;
}
}  // namespace

int attach_group(Id& id, const attach::CmEvent& event, Event& out) {
  const auto group = std::ranges::find(id.groups, event.cookie, &Id::Group::number);
  if (group == id.groups.end()) return ENOENT;
  group->gid = gid_of(id, group->address, event.route);
  group->lid = is_ethernet(id) ? u16(0) : attach::multicast_lid(group->gid.raw);
  if (id.qp && group->receives) {
    if (const int error = ibv_attach_mcast(id.qp, &group->gid, group->lid)) return error;
    group->attached = true;
  }
  rdma_ud_param& ud = out.param.ud;
  ud.ah_attr = {};
  ud.ah_attr.is_global = 1;
  ud.ah_attr.port_num = id.port_num;
  ud.ah_attr.dlid = group->lid;
  ud.ah_attr.grh.dgid = group->gid;
  ud.ah_attr.grh.hop_limit = attach::kHopLimit;
  out.context = group->context;
  return 0;
}
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

namespace {
int join(Id& id, const sockaddr* address, void* context, bool receives) {
  const attach::CmAddress group = address_of(address);
  if (!group.family)
    return refuse("rdma_join_multicast", "only addresses of IPv4 and IPv6 are known");
  const u64 number = ++id.last_group;
  id.groups.push_back({number, group, {}, 0, false, receives, context});
  attach::Request request;
  request.cookie = number;
  put(request.body, group);
  attach::Reply reply;
  if (const int error = ask(CmCall::Join, id.handle, request, reply)) {
    id.groups.pop_back();
    return fail(error);
  }
  return complete(id);
}
}  // namespace
HCA_CM int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  return join(id_of(id), address, context, true);
}
HCA_CM int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* wanted, void* context) {
  constexpr u32 kBoth = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  if ((wanted->comp_mask & kBoth) != kBoth || (wanted->comp_mask & ~kBoth)) return fail(EINVAL);
  if (wanted->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) return fail(EINVAL);
  return join(id_of(id), wanted->addr, context, wanted->join_flags == RDMA_MC_JOIN_FLAG_FULLMEMBER);
}
HCA_CM int rdma_leave_multicast(rdma_cm_id* plain, sockaddr* address) {
  Id& id = id_of(plain);
  const attach::CmAddress group = address_of(address);
  const auto found = std::ranges::find_if(
      id.groups, [&](const Id::Group& each) { return is_same_host(each.address, group); });
  if (found == id.groups.end()) return fail(EADDRNOTAVAIL);
  int error = 0;
  if (found->attached && id.qp) error = ibv_detach_mcast(id.qp, &found->gid, found->lid);
  id.groups.erase(found);
  return told(error);
}
