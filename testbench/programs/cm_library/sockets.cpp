// SPDX-License-Identifier: Apache-2.0
// Sockets: made, connected, ended.
#include "testbench/programs/cm_library/sockets.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstring>

namespace hca::cm_library {
// The next event is this one. 0, or -1 with errno.
int Socket::await(rdma_cm_event_type type) {
  rdma_cm_event* event;
  if (rdma_get_cm_event(channel_, &event)) return -1;
  const rdma_cm_event_type came = event->event;
  rdma_ack_cm_event(event);
  if (came == type) return 0;
  const bool refused = came == RDMA_CM_EVENT_REJECTED;
  return fail(refused ? ECONNREFUSED : came == RDMA_CM_EVENT_UNREACHABLE ? ETIMEDOUT : ECONNRESET);
}

int Socket::bind(const sockaddr* address) {
  return rdma_bind_addr(id_, const_cast<sockaddr*>(address));
}
int Socket::listen(int backlog) {
  if (rdma_listen(id_, backlog)) return -1;
  state_ = State::Listens;
  return 0;
}

int Socket::connect(const sockaddr* address) {
  if (state_ != State::New) return fail(EISCONN);
  if (rdma_resolve_addr(id_, nullptr, const_cast<sockaddr*>(address), kResolveMs) ||
      await(RDMA_CM_EVENT_ADDR_RESOLVED) || rdma_resolve_route(id_, kResolveMs) ||
      await(RDMA_CM_EVENT_ROUTE_RESOLVED) || make_queues() || rdma_connect(id_, nullptr) ||
      await(RDMA_CM_EVENT_ESTABLISHED))
    return -1;
  state_ = State::Connected;
  return 0;
}

std::unique_ptr<Socket> Socket::accept() {
  if (state_ != State::Listens) {
    errno = EINVAL;
    return nullptr;
  }
  if (!blocks && !is_readable(channel_->fd)) {
    fail_for_now();
    return nullptr;
  }
  rdma_cm_event* event;
  if (rdma_get_cm_event(channel_, &event)) return nullptr;
  rdma_cm_id* const made = event->id;
  const bool asked = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
  rdma_ack_cm_event(event);
  if (!asked) {
    errno = ECONNABORTED;
    return nullptr;
  }
  rdma_event_channel* const channel = rdma_create_event_channel();
  if (!channel || rdma_migrate_id(made, channel)) {
    const int error = errno;
    rdma_destroy_id(made);
    if (channel) rdma_destroy_event_channel(channel);
    errno = error;
    return nullptr;
  }
  auto socket = std::make_unique<Socket>(domain_, channel, made);
  if (socket->make_queues() || rdma_accept(made, nullptr) ||
      socket->await(RDMA_CM_EVENT_ESTABLISHED))
    return nullptr;
  socket->state_ = State::Connected;
  return socket;
}

// All sent data has arrived when the socket has ended.
int Socket::shutdown(int how) {
  if (state_ == State::Ended) return 0;
  if (state_ != State::Connected) return fail(ENOTCONN);
  if (how != SHUT_RD && !sends_ended_) {
    post(nullptr, 0, kEnds);
    sends_ended_ = true;
    while (outstanding_ && !failed_ && state_ == State::Connected && wait()) continue;
  }
  if (how != SHUT_WR) peer_ended_ = true;
  return 0;
}
void Socket::close() {
  if (state_ == State::Connected) shutdown(SHUT_WR);
  if (state_ == State::Connected || state_ == State::Ended) rdma_disconnect(id_);
}
Socket::~Socket() {
  close();
  if (id_->qp) rdma_destroy_qp(id_);
  if (region_) ibv_dereg_mr(region_);
  if (queue_) ibv_destroy_cq(queue_);
  if (events_) ibv_destroy_comp_channel(events_);
  rdma_destroy_id(id_);
  rdma_destroy_event_channel(channel_);
}
}  // namespace hca::cm_library
