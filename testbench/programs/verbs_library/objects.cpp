// SPDX-License-Identifier: Apache-2.0
// Protection domains, address handles, multicast groups.
#include <endian.h>

#include <cstring>

#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

using namespace hca;
using namespace hca::verbs_library;
using proto::CommandOpcode;

HCA_VERB ibv_pd* ibv_alloc_pd(ibv_context* context) {
  attach::Reply reply;
  if (const int error = command(context_of(context), CommandOpcode::AllocPd, 0, reply))
    return fail(error);
  auto* const made = new Pd;
  made->context = context;
  made->handle = reply.handle;
  return made;
}
HCA_VERB int ibv_dealloc_pd(ibv_pd* plain) {
  Pd* const pd = &pd_of(plain);
  Context& context = context_of(pd->context);
  attach::Reply reply;
  if (!is_inherited(pd->context)) {
    if (pd->uses) return told(EBUSY);
    if (!pd->parent)
      if (const int error = command(context, CommandOpcode::DeallocPd, pd->handle, reply))
        return error;
    if (pd->parent) --pd->parent->uses;
    if (pd->thread_domain) --pd->thread_domain->uses;
  }
  delete pd;
  return 0;
}

// ---- Thread domains, and parent domains, which are other names of a domain: what threads share is
// locked in any case.
namespace hca::verbs_library {
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes) {
  if (is_inherited(context)) return fail(EPERM);
  if (attributes->comp_mask) return fail(EOPNOTSUPP);
  auto* const made = new Td;
  made->context = context;
  return made;
}
int dealloc_td(ibv_td* td) {
  if (static_cast<Td*>(td)->uses) return told(EBUSY);
  delete static_cast<Td*>(td);
  return 0;
}
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) {
  if (is_inherited(context)) return fail(EPERM);
  // Rings lie in memory that the server shares: allocators of the program's are of no use.
  if (attributes->comp_mask & ~u32{IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT}) return fail(EOPNOTSUPP);
  ibv_td* const td = attributes->td;
  if (!attributes->pd || attributes->pd->context != context || (td && td->context != context))
    return fail(EINVAL);
  auto* const made = new Pd;
  made->context = context;
  made->handle = attributes->pd->handle;
  Pd& pd = pd_of(attributes->pd);
  made->parent = pd.parent ? pd.parent : &pd;
  made->thread_domain = static_cast<Td*>(td);
  ++made->parent->uses;
  if (td) ++made->thread_domain->uses;
  return made;
}
}  // namespace hca::verbs_library

// ---- Address handles
HCA_VERB ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  Context& context = context_of(pd->context);
  if (!has_port(pd->context, attributes->port_num) || attributes->sl > kLastServiceLevel)
    return fail(EINVAL);
  if (!attributes->is_global && context.info.needs_grh) return fail(EINVAL);
  const auto rate = ibv_rate(attributes->static_rate);  // datagrams go without one
  if (rate != IBV_RATE_MAX && ibv_rate_to_mbps(rate) < 0) return fail(EINVAL);
  proto::AddressHandle path{};
  const ibv_global_route& grh = attributes->grh;
  path.sl = attributes->sl;
  path.dlid = attributes->dlid;
  if (attributes->is_global) {
    path.global = true;
    path.sgid_index = grh.sgid_index;
    path.traffic_class = grh.traffic_class;
    path.hop_limit = grh.hop_limit;
    path.flow_label = grh.flow_label & 0xf'ffff;
    path.dgid_high = be64toh(grh.dgid.global.subnet_prefix);
    path.dgid_low = be64toh(grh.dgid.global.interface_id);
  }
  attach::Request request;
  request.verb = attach::Verb::CreateAh;
  request.names[0] = pd->handle;
  request.object = attributes->port_num;
  proto::encode(path, request.body.data());
  attach::Reply reply;
  if (const int error = ask(context, request, reply)) return fail(error);
  auto* const made = new Ah;
  made->context = pd->context;
  made->pd = pd;
  made->handle = reply.handle;
  made->path = proto::decode<proto::AddressHandle>(reply.body.data());
  use(pd);
  return made;
}
HCA_VERB int ibv_destroy_ah(ibv_ah* ah) {
  attach::Request request;
  request.verb = attach::Verb::DestroyAh;
  request.object = ah->handle;
  attach::Reply reply;
  const int error = is_inherited(ah->context) ? 0 : ask(context_of(ah->context), request, reply);
  if (error) return error;
  leave(ah->pd);
  delete static_cast<Ah*>(ah);
  return 0;
}

