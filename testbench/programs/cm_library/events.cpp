// SPDX-License-Identifier: Apache-2.0
// Takes events, and changes the queue pair before the program sees an event.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
namespace {
pthread_mutex_t g_counts = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_acknowledged = PTHREAD_COND_INITIALIZER;

void report(Id& id) {
  pthread_mutex_lock(&g_counts);
  ++id.reported;
  pthread_mutex_unlock(&g_counts);
}

// ---- By type: errno's values; `out` is what the program will see.
int take_request(Id& listener, Event& out) {
  const attach::CmEvent& said = out.said;
  Id& made = add_id(said.request, listener.channel, listener.context, listener.ps);
  made.qp_type = said.parameters.unreliable ? IBV_QPT_UC : listener.qp_type;
  made.requested = said.parameters;
  out.listen_id = &listener;
  out.id = &made;
  return take_route(made, said.route);
}

// The peer has accepted. Without a queue pair of this library the program goes on by itself.
int take_response(Id& id, Event& out) {
  if (!id.qp) return 0;
  const attach::CmParameters& p = out.said.parameters;
  int error = to_rts(id, p.responder_resources, p.initiator_depth);
  if (!error) error = ask(CmCall::Confirm, id.handle);
  out.event = error ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_ESTABLISHED;
  out.status = -error;
  if (error) ask_with(CmCall::Refuse, id.handle, attach::CmParameters{});
  return 0;
}
int take_end(Id& id, Event&) {
  if (id.qp) to_error(id);
  return 0;
}
int take_place(Id& id, Event& out) { return take_route(id, out.said.route); }
int take_group(Id& id, Event& out) { return attach_group(id, out.said, out); }
int take_nothing(Id&, Event&) { return 0; }

struct EventRow {
  attach::CmEventType said;
  rdma_cm_event_type type;
  rdma_cm_event_type failed;  // if it cannot be done
  int (*take)(Id&, Event&);
};
using attach::CmEventType;
constexpr std::array kEvents{
    // clang-format off
    EventRow{CmEventType::AddressResolved, RDMA_CM_EVENT_ADDR_RESOLVED,    RDMA_CM_EVENT_ADDR_ERROR,      take_place},
    EventRow{CmEventType::RouteResolved,   RDMA_CM_EVENT_ROUTE_RESOLVED,   RDMA_CM_EVENT_ROUTE_ERROR,     take_place},
    EventRow{CmEventType::ConnectRequest,  RDMA_CM_EVENT_CONNECT_REQUEST,  RDMA_CM_EVENT_CONNECT_ERROR,   take_request},
    EventRow{CmEventType::ConnectResponse, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_CONNECT_ERROR,   take_response},
    EventRow{CmEventType::Unreachable,     RDMA_CM_EVENT_UNREACHABLE,      RDMA_CM_EVENT_UNREACHABLE,     take_nothing},
    EventRow{CmEventType::Rejected,        RDMA_CM_EVENT_REJECTED,         RDMA_CM_EVENT_REJECTED,        take_end},
    EventRow{CmEventType::Established,     RDMA_CM_EVENT_ESTABLISHED,      RDMA_CM_EVENT_CONNECT_ERROR,   take_nothing},
    EventRow{CmEventType::Disconnected,    RDMA_CM_EVENT_DISCONNECTED,     RDMA_CM_EVENT_DISCONNECTED,    take_nothing},
    EventRow{CmEventType::MulticastJoin,   RDMA_CM_EVENT_MULTICAST_JOIN,   RDMA_CM_EVENT_MULTICAST_ERROR, take_group},
    EventRow{CmEventType::TimewaitExit,    RDMA_CM_EVENT_TIMEWAIT_EXIT,    RDMA_CM_EVENT_TIMEWAIT_EXIT,   take_nothing},
    // clang-format on
};

// The peer's parameters of an event, stored in it for its lifetime.
void put_parameters(Event& out) {
  const attach::CmParameters& p = out.said.parameters;
  const void* const data = p.private_bytes ? out.said.parameters.private_data.data() : nullptr;
  if (is_datagram(out.id->ps)) {
    rdma_ud_param& ud = out.param.ud;
    ud.private_data = data;
    ud.private_data_len = p.private_bytes;
    if (out.said.type == CmEventType::MulticastJoin)
      ud.private_data = out.context;
    else
      ud.ah_attr = path_of(out.said.route);
    ud.qp_num = p.qpn;
    ud.qkey = p.qkey;
    return;
  }
  rdma_conn_param& conn = out.param.conn;
  conn.private_data = data;
  conn.private_data_len = p.private_bytes;
  conn.responder_resources = p.responder_resources;
  conn.initiator_depth = p.initiator_depth;
  conn.flow_control = p.flow_control;
  conn.retry_count = p.retry_count;
  conn.rnr_retry_count = p.rnr_retry_count;
  conn.srq = p.srq;
  conn.qp_num = p.qpn;
}

// False: its owner does not exist any more.
bool take(Event& out) {
  const auto row = std::ranges::find(kEvents, out.said.type, &EventRow::said);
  Id* const id = find_id(out.said.id);
  if (row == kEvents.end() || !id) return false;
  out.id = id;
  out.event = row->type;
  out.status = out.said.status;
  report(*id);
  if (const int error = row->take(*id, out)) {
    out.event = row->failed;
    out.status = -error;
  }
  put_parameters(out);
  return true;
}

// errno's values; -1: there was one, of an identifier that is gone.
int next(Channel& channel, Event& out) {
  u64 word;
  ++channel.waiting;
  const ssize_t got = read(channel.fd, &word, sizeof word);
  --channel.waiting;
  if (got < 0) return errno;
  if (got != sizeof word) return EIO;  // the server is gone
  attach::Request request;
  attach::Reply reply;
  if (const int error = ask(CmCall::TakeEvent, channel.handle, request, reply))
    return error == EAGAIN ? -1 : error;
  out.said = attach::get<attach::CmEvent>(reply.body);
  return take(out) ? 0 : -1;
}
}  // namespace

void await_acknowledged(Id& id) {
  pthread_mutex_lock(&g_counts);
  while (id.acknowledged != id.reported) pthread_cond_wait(&g_acknowledged, &g_counts);
  pthread_mutex_unlock(&g_counts);
}
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

HCA_CM int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (!event) return fail(EINVAL);
  auto out = std::make_unique<Event>();
  int error;
  while ((error = next(*static_cast<Channel*>(channel), *out)) < 0) out = std::make_unique<Event>();
  if (error) return error == EAGAIN ? fail_for_now() : fail(error);
  *event = out.release();
  return 0;
}
HCA_CM int rdma_ack_cm_event(rdma_cm_event* event) {
  if (!event) return fail(EINVAL);
  auto* const gone = static_cast<Event*>(event);
  Id& of = id_of(gone->listen_id ? gone->listen_id : gone->id);
  pthread_mutex_lock(&g_counts);
  ++of.acknowledged;
  pthread_cond_broadcast(&g_acknowledged);
  pthread_mutex_unlock(&g_counts);
  delete gone;
  return 0;
}

HCA_CM const char* rdma_event_str(rdma_cm_event_type event) {
  constexpr std::array<const char*, RDMA_CM_EVENT_TIMEWAIT_EXIT + 1> kNames{
      "RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
      "RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
      "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
      "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
      "RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
      "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
      "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
      "RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT"};
  return std::size_t(event) < kNames.size() ? kNames[event] : "UNKNOWN EVENT";
}
