// SPDX-License-Identifier: Apache-2.0
#include "testbench/cm/agent.h"

#include <algorithm>
#include <utility>

namespace hca::cm {
namespace {
constexpr u64 kUnit = 4'096'000;  // ps: of a timeout of 0
constexpr u8 kMostTimeout = 31;
constexpr u8 kServiceTimeout = 24;  // said by an MRA

u64 period_of(u8 timeout) { return kUnit << std::min(timeout, kMostTimeout); }
Answered answered_in(State state) {
  if (is_in(state, in(RepReceived, RepMraSent))) return Answered::Rep;
  const States others = in(ReqSent, ReqMraReceived, RepSent, RepMraReceived);
  return is_in(state, others) ? Answered::Other : Answered::Req;
}
}  // namespace

Connection& Agent::add(Owner* owner, const Place& peer) {
  while (!next_id_ || connections_.contains(next_id_)) ++next_id_;
  auto made = std::make_unique<Connection>();
  made->owner_ = owner;
  made->peer_ = peer;
  made->local_ = next_id_++;
  made->timeout_ = settings_.response_timeout;
  return *(connections_[made->local_] = std::move(made));
}

// ---- Of a program
Connection& Agent::connect(Owner& owner, Mad request, const Place& peer) {
  Connection& made = add(&owner, peer);
  made.active_ = true;
  made.transaction_ = next_transaction_++;
  const bool resolves = is_sidr(request);
  request.set("TransactionID", made.transaction_);
  if (resolves) {
    request.set("RequestID", made.local_);
  } else {
    request.set("LocalCommunicationID", made.local_);
    request.set("RemoteCmResponseTimeout", settings_.response_timeout);
    request.set("LocalCmResponseTimeout", settings_.response_timeout);
    request.set("MaxCmRetries", settings_.retries);
  }
  made.request_ = request;
  step(made, resolves ? Event::Resolve : Event::Connect, nullptr, &request);
  return made;
}

void Agent::address(Mad& mad, const Connection& c) const {
  mad.set("TransactionID", c.transaction_);
  if (is_sidr(mad)) return mad.set("RequestID", c.remote_);
  mad.set("LocalCommunicationID", c.local_);
  mad.set("RemoteCommunicationID", c.remote_);
}

bool Agent::accept(Connection& c, Mad reply) {
  address(reply, c);
  if (!is_sidr(reply)) c.reply_ = reply;
  return step(c, Event::Accept, nullptr, &reply);
}

bool Agent::refuse(Connection& c, Mad reply) {
  address(reply, c);
  if (!is_sidr(reply)) reply.set("MessageRejected", u64(answered_in(c.state_)));
  return step(c, Event::Refuse, nullptr, &reply);
}

void Agent::leave(Connection& c) {
  c.owner_ = nullptr;
  step(c, Event::Leave);
}

// ---- Steps
bool Agent::step(Connection& c, Event event, const Mad* mad, const Mad* given) {
  const Row* const row = find_row(c.state_, event);
  if (!row) return false;
  send(c, row->send, given);
  if (row->next) {
    c.state_ = *row->next;
    if (event != Event::Mra) c.left_ = settings_.retries;
  }
  if (row->next || event == Event::Timeout) set_timer(c);
  if (row->tell != Tell::Nothing && c.owner_) c.owner_->told(c, row->tell, mad);
  sweeps_ |= c.state_ == State::Ended;
  return true;
}

void Agent::set_timer(Connection& c) {
  const u64 now = ways_.now();
  switch (wait_of(c.state_)) {
    case Wait::Nothing:
      c.due_ = kNever;
      break;
    case Wait::Answer:
      c.due_ = now + period_of(c.timeout_);
      break;
    case Wait::LateAnswer:
      c.due_ = now + period_of(c.late_) + period_of(c.timeout_);
      break;
    case Wait::Quiet:
      c.due_ = now + period_of(settings_.quiet);
      break;
  }
}

void Agent::send(Connection& c, Send what, const Mad* given) {
  switch (what) {
    case Send::Nothing:
      return;
    case Send::Given:
      c.sent_ = *given;
      break;
    case Send::Again:
      break;
    case Send::Mra: {
      Mad mra(Message::Mra);
      mra.set("MessageMRAed", u64(answered_in(c.state_)));
      mra.set("ServiceTimeout", kServiceTimeout);
      return send_simple(c, mra);
    }
    case Send::Rtu:
      return send_simple(c, Mad(Message::Rtu));
    case Send::Dreq: {
      c.transaction_ = next_transaction_++;
      Mad dreq(Message::Dreq);
      const std::optional<Mad>& peers = c.active_ ? c.reply_ : c.request_;
      if (peers) dreq.set("RemoteQPN/EECN", peers->get("LocalQPN"));
      return send_simple(c, dreq);
    }
    case Send::Drep:
      return send_simple(c, Mad(Message::Drep));
    case Send::RejTimeout:
      return send_rej(c, proto::RejectReason::Timeout);
    case Send::RejConsumer:
      return send_rej(c, proto::RejectReason::ConsumerReject);
  }
  ways_.send(*c.sent_, c.peer_);
}

void Agent::send_simple(Connection& c, Mad mad) {
  address(mad, c);
  c.sent_ = mad;
  ways_.send(mad, c.peer_);
}

void Agent::send_rej(Connection& c, proto::RejectReason reason) {
  const bool sidr = is_sidr(*c.request_);
  Mad mad(sidr ? Message::SidrRep : Message::Rej);
  if (sidr) {
    mad.set("Status", u64(proto::SidrStatus::RejectedByService));
    mad.set("ServiceID", c.request_->get("ServiceID"));
  } else {
    mad.set("MessageRejected", u64(answered_in(c.state_)));
    mad.set("Reason", u64(reason));
  }
  send_simple(c, mad);
}

// ---- Time
u64 Agent::due() const {
  u64 first = sweeps_ ? ways_.now() : kNever;
  for (const auto& [local, c] : connections_) first = std::min(first, c->due_);
  for (const Waiting& each : waiting_) first = std::min(first, each.due);
  return first;
}

void Agent::expire() {
  const u64 now = ways_.now();
  for (const auto& [local, c] : connections_) {
    if (c->due_ > now) continue;
    const bool answers = wait_of(c->state_) != Wait::Quiet;
    if (answers && c->left_) {
      --c->left_;
      step(*c, Event::Timeout);
    } else {
      step(*c, Event::Exhausted);
    }
  }
  look_again();
  sweep();
}

void Agent::sweep() {
  if (!sweeps_) return;
  sweeps_ = false;
  for (auto at = connections_.begin(); at != connections_.end();) {
    Connection& c = *at->second;
    if (c.state_ != State::Ended) {
      ++at;
      continue;
    }
    if (c.owner_) c.owner_->ended(c);
    at = connections_.erase(at);
  }
}
}  // namespace hca::cm
