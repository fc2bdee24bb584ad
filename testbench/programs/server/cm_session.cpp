// SPDX-License-Identifier: Apache-2.0
// Requests of a program on its channels and identifiers.
#include "testbench/programs/server/cm_session.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace hca::attach {
namespace {
constexpr u32 kMostRequests = 1024;  // of a listener that names no number
constexpr u32 kPsnStep = 0x9e'3779;  // between the first PSNs of identifiers
constexpr u32 kMostAckTimeout = 31;
}  // namespace

CmId::~CmId() {
  session_.host_.unbind(*this);
  if (connection_) {
    session_.agent(*this).leave(*connection_);
    session_.wake(*this);
  }
}
void CmId::told(cm::Connection& connection, cm::Tell tell, const cm::Mad* mad) {
  connection_ = &connection;
  session_.told(*this, tell, mad);
}

// ---- Calls
CmSession::Call CmSession::call_of(CmCall call) {
  struct CallRow {
    CmCall call;
    Call function;
  };
  static constexpr std::array kCalls{
      CallRow{CmCall::DestroyId, &CmSession::destroy_id},
      CallRow{CmCall::Migrate, &CmSession::migrate},
      CallRow{CmCall::Bind, &CmSession::bind},
      CallRow{CmCall::Listen, &CmSession::listen},
      CallRow{CmCall::Resolve, &CmSession::resolve},
      CallRow{CmCall::ResolveRoute, &CmSession::resolve_route},
      CallRow{CmCall::Connect, &CmSession::connect},
      CallRow{CmCall::Accept, &CmSession::accept},
      CallRow{CmCall::Refuse, &CmSession::refuse},
      CallRow{CmCall::Confirm, &CmSession::confirm},
      CallRow{CmCall::Notify, &CmSession::notify},
      CallRow{CmCall::Disconnect, &CmSession::disconnect},
      CallRow{CmCall::Query, &CmSession::query},
      CallRow{CmCall::Join, &CmSession::join},
      CallRow{CmCall::SetOption, &CmSession::set_option},
  };
  const auto found = std::ranges::find(kCalls, call, &CallRow::call);
  return found == kCalls.end() ? nullptr : found->function;
}

Reply CmSession::handle(const Request& request, Descriptor& descriptor) {
  const auto call = CmCall(request.names[0]);
  if (call == CmCall::CreateChannel) return create_channel(descriptor);
  if (call == CmCall::DestroyChannel) return destroy_channel(request.object);
  if (call == CmCall::CreateId) return create_id(request);
  if (call == CmCall::TakeEvent) return take_event(request.object);
  const Call function = call_of(call);
  if (!function) return error_reply(EOPNOTSUPP);
  const auto id = ids_.find(request.object);
  return id == ids_.end() ? error_reply(ENOENT) : (this->*function)(*id->second, request);
}

// ---- Channels and events
Reply CmSession::create_channel(Descriptor& descriptor) {
  Reply reply;
  reply.handle = host_.give_handle();
  descriptor = Descriptor(fcntl(channels_[reply.handle].ready.read_end(), F_DUPFD_CLOEXEC, 0));
  if (descriptor) return reply;
  channels_.erase(reply.handle);
  return error_reply(errno);
}
Reply CmSession::destroy_channel(u32 handle) {
  const auto channel = channels_.find(handle);
  if (channel == channels_.end()) return error_reply(ENOENT);
  for (const auto& [number, id] : ids_)
    if (id->channel_ == &channel->second) return error_reply(EBUSY);
  channels_.erase(channel);
  return {};
}
Reply CmSession::take_event(u32 channel) {
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return error_reply(ENOENT);
  std::deque<CmEvent>& events = found->second.events;
  if (events.empty()) return error_reply(EAGAIN);
  Reply reply;
  put(reply.body, events.front());
  if (const auto made = ids_.find(events.front().request); made != ids_.end())
    made->second->listener_ = nullptr;
  events.pop_front();
  return reply;
}
void CmSession::tell(CmId& id, CmEvent event) {
  if (!event.id) event.id = id.handle_;
  event.route = id.route_;
  id.channel_->events.push_back(event);
  id.channel_->ready.write(std::array{u64{event.id}});
  if (id.route_.device < 0) return;
  // Events that it requested itself come with the reply.
  const Device& device = host_.device(id.route_.device);
  if (device.node().cpu.is_acting()) event_(device);
}
// Removes its unread events.
void CmSession::forget_events(const CmId& id) {
  CmChannel& channel = *id.channel_;
  std::erase_if(channel.events, [&](const CmEvent& event) { return event.id == id.handle_; });
  channel.ready.remove([&](std::span<const u64> record) { return record[0] == id.handle_; });
  channel.ready.flush();
}

// ---- Identifiers
CmId& CmSession::add_id(CmChannel& channel, const CmNewId& wanted) {
  const u32 handle = host_.give_handle();
  CmId& made = *(ids_[handle] = std::make_unique<CmId>(*this, handle, channel, wanted));
  made.psn_ = handle * kPsnStep & proto::kPsnMask;
  return made;
}
Reply CmSession::create_id(const Request& request) {
  const auto channel = channels_.find(request.names[1]);
  if (channel == channels_.end()) return error_reply(ENOENT);
  Reply reply;
  reply.handle = add_id(channel->second, get<CmNewId>(request.body)).handle_;
  return reply;
}
// Refuses its pending requests.
Reply CmSession::destroy_id(CmId& id, const Request&) {
  forget_events(id);
  std::erase_if(ids_, [&](const auto& row) { return row.second->listener_ == &id; });
  ids_.erase(id.handle_);
  return {};
}
Reply CmSession::migrate(CmId& id, const Request& request) {
  const auto channel = channels_.find(request.names[1]);
  if (channel == channels_.end()) return error_reply(ENOENT);
  std::deque<CmEvent> moved;
  for (const CmEvent& event : id.channel_->events)
    if (event.id == id.handle_) moved.push_back(event);
  forget_events(id);
  id.channel_ = &channel->second;
  for (const CmEvent& event : moved) tell(id, event);
  return {};
}

