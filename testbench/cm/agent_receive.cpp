// SPDX-License-Identifier: Apache-2.0
// What comes to an agent.
#include <algorithm>
#include <array>
#include <utility>

#include "testbench/cm/agent.h"

namespace hca::cm {
namespace {
constexpr u8 kSidrNoListener = 1, kSidrNoQp = 3;  // statuses

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
  const bool sidr = is_sidr(mad);
  const u64 id = mad.get(sidr ? "RequestID" : "LocalCommunicationID");
  for (const auto& [local, c] : connections_)
    if (c->remote_ == id && c->peer_ == from && c->request_ && is_sidr(*c->request_) == sidr &&
        c->request_->get(sidr ? "RequestID" : "LocalCommunicationID") == id &&
        c->state_ != State::Ended)
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

void Agent::refuse_unknown(const Mad& mad, const Place& from, u16 reason) {
  const bool sidr = is_sidr(mad);
  Mad answer(sidr ? Message::SidrRep : Message::Rej);
  answer.set("TransactionID", mad.get("TransactionID"));
  if (sidr) {
    answer.set("RequestID", mad.get("RequestID")),
        answer.set("Status", reason == Listener::kNoResources ? kSidrNoQp : kSidrNoListener);
    answer.set("ServiceID", mad.get("ServiceID"));
  } else {
    answer.set("RemoteCommunicationID", mad.get("LocalCommunicationID"));
    answer.set("MessageRejected", 0), answer.set("Reason", reason);
  }
  ways_.send(answer, from);
}

// A request that is new.
void Agent::begin(const Mad& mad, const Place& from) {
  const Listener found = ways_.find_listener(mad, from);
  if (found.owner) return begin_with(*found.owner, mad, from);
  const u64 patience = found.reason == Listener::kInvalidService ? ways_.patience() : 0;
  if (patience)
    waiting_.push_back({mad, from, ways_.now() + patience});
  else
    refuse_unknown(mad, from, found.reason);
}
void Agent::begin_with(Owner& owner, const Mad& mad, const Place& from) {
  Connection& made = add(&owner, from);
  made.request_ = mad, made.transaction_ = mad.get("TransactionID");
  made.remote_ = u32(mad.get(is_sidr(mad) ? "RequestID" : "LocalCommunicationID"));
  if (!is_sidr(mad)) made.timeout_ = u8(mad.get("LocalCmResponseTimeout"));
  step(made, event_of(mad.message()), &mad);
}
void Agent::look_again() {
  const u64 now = ways_.now();
  for (const Waiting& each : std::exchange(waiting_, {})) {
    const Listener found = ways_.find_listener(each.mad, each.from);
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
    c->remote_ = u32(mad.get("LocalCommunicationID")), c->reply_ = mad;
  } else if (message == Message::Dreq) {
    c->transaction_ = mad.get("TransactionID");
  } else if (message == Message::Mra) {
    c->late_ = u8(mad.get("ServiceTimeout"));
  }
  step(*c, event_of(message), &mad);
  sweep();
}
}  // namespace hca::cm
