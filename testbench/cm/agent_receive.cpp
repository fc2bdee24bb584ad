// SPDX-License-Identifier: Apache-2.0
// The receive side of an agent.
#include <algorithm>
#include <array>
#include <utility>

#include "testbench/cm/agent.h"

namespace hca::cm {
namespace {
// By which it knows the connection.
u64 id_in(const Mad& request) {
  return request.get(is_sidr(request) ? "RequestID" : "LocalCommunicationID");
}

struct EventRow {
  Message message;
  Event event;
};
constexpr std::array kEvents{
    EventRow{Message::Req, Event::Req},         EventRow{Message::Mra, Event::Mra},
    EventRow{Message::Rej, Event::Rej},         EventRow{Message::Rep, Event::Rep},
    EventRow{Message::Rtu, Event::Rtu},         EventRow{Message::Dreq, Event::Dreq},
    EventRow{Message::Drep, Event::Drep},       EventRow{Message::SidrReq, Event::SidrReq},
    EventRow{Message::SidrRep, Event::SidrRep},
};
Event event_of(Message message) {
  return std::ranges::find(kEvents, message, &EventRow::message)->event;
}
}  // namespace

Connection* Agent::of_request(const Mad& mad, const Place& from) {
  const u64 id = id_in(mad);
  for (const auto& [local, c] : connections_)
    if (!c->active_ && c->remote_ == id && c->peer_ == from &&
        is_sidr(*c->request_) == is_sidr(mad) && c->state_ != State::Ended)
      return c.get();
  return nullptr;
}

Connection* Agent::of_message(const Mad& mad, const Place& from) {
  const Message message = mad.message();
  const u32 ours =
      u32(mad.get(message == Message::SidrRep ? "RequestID" : "RemoteCommunicationID"));
  const auto found = connections_.find(ours);
  if (found == connections_.end()) {
    // A REJ of one that never heard the ID of this side.
    if (message != Message::Rej || ours) return nullptr;
    const u64 theirs = mad.get("LocalCommunicationID");
    for (const auto& [local, c] : connections_)
      if (c->remote_ == theirs && c->peer_ == from) return c.get();
    return nullptr;
  }
  Connection& c = *found->second;
  if (c.peer_ != from) return nullptr;
  if (message == Message::SidrRep) return &c;
  const u32 theirs = u32(mad.get("LocalCommunicationID"));
  const bool first =
      !c.remote_ && (message == Message::Rep || message == Message::Rej || message == Message::Mra);
  return first || c.remote_ == theirs || !theirs ? &c : nullptr;
}

void Agent::refuse_unknown(const Mad& mad, const Place& from, proto::RejectReason reason) {
  using proto::SidrStatus;
  const bool sidr = is_sidr(mad), full = reason == proto::RejectReason::NoResources;
  Mad answer(sidr ? Message::SidrRep : Message::Rej);
  answer.set("TransactionID", mad.get("TransactionID"));
  if (sidr) {
    answer.set("RequestID", id_in(mad));
    answer.set("ServiceID", mad.get("ServiceID"));
    answer.set("Status", u64(full ? SidrStatus::NoQp : SidrStatus::ServiceIdNotSupported));
  } else {
    answer.set("RemoteCommunicationID", id_in(mad));
    answer.set("MessageRejected", u64(Answered::Req));
    answer.set("Reason", u64(reason));
  }
  ways_.send(answer, from);
}

// A request that is new.
void Agent::begin(const Mad& mad, const Place& from) {
  const Listener found = ways_.find_listener(mad);
  if (found.owner) return begin_with(*found.owner, mad, from);
  const bool unknown = found.reason == proto::RejectReason::InvalidServiceId;
  if (const u64 patience = unknown ? ways_.patience() : 0)
    waiting_.push_back({mad, from, ways_.now() + patience});
  else
    refuse_unknown(mad, from, found.reason);
}
void Agent::begin_with(Owner& owner, const Mad& mad, const Place& from) {
  Connection& made = add(&owner, from);
  made.request_ = mad;
  made.transaction_ = mad.get("TransactionID");
  made.remote_ = u32(id_in(mad));
  if (!is_sidr(mad)) made.timeout_ = u8(mad.get("LocalCmResponseTimeout"));
  step(made, event_of(mad.message()), &mad);
}
void Agent::look_again() {
  const u64 now = ways_.now();
  for (const Waiting& each : std::exchange(waiting_, {})) {
    const Listener found = ways_.find_listener(each.mad);
    if (found.owner)
      begin_with(*found.owner, each.mad, each.from);
    else if (each.due <= now)
      refuse_unknown(each.mad, each.from, found.reason);
    else
      waiting_.push_back(each);
  }
}

void Agent::receive(const Mad& mad, const Place& from) {
  const Message message = mad.message();
  if (message == Message::Req || message == Message::SidrReq) {
    Connection* const known = of_request(mad, from);
    known ? void(step(*known, event_of(message), &mad)) : begin(mad, from);
    return sweep();
  }
  Connection* const c = of_message(mad, from);
  if (!c) {
    if (message != Message::Dreq) return;
    Mad drep(Message::Drep);  // of a connection that is long gone
    drep.set("LocalCommunicationID", mad.get("RemoteCommunicationID"));
    drep.set("RemoteCommunicationID", mad.get("LocalCommunicationID"));
    drep.set("TransactionID", mad.get("TransactionID"));
    return ways_.send(drep, from);
  }
  if (message == Message::Rep && !c->remote_) {
    c->remote_ = u32(mad.get("LocalCommunicationID"));
    c->reply_ = mad;
  } else if (message == Message::Dreq) {
    c->transaction_ = mad.get("TransactionID");
  } else if (message == Message::Mra) {
    c->late_ = u8(mad.get("ServiceTimeout"));
  }
  step(*c, event_of(message), &mad);
  sweep();
}
}  // namespace hca::cm