// ---- Addresses. errno's values.
int CmSession::bind_to(CmId& id, const CmAddress& address) {
  if (id.devices_) return EINVAL;
  u32 devices = devices_;
  s32 device = -1;
  if (!CmHost::is_any(address)) {
    if (const auto owner = host_.owner(address))
      device = *owner;
    else if (CmHost::is_of_machine(address))
      device = std::countr_zero(devices_);
    if (device < 0 || !(devices_ >> device & 1)) return EADDRNOTAVAIL;
    devices = 1u << device;
  }
  const u16 space = id.wanted_.port_space;
  const u16 port = address.port ? address.port : host_.free_port(devices, space);
  if (!port || !host_.is_free(devices, space, port, id.reuses_)) return EADDRINUSE;
  if (device >= 0) id.route_ = host_.route({device, device});
  id.route_.local = address;
  id.route_.local.port = port;
  id.devices_ = devices;
  host_.bind(id, devices, space, port);
  return 0;
}
Reply CmSession::bind(CmId& id, const Request& request) {
  Reply reply;
  reply.error = bind_to(id, get<CmAddress>(request.body));
  put(reply.body, id.route_);
  return reply;
}
Reply CmSession::listen(CmId& id, const Request& request) {
  if (id.resolved_ || id.connection_) return error_reply(EINVAL);
  Reply reply;
  if (!id.devices_) reply.error = bind_to(id, CmAddress{.family = kIpv4});
  if (reply.error) return reply;
  const u16 space = id.wanted_.port_space, port = id.route_.local.port;
  for (s32 device = 0; host_.all() >> device; ++device) {
    CmId* const other = id.devices_ >> device & 1 ? host_.listener(device, space, port) : nullptr;
    if (other && other != &id) return error_reply(EADDRINUSE);
  }
  id.most_waiting_ = request.names[1] ? std::min(request.names[1], kMostRequests) : kMostRequests;
  id.listens_ = true;
  for (s32 device = 0; host_.all() >> device; ++device) {
    if (!(id.devices_ >> device & 1)) continue;
    host_.device(device).cm().agent().look_again();
    host_.device(device).wake_cm();
  }
  put(reply.body, id.route_);
  return reply;
}

Reply CmSession::resolve(CmId& id, const Request& request) {
  const auto [source, destination] = get<CmResolve>(request.body);
  if (id.listens_ || id.connection_) return error_reply(EINVAL);
  if (source.family && !id.devices_)
    if (const int error = bind_to(id, source)) return error_reply(error);
  const u32 from = id.route_.device >= 0 ? 1u << id.route_.device : devices_;
  const auto ends = host_.choose(from, destination, id.wanted_.port_space);
  if (!ends) return error_reply(ENETUNREACH);
  CmAddress local = id.route_.local;
  const bool any = CmHost::is_any(local);
  if (any) {
    local.ip = {};
    local.family = 0;
  }
  if (!id.devices_) {
    CmAddress own = host_.address_of(ends->from, destination.family);
    own.port = 0;
    if (const int error = bind_to(id, own)) return error_reply(error);
    local.port = id.route_.local.port;
  }
  id.route_ = host_.route(*ends);
  id.peer_device_ = ends->to;
  id.route_.local = any ? host_.address_of(ends->from, destination.family) : local;
  id.route_.local.port = local.port;
  id.route_.remote = destination;
  id.route_.traffic_class = id.traffic_class_;
  if (id.ack_timeout_) id.route_.ack_timeout = id.ack_timeout_;
  id.resolved_ = true;
  tell(id, {.type = CmEventType::AddressResolved});
  return {};
}
Reply CmSession::resolve_route(CmId& id, const Request&) {
  if (!id.resolved_) return error_reply(EINVAL);
  id.routed_ = true;
  tell(id, {.type = CmEventType::RouteResolved});
  return {};
}
Reply CmSession::set_option(CmId& id, const Request& request) {
  const u32 value = request.names[2];
  switch (CmOption(request.names[1])) {
    case CmOption::TrafficClass:
      id.traffic_class_ = id.route_.traffic_class = u8(value);
      return {};
    case CmOption::ReuseAddress:
      if (id.devices_) return error_reply(EINVAL);
      id.reuses_ = value != 0;
      return {};
    case CmOption::AckTimeout:
      if (value > kMostAckTimeout) return error_reply(EINVAL);
      id.ack_timeout_ = u8(value);
      if (value) id.route_.ack_timeout = u8(value);
      return {};
  }
  return error_reply(ENOSYS);
}

Reply CmSession::join(CmId& id, const Request& request) {
  if (id.route_.device < 0) return error_reply(EINVAL);
  const auto group = get<CmAddress>(request.body);
  if (!CmHost::is_multicast(group)) return error_reply(EINVAL);
  CmEvent event{.type = CmEventType::MulticastJoin, .cookie = request.cookie};
  event.parameters.qpn = proto::kMulticastQp;
  event.parameters.qkey = kUdpQkey;
  tell(id, event);
  return {};
}
}  // namespace hca::attach