namespace {
// Fills in the route of a datagram with an IPv4 header at the end of the GRH's place. False: it has
// none.
bool fill_from_ipv4(const ibv_grh* grh, ibv_global_route& route) {
  constexpr std::size_t kAt = 20, kTrafficClass = 1, kTtl = 8, kSource = 12;
  constexpr u8 kVersionAndLength = 0x45;
  const u8* header = reinterpret_cast<const u8*>(grh) + kAt;
  if (header[0] != kVersionAndLength || be32toh(grh->version_tclass_flow) >> 28 == 6) return false;
  route.dgid = {};
  route.dgid.raw[10] = route.dgid.raw[11] = 0xff;
  std::memcpy(route.dgid.raw + 12, header + kSource, 4);
  route.traffic_class = header[kTrafficClass];
  route.hop_limit = header[kTtl];
  return true;
}

// The last entry of the port's table (for RoCE, of RoCEv2) with the GID to which a datagram was
// sent; an IPv4 header in the room of the GRH has the address at its end. 0 for a group.
u8 index_of_receiver(ibv_context* context, u32 port, const ibv_grh& grh) {
  constexpr std::size_t kIpv4 = 4;
  ibv_gid ipv4{};
  ipv4.raw[10] = ipv4.raw[11] = 0xff;
  std::memcpy(ipv4.raw + sizeof ipv4.raw - kIpv4, grh.dgid.raw + sizeof grh.dgid.raw - kIpv4,
              kIpv4);
  u8 found = 0;
  for (u32 index = 0; index < proto::kGidEntries; ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, port, index, &entry, 0)) continue;
    if (!std::memcmp(entry.gid.raw, grh.dgid.raw, sizeof entry.gid.raw) ||
        !std::memcmp(entry.gid.raw, ipv4.raw, sizeof entry.gid.raw))
      found = u8(index);
  }
  return found;
}
}  // namespace

// The address of the sender of a datagram, for an answer.
HCA_VERB int ibv_init_ah_from_wc(ibv_context* context, u8 port, ibv_wc* wc, ibv_grh* grh,
                                 ibv_ah_attr* attributes) {
  constexpr unsigned kTrafficClassShift = 20;
  if (!has_port(context, port)) return told(EINVAL);
  std::memset(attributes, 0, sizeof *attributes);
  attributes->dlid = wc->slid;
  if (!context_of(context).info.needs_grh) attributes->sl = wc->sl;  // else see level_of()
  attributes->src_path_bits = wc->dlid_path_bits;
  attributes->port_num = port;
  if (!(wc->wc_flags & IBV_WC_GRH)) return 0;
  const u32 first = be32toh(grh->version_tclass_flow);
  attributes->is_global = 1;
  attributes->grh.sgid_index = index_of_receiver(context, port, *grh);
  if (context_of(context).info.needs_grh && fill_from_ipv4(grh, attributes->grh)) return 0;
  attributes->grh.dgid = grh->sgid;
  attributes->grh.flow_label = first & ((1u << kTrafficClassShift) - 1);
  attributes->grh.traffic_class = u8(first >> kTrafficClassShift);
  attributes->grh.hop_limit = 64;
  return 0;
}
HCA_VERB ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, u8 port) {
  ibv_ah_attr attributes;
  if (const int error = ibv_init_ah_from_wc(pd->context, port, wc, grh, &attributes))
    return fail(error);
  return ibv_create_ah(pd, &attributes);
}
HCA_VERB int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, u8 mac[6], u16* vlan) {
  std::memset(mac, 0, 6);  // the server fills it in where an address handle is made
  if (vlan) *vlan = 0xffff;
  return 0;
}

// ---- Multicast groups
namespace {
int change_group(CommandOpcode opcode, ibv_qp* qp, const ibv_gid* gid, u16 lid) {
  attach::Request request;
  request.object = qp->handle;
  attach::Reply reply;
  const proto::MulticastAttributes group{lid, be64toh(gid->global.subnet_prefix),
                                         be64toh(gid->global.interface_id)};
  return command(context_of(qp->context), opcode, request, group, reply);
}
}  // namespace
HCA_VERB int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, u16 lid) {
  auto& groups = qp_of(qp).groups;
  const std::array<u64, 3> group{gid->global.subnet_prefix, gid->global.interface_id, lid};
  if (groups.contains(group)) return 0;  // it gets one copy anyway
  const int error = change_group(CommandOpcode::AttachMulticast, qp, gid, lid);
  if (!error) groups.insert(group);
  return error;
}
HCA_VERB int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, u16 lid) {
  const int error = change_group(CommandOpcode::DetachMulticast, qp, gid, lid);
  if (!error) qp_of(qp).groups.erase({gid->global.subnet_prefix, gid->global.interface_id, lid});
  return error;
}
