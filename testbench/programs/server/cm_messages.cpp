// SPDX-License-Identifier: Apache-2.0
// Connections of a program: its parameters as messages of connection management, and back.
#include <algorithm>
#include <cerrno>

#include "model/proto/transport/path_rules.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/timeout.h"
#include "testbench/programs/server/cm_session.h"

namespace hca::attach {
using cm::Mad;
using cm::Message;
using proto::TransportService;

namespace {
bool is_unreliable(const Mad& req) {
  return req.get("TransportServiceType") == u64(TransportService::Uc);
}
bool is_datagram(u16 port_space) { return port_space != u16(CmPortSpace::Tcp); }

// Appends the program's private data to those already present.
bool put_private(Mad& mad, std::size_t at, const CmParameters& p) {
  const std::span<u8> room = mad.private_data().subspan(at);
  if (p.private_bytes > std::min(room.size(), p.private_data.size())) return false;
  std::copy_n(p.private_data.begin(), p.private_bytes, room.begin());
  return true;
}
void take_private(const Mad& mad, std::size_t at, CmParameters& p) {
  const auto data = mad.private_data().subspan(at);
  p.private_bytes = u8(std::min(data.size(), p.private_data.size()));
  std::copy_n(data.begin(), p.private_bytes, p.private_data.begin());
}

// The values requested of the program are the other side's limits, and vice versa.
CmParameters parameters_in(const Mad& mad) {
  CmParameters p;
  switch (mad.message()) {
    case Message::Req:
      p.retry_count = u8(mad.get("RetryCount"));
      p.unreliable = is_unreliable(mad);
      take_private(mad, cm::kIpHeaderBytes, p);
      break;
    case Message::Rep:
      take_private(mad, 0, p);
      break;
    case Message::SidrReq:
      take_private(mad, cm::kIpHeaderBytes, p);
      return p;
    case Message::SidrRep:
      p.qpn = u32(mad.get("QPN"));
      p.qkey = u32(mad.get("Q_Key"));
      take_private(mad, 0, p);
      return p;
    case Message::Rej:
      take_private(mad, 0, p);
      return p;
    default:
      return p;
  }
  p.qpn = u32(mad.get("LocalQPN"));
  p.responder_resources = u8(mad.get("InitiatorDepth"));
  p.initiator_depth = u8(mad.get("ResponderResources"));
  p.flow_control = u8(mad.get("EndToEndFlowControl"));
  p.rnr_retry_count = u8(mad.get("RnrRetryCount"));
  p.srq = u8(mad.get("SRQ"));
  return p;
}

cm::IpHeader header_of(const CmRoute& route, const CmAddress& destination) {
  return {route.local.port, proto::Gid{route.local.ip}, proto::Gid{destination.ip},
          route.local.family == kIpv6};
}
void put_path(Mad& req, const CmRoute& route) {
  constexpr u8 kRate = 16;  // 100 Gb/s: of no path is it asked
  const bool ethernet = !route.slid;
  req.set("PathPacketPayloadMtu", route.mtu);
  req.set("PrimaryLocalPortLID", ethernet ? proto::kPermissiveLid : route.slid);
  req.set("PrimaryRemotePortLID", ethernet ? proto::kPermissiveLid : route.dlid);
  req.set_gid("PrimaryLocalPortGID", proto::Gid{route.sgid});
  req.set_gid("PrimaryRemotePortGID", proto::Gid{route.dgid});
  req.set("PrimaryPacketRate", kRate);
  req.set("PrimaryTrafficClass", route.traffic_class);
  req.set("PrimaryHopLimit", route.hop_limit);
  req.set("PrimarySL", route.sl);
  req.set("PrimarySubnetLocal", route.hop_limit <= 1);
  req.set("PrimaryLocalAckTimeout", route.ack_timeout);
}
}  // namespace

// ---- What a program says
Mad CmSession::request_of(const CmId& id, const CmParameters& p) const {
  const CmRoute& route = id.route_;
  const bool datagram = is_datagram(id.wanted_.port_space);
  Mad mad(datagram ? Message::SidrReq : Message::Req);
  mad.set("ServiceID", cm::service_id(id.wanted_.port_space, route.remote.port));
  mad.set("P_Key", proto::kDefaultPkey);
  CmAddress destination = route.remote;
  if (!host_.owner(destination))  // of the machine
    destination = host_.address_of(id.peer_device_, destination.family);
  cm::put_ip_header(mad.private_data(), header_of(route, destination));
  if (datagram) return mad;
  mad.set("LocalCaGuid", host_.device(route.device).info().node_guid);
  mad.set("LocalQPN", p.qpn);
  mad.set("StartingPSN", id.psn_);
  mad.set("ResponderResources", p.responder_resources);
  mad.set("InitiatorDepth", p.initiator_depth);
  mad.set("TransportServiceType",
          u64(id.wanted_.unreliable ? TransportService::Uc : TransportService::Rc));
  mad.set("EndToEndFlowControl", p.flow_control != 0);
  mad.set("RetryCount", std::min(p.retry_count, proto::kRetryMax));
  mad.set("RnrRetryCount", std::min(p.rnr_retry_count, proto::kRetryMax));
  mad.set("SRQ", p.srq != 0);
  put_path(mad, route);
  return mad;
}
Mad CmSession::reply_of(const CmId& id, const CmParameters& p) const {
  if (is_datagram(id.wanted_.port_space)) {
    Mad mad(Message::SidrRep);
    mad.set("QPN", p.qpn);
    mad.set("Q_Key", p.qkey);
    mad.set("ServiceID", id.connection_->request()->get("ServiceID"));
    return mad;
  }
  Mad mad(Message::Rep);
  mad.set("LocalQPN", p.qpn);
  mad.set("StartingPSN", id.psn_);
  mad.set("ResponderResources", p.responder_resources);
  mad.set("InitiatorDepth", p.initiator_depth);
  mad.set("EndToEndFlowControl", p.flow_control != 0);
  mad.set("RnrRetryCount", std::min(p.rnr_retry_count, proto::kRetryMax));
  mad.set("SRQ", p.srq != 0);
  mad.set("LocalCaGuid", host_.device(id.route_.device).info().node_guid);
  return mad;
}

Reply CmSession::connect(CmId& id, const Request& request) {
  const auto p = get<CmParameters>(request.body);
  if (!id.routed_ || id.connection_) return error_reply(EINVAL);
  Mad mad = request_of(id, p);
  if (!put_private(mad, cm::kIpHeaderBytes, p)) return error_reply(EINVAL);
  id.connection_ = &agent(id).connect(id, mad, host_.device(id.peer_device_).cm().place());
  wake(id);
  return {};
}
Reply CmSession::accept(CmId& id, const Request& request) {
  const auto p = get<CmParameters>(request.body);
  if (!id.connection_) return error_reply(EINVAL);
  Mad mad = reply_of(id, p);
  const bool good = put_private(mad, 0, p) && agent(id).accept(*id.connection_, mad);
  wake(id);
  return error_reply(good ? 0 : EINVAL);
}
Reply CmSession::refuse(CmId& id, const Request& request) {
  const auto p = get<CmParameters>(request.body);
  if (!id.connection_) return error_reply(EINVAL);
  Mad mad(is_datagram(id.wanted_.port_space) ? Message::SidrRep : Message::Rej);
  if (mad.message() == Message::Rej) {
    mad.set("Reason", u64(proto::RejectReason::ConsumerReject));
  } else {
    mad.set("Status", u64(proto::SidrStatus::RejectedByService));
    mad.set("ServiceID", id.connection_->request()->get("ServiceID"));
  }
  const bool good = put_private(mad, 0, p) && agent(id).refuse(*id.connection_, mad);
  wake(id);
  return error_reply(good ? 0 : EINVAL);
}
Reply CmSession::confirm(CmId& id, const Request&) {
  const bool good = id.connection_ && agent(id).confirm(*id.connection_);
  return error_reply(good ? 0 : EINVAL);
}
Reply CmSession::notify(CmId& id, const Request&) {
  if (!id.connection_) return error_reply(EINVAL);
  if (id.connection_->state() == cm::State::Established) return error_reply(EISCONN);
  const bool good = agent(id).notify(*id.connection_);
  wake(id);
  return error_reply(good ? 0 : EINVAL);
}
// For a connection that is over the call has no further effect.
Reply CmSession::disconnect(CmId& id, const Request&) {
  if (!id.connection_) return error_reply(EINVAL);
  const cm::State state = id.connection_->state();
  if (state == cm::State::DreqSent || state == cm::State::TimeWait) return {};
  const bool good = agent(id).disconnect(*id.connection_);
  wake(id);
  return error_reply(good ? 0 : EINVAL);
}

Reply CmSession::query(CmId& id, const Request&) {
  // The PSN of a message is that with which its receiver begins to send (12.7.20).
  CmNegotiated n{.route = id.route_, .qkey = kUdpQkey, .sq_psn = id.psn_, .rq_psn = id.psn_};
  if (id.connection_ && id.connection_->request()) {
    const Mad& request = *id.connection_->request();
    const std::optional<Mad>& reply = id.connection_->reply();
    const bool active = id.connection_->is_active();
    const Mad* const from = !active ? &request : reply ? &*reply : nullptr;
    if (from && request.message() == Message::Req) {
      const CmParameters p = parameters_in(*from);
      n.qpn = p.qpn;
      n.sq_psn = u32(from->get("StartingPSN"));
      n.responder_resources = p.responder_resources;
      n.initiator_depth = p.initiator_depth;
      n.rnr_retry_count = p.rnr_retry_count;
      n.retry_count = u8(request.get("RetryCount"));
    }
  }
  Reply reply;
  put(reply.body, n);
  return reply;
}

// ---- Received messages
cm::Listener CmSession::take_request(CmId& listener, s32 device, const Mad& mad) {
  const u32 waiting = u32(std::ranges::count_if(
      ids_, [&](const auto& row) { return row.second->listener_ == &listener; }));
  const auto header = cm::ip_header_in(mad.private_data());
  if (!header) return {};
  if (waiting >= listener.most_waiting_) return {nullptr, proto::RejectReason::NoResources};
  CmNewId wanted = listener.wanted_;
  if (mad.message() == Message::Req) wanted.unreliable = is_unreliable(mad);
  CmId& made = add_id(*listener.channel_, wanted);
  made.listener_ = &listener;
  made.devices_ = 1u << device;
  const u8 family = header->ipv6 ? kIpv6 : kIpv4;
  const CmAddress remote{family, header->source_port, header->source.bytes};
  made.peer_device_ = host_.owner(remote).value_or(device);
  made.route_ = host_.route({device, made.peer_device_});
  made.route_.local = {family, listener.route_.local.port, header->destination.bytes};
  made.route_.remote = remote;
  if (mad.message() == Message::Req) {
    made.route_.traffic_class = u8(mad.get("PrimaryTrafficClass"));
    made.route_.mtu = std::min(made.route_.mtu, u8(mad.get("PathPacketPayloadMtu")));
    made.route_.ack_timeout = u8(mad.get("PrimaryLocalAckTimeout"));
  }
  return {&made};
}

void CmSession::told(CmId& id, cm::Tell tells, const Mad* mad) {
  struct EventRow {
    cm::Tell tell;
    CmEventType type;
  };
  static constexpr std::array kEvents{
      EventRow{cm::Tell::Request, CmEventType::ConnectRequest},
      EventRow{cm::Tell::Response, CmEventType::ConnectResponse},
      EventRow{cm::Tell::Established, CmEventType::Established},
      EventRow{cm::Tell::Refused, CmEventType::Rejected},
      EventRow{cm::Tell::Disconnected, CmEventType::Disconnected},
      EventRow{cm::Tell::Unreachable, CmEventType::Unreachable},
      EventRow{cm::Tell::Answered, CmEventType::Established},
      EventRow{cm::Tell::TimeWaitExit, CmEventType::TimewaitExit},
  };
  const auto row = std::ranges::find(kEvents, tells, &EventRow::tell);
  if (row == kEvents.end()) return;
  CmEvent event{.type = row->type};
  if (mad) event.parameters = parameters_in(*mad);
  if (tells == cm::Tell::Unreachable) event.status = -ETIMEDOUT;
  if (tells == cm::Tell::Refused) event.status = s32(mad->get("Reason"));
  if (tells == cm::Tell::Answered && mad->get("Status")) {
    event.type = CmEventType::Unreachable;
    event.status = s32(mad->get("Status"));
  }
  if (tells == cm::Tell::Request) {
    event.id = id.listener_->handle_;
    event.request = id.handle_;
  }
  tell(id, event);
}
}  // namespace hca::attach
