// SPDX-License-Identifier: Apache-2.0
// Channels and identifiers: made, bound, resolved, destroyed.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "model/proto/transport/pkey.h"
#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
namespace {
using attach::kIpv4, attach::kIpv4At, attach::kIpv6;
std::map<u32, Id*>& ids() {
  static auto& all = *new std::map<u32, Id*>;
  return all;
}
}  // namespace

Id* find_id(u32 handle) {
  const std::lock_guard guard(mutex());
  const auto found = ids().find(handle);
  return found == ids().end() ? nullptr : found->second;
}
Id& add_id(u32 handle, rdma_event_channel* channel, void* context, rdma_port_space space) {
  auto* const made = new Id;
  made->handle = handle;
  made->channel = channel;
  made->context = context;
  made->ps = space;
  made->qp_type = is_datagram(space) ? IBV_QPT_UD : IBV_QPT_RC;
  const std::lock_guard guard(mutex());
  ids()[handle] = made;
  return *made;
}
void remove_id(Id& id) {
  const std::lock_guard guard(mutex());
  ids().erase(id.handle);
}

void put_address(const attach::CmAddress& from, sockaddr_storage& to) {
  if (from.family == kIpv6) {
    auto& out = reinterpret_cast<sockaddr_in6&>(to);
    out = {};
    out.sin6_family = AF_INET6;
    out.sin6_port = htons(from.port);
    std::memcpy(&out.sin6_addr, from.ip.data(), sizeof out.sin6_addr);
  } else if (from.family == kIpv4) {
    auto& out = reinterpret_cast<sockaddr_in&>(to);
    out = {};
    out.sin_family = AF_INET;
    out.sin_port = htons(from.port);
    std::memcpy(&out.sin_addr, from.ip.data() + kIpv4At, sizeof out.sin_addr);
  }
}

namespace {
// The path record of it, for programs that look.
void put_path(Id& id, const attach::CmRoute& route) {
  constexpr u8 kExactly = 2, kRate100 = 16;
  ibv_sa_path_rec& path = id.path;
  std::memcpy(path.sgid.raw, route.sgid.data(), sizeof path.sgid.raw);
  std::memcpy(path.dgid.raw, route.dgid.data(), sizeof path.dgid.raw);
  path.slid = htons(route.slid);
  path.dlid = htons(route.dlid);
  path.hop_limit = route.hop_limit;
  path.traffic_class = route.traffic_class;
  path.reversible = 1;
  path.numb_path = 1;
  path.pkey = proto::kDefaultPkey;
  path.sl = route.sl;
  path.mtu_selector = kExactly;
  path.mtu = route.mtu;
  path.rate_selector = kExactly;
  path.rate = kRate100;
  path.packet_life_time_selector = kExactly;
  path.packet_life_time = route.ack_timeout;
  id.route.path_rec = &path;
  id.route.num_paths = 1;
}
}  // namespace

int take_route(Id& id, const attach::CmRoute& route) {
  rdma_addr& addresses = id.route.addr;
  put_address(route.local, addresses.src_storage);
  put_address(route.remote, addresses.dst_storage);
  if (route.device < 0) return 0;
  id.port_num = u8(route.port);
  if (!(id.verbs = context_of(route.device))) return ENODEV;
  if (!id.pd && !(id.pd = domain_of(route.device))) return errno;
  addresses.addr.ibaddr.pkey = proto::kDefaultPkey;
  std::memcpy(addresses.addr.ibaddr.sgid.raw, route.sgid.data(), route.sgid.size());
  std::memcpy(addresses.addr.ibaddr.dgid.raw, route.dgid.data(), route.dgid.size());
  if (route.remote.family) put_path(id, route);
  return 0;
}

int complete(Id& id) {
  if (!id.waits) return 0;
  if (id.event) rdma_ack_cm_event(std::exchange(id.event, nullptr));
  if (rdma_get_cm_event(id.channel, &id.event)) return -1;
  const int status = id.event->status;
  if (!status) return 0;
  const bool refused = id.event->event == RDMA_CM_EVENT_REJECTED;
  return fail(refused ? ECONNREFUSED : status < 0 ? -status : EIO);
}

namespace {
bool is_known(rdma_port_space space) {
  return space == RDMA_PS_TCP || space == RDMA_PS_UDP || space == RDMA_PS_IPOIB;
}
// Queue pairs of an identifier of this type. errno's values.
int make_id(rdma_event_channel* channel, rdma_cm_id** out, void* context, rdma_port_space space,
            ibv_qp_type type) {
  const bool waits = !channel;
  if (!is_known(space)) {
    refuse("rdma_create_id", "RDMA_PS_IB is not supported");
    return errno;
  }
  if (waits && !(channel = rdma_create_event_channel())) return errno;
  attach::Reply reply;
  attach::Request request;
  request.names[1] = static_cast<Channel*>(channel)->handle;
  put(request.body, attach::CmNewId{u16(space), type == IBV_QPT_UC});
  if (const int error = ask(CmCall::CreateId, 0, request, reply)) {
    if (waits) rdma_destroy_event_channel(channel);
    return error;
  }
  Id& made = add_id(reply.handle, channel, context, space);
  made.waits = waits;
  made.qp_type = type;
  *out = &made;
  return 0;
}
}  // namespace
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

// ---- Channels
HCA_CM rdma_event_channel* rdma_create_event_channel() {
  if (!open_server()) return nullptr;
  attach::Request request;
  attach::Reply reply;
  std::vector<attach::Descriptor> given;
  int error = ask(CmCall::CreateChannel, 0, request, reply, &given);
  if (!error && given.size() != 1) error = EPROTO;
  if (error) {
    errno = error;
    return nullptr;
  }
  auto* const made = new Channel;
  made->handle = reply.handle;
  made->fd = given[0].release();
  return made;
}
HCA_CM void rdma_destroy_event_channel(rdma_event_channel* channel) {
  auto* const gone = static_cast<Channel*>(channel);
  if (gone->waiting) return;  // as in Linux such a thread waits on: the channel stays for it
  ask(CmCall::DestroyChannel, gone->handle);
  close(gone->fd);
  delete gone;
}

// ---- Identifiers
HCA_CM int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                          rdma_port_space space) {
  if (!open_server()) return -1;
  const bool datagram = is_datagram(space);
  return told(make_id(channel, id, context, space, datagram ? IBV_QPT_UD : IBV_QPT_RC));
}
// Called by rdma_create_ep(), which knows the service.
int hca::cm_library::create_id_of(rdma_cm_id** id, rdma_port_space space, ibv_qp_type type) {
  if (!open_server()) return -1;
  return told(make_id(nullptr, id, nullptr, space, type));
}

HCA_CM int rdma_destroy_id(rdma_cm_id* plain) {
  Id& id = id_of(plain);
  if (const int error = ask(CmCall::DestroyId, id.handle); error && error != EIO)
    return fail(error);
  remove_id(id);
  for (const Id::Group& group : id.groups)
    if (group.attached && id.qp) ibv_detach_mcast(id.qp, &group.gid, group.lid);
  if (id.event) rdma_ack_cm_event(std::exchange(id.event, nullptr));
  await_acknowledged(id);
  if (id.waits) rdma_destroy_event_channel(id.channel);
  delete &id;
  return 0;
}

HCA_CM int rdma_migrate_id(rdma_cm_id* plain, rdma_event_channel* channel) {
  Id& id = id_of(plain);
  const bool waits = !channel;
  if (id.waits && waits) return fail(EINVAL);
  if (waits && !(channel = rdma_create_event_channel())) return -1;
  if (const int error = ask(CmCall::Migrate, id.handle, static_cast<Channel*>(channel)->handle)) {
    if (waits) rdma_destroy_event_channel(channel);
    return fail(error);
  }
  if (id.event) rdma_ack_cm_event(std::exchange(id.event, nullptr));
  await_acknowledged(id);
  rdma_event_channel* const before = std::exchange(id.channel, channel);
  if (id.waits) rdma_destroy_event_channel(before);
  id.waits = waits;
  return 0;
}

// ---- Addresses
HCA_CM int rdma_bind_addr(rdma_cm_id* plain, sockaddr* address) {
  Id& id = id_of(plain);
  const attach::CmAddress wanted = address_of(address);
  if (!wanted.family) return refuse("rdma_bind_addr", "only addresses of IPv4 and IPv6 are known");
  attach::Reply reply;
  if (const int error = ask_with(CmCall::Bind, id.handle, wanted, reply)) return fail(error);
  return told(take_route(id, attach::get<attach::CmRoute>(reply.body)));
}
HCA_CM int rdma_listen(rdma_cm_id* plain, int backlog) {
  Id& id = id_of(plain);
  attach::Request request;
  request.names[1] = u32(std::max(backlog, 0));
  attach::Reply reply;
  if (const int error = ask(CmCall::Listen, id.handle, request, reply)) return fail(error);
  return told(take_route(id, attach::get<attach::CmRoute>(reply.body)));
}
HCA_CM int rdma_resolve_addr(rdma_cm_id* plain, sockaddr* source, sockaddr* destination, int) {
  Id& id = id_of(plain);
  const attach::CmResolve wanted{address_of(source), address_of(destination)};
  if (!wanted.destination.family || (source && !wanted.source.family))
    return refuse("rdma_resolve_addr", "only addresses of IPv4 and IPv6 are known");
  if (const int error = ask_with(CmCall::Resolve, id.handle, wanted)) return fail(error);
  return complete(id);
}
HCA_CM int rdma_resolve_route(rdma_cm_id* plain, int) {
  Id& id = id_of(plain);
  if (const int error = ask(CmCall::ResolveRoute, id.handle)) return fail(error);
  return complete(id);
}
HCA_CM __be16 rdma_get_src_port(rdma_cm_id* id) {
  return htons(address_of(&id->route.addr.src_addr).port);
}
HCA_CM __be16 rdma_get_dst_port(rdma_cm_id* id) {
  return htons(address_of(&id->route.addr.dst_addr).port);
}

HCA_CM int rdma_set_option(rdma_cm_id* plain, int level, int name, void* value, size_t bytes) {
  struct OptionRow {
    int name;
    std::size_t bytes;
    attach::CmOption option;
  };
  constexpr std::array kOptions{
      OptionRow{RDMA_OPTION_ID_TOS, 1, attach::CmOption::TrafficClass},
      OptionRow{RDMA_OPTION_ID_REUSEADDR, sizeof(int), attach::CmOption::ReuseAddress},
      OptionRow{RDMA_OPTION_ID_ACK_TIMEOUT, 1, attach::CmOption::AckTimeout}};
  if (level != RDMA_OPTION_ID) return refuse("rdma_set_option", "RDMA_OPTION_IB is not supported");
  // IPv6 only, or not: a wildcard address always includes both.
  if (name == RDMA_OPTION_ID_AFONLY) return bytes == sizeof(int) ? 0 : fail(EINVAL);
  const auto row = std::ranges::find(kOptions, name, &OptionRow::name);
  if (row == kOptions.end()) return fail(ENOSYS);
  if (bytes != row->bytes) return fail(EINVAL);
  u32 number = 0;
  std::memcpy(&number, value, bytes);
  return told(ask(CmCall::SetOption, id_of(plain).handle, u32(row->option), number));
}
