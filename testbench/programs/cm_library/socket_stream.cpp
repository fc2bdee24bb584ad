// SPDX-License-Identifier: Apache-2.0
// The stream of a socket.
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "testbench/programs/cm_library/sockets.h"

namespace hca::cm_library {
bool is_readable(int descriptor) {
  pollfd end{descriptor, POLLIN, 0};
  return ::poll(&end, 1, 0) == 1;
}

int Socket::make_queues() {
  constexpr int kLocalWrite = IBV_ACCESS_LOCAL_WRITE;
  constexpr u32 kWork = kSlots + kSpare;
  memory_.resize(std::size_t{2} * kWork * kSlotBytes);
  if (!(events_ = ibv_create_comp_channel(id_->verbs)) ||
      !(queue_ = ibv_create_cq(id_->verbs, int(2 * kWork), this, events_, 0)) ||
      !(region_ = ibv_reg_mr(id_->pd, memory_.data(), memory_.size(), kLocalWrite)))
    return -1;
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = queue_;
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = kWork;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  if (rdma_create_qp(id_, nullptr, &attributes)) return -1;
  for (u32 slot = 0; slot < kWork; ++slot) post_receive(slot);
  return 0;
}

void Socket::post_receive(u32 slot) {
  ibv_sge part{reinterpret_cast<u64>(memory_.data()) + u64{slot} * kSlotBytes, kSlotBytes,
               region_->lkey};
  ibv_recv_wr work{}, *bad;
  work.wr_id = slot;
  work.sg_list = &part;
  work.num_sge = 1;
  failed_ |= ibv_post_recv(id_->qp, &work, &bad) != 0;
}

// A message with bytes, or with only its immediate data.
int Socket::post(const void* data, u32 bytes, u32 flags) {
  const u32 slot = kSlots + kSpare + sent_ % (kSlots + kSpare);
  u8* const at = memory_.data() + std::size_t{slot} * kSlotBytes;
  if (bytes) std::memcpy(at, data, bytes);
  ibv_sge part{reinterpret_cast<u64>(at), bytes, region_->lkey};
  ibv_send_wr work{}, *bad;
  work.wr_id = slot;
  work.sg_list = &part;
  work.num_sge = bytes ? 1 : 0;
  work.opcode = IBV_WR_SEND_WITH_IMM;
  work.imm_data = htonl(std::exchange(returned_, 0) | flags);
  if (const int error = ibv_post_send(id_->qp, &work, &bad)) {
    failed_ = true;
    return fail(error);
  }
  ++sent_;
  ++outstanding_;
  if (bytes) --credits_;
  return 0;
}
void Socket::return_credits() {
  if (returned_ >= kSlots / 2 && outstanding_ < kSlots + kSpare && !failed_) post(nullptr, 0, 0);
}

void Socket::take(const ibv_wc& completion) {
  const bool sent = completion.wr_id >= kSlots + kSpare;
  ++completions_;
  outstanding_ -= sent;
  if (completion.status != IBV_WC_SUCCESS) return void(failed_ = true);
  if (sent) return;
  const u32 said = ntohl(completion.imm_data);
  credits_ += said & kCreditMask;
  peer_ended_ |= (said & kEnds) != 0;
  if (completion.byte_len)
    received_.push_back({u32(completion.wr_id), completion.byte_len});
  else
    post_receive(u32(completion.wr_id));
}
void Socket::poll_queue() {
  std::array<ibv_wc, 16> completions;
  for (int count;
       queue_ && (count = ibv_poll_cq(queue_, int(completions.size()), completions.data()));) {
    if (count < 0) return void(failed_ = true);
    for (const ibv_wc& each : std::span(completions).first(std::size_t(count))) take(each);
  }
}

// Now and then: it is a system call.
void Socket::look_at_connection() {
  constexpr u32 kSeldom = 64;
  if (++looks_ % kSeldom == 0) take_connection_events();
}
void Socket::take_connection_events() {
  while (state_ == State::Connected && is_readable(channel_->fd)) {
    rdma_cm_event* event;
    if (rdma_get_cm_event(channel_, &event)) return void(failed_ = true);
    if (event->event == RDMA_CM_EVENT_DISCONNECTED) state_ = State::Ended;
    rdma_ack_cm_event(event);
  }
  if (state_ == State::Ended) {
    poll_queue();
    peer_ended_ = sends_ended_ = true;
  }
}
void Socket::take_events() {
  if (events_ && is_readable(events_->fd)) {
    ibv_cq* queue;
    void* context;
    if (ibv_get_cq_event(events_, &queue, &context))
      failed_ = true;
    else
      ibv_ack_cq_events(queue, 1);
  }
  take_connection_events();
  poll_queue();
}
std::array<pollfd, 2> Socket::arm() {
  if (queue_) failed_ |= ibv_req_notify_cq(queue_, 0) != 0;
  return {pollfd{events_ ? events_->fd : -1, POLLIN, 0}, pollfd{channel_->fd, POLLIN, 0}};
}
bool Socket::wait() {
  const u32 before = completions_;
  std::array<pollfd, 2> ends = arm();
  poll_queue();
  if (before != completions_ || failed_) return true;
  if (::poll(ends.data(), ends.size(), -1) < 0) return false;
  take_events();
  return true;
}

ssize_t Socket::send(const void* data, std::size_t bytes, int flags) {
  const auto* at = static_cast<const u8*>(data);
  std::size_t left = bytes;
  if (state_ == State::New || state_ == State::Listens) return fail(ENOTCONN);
  while (left) {
    poll_queue();
    look_at_connection();
    if (sends_ended_) return fail(EPIPE);
    if (failed_) return fail(ECONNRESET);
    if (!may_send()) {
      if (!blocks || (flags & MSG_DONTWAIT))
        return left < bytes ? ssize_t(bytes - left) : fail(EAGAIN);
      if (!wait()) return -1;
      continue;
    }
    const u32 some = u32(std::min<std::size_t>(left, kSlotBytes));
    if (post(at, some, 0)) return -1;
    at += some;
    left -= some;
  }
  return ssize_t(bytes);
}

ssize_t Socket::receive(void* data, std::size_t bytes, int flags) {
  auto* at = static_cast<u8*>(data);
  if (state_ == State::New || state_ == State::Listens) return fail(ENOTCONN);
  std::size_t got = 0;
  while (got < bytes) {
    poll_queue();
    if (first_ == received_.size()) {
      look_at_connection();
      if (first_ != received_.size()) continue;
      const bool all = (flags & MSG_WAITALL) && !(flags & MSG_PEEK);
      if (peer_ended_ || (got && !all)) break;
      if (failed_) return fail(ECONNRESET);
      if (!blocks || (flags & MSG_DONTWAIT)) return got ? ssize_t(got) : fail(EAGAIN);
      if (!wait()) return -1;
      continue;
    }
    const Received& one = received_[first_];
    const std::size_t some = std::min<std::size_t>(bytes - got, one.bytes - taken_);
    std::memcpy(at + got, memory_.data() + std::size_t{one.slot} * kSlotBytes + taken_, some);
    got += some;
    if (flags & MSG_PEEK) break;  // of the first message
    taken_ += some;
    if (taken_ < one.bytes) continue;
    post_receive(one.slot);
    ++returned_;
    ++first_;
    taken_ = 0;
    if (first_ == received_.size()) {
      received_.clear();
      first_ = 0;
    }
    return_credits();
  }
  return ssize_t(got);
}

short Socket::ready(short events) {
  if (state_ == State::Listens)
    return is_readable(channel_->fd) ? short(events & POLLIN) : short(0);
  if (state_ == State::New) return POLLHUP;
  poll_queue();
  look_at_connection();
  short is = 0;
  if (first_ != received_.size() || peer_ended_) is |= POLLIN;
  if (may_send()) is |= POLLOUT;
  is &= events;
  if (failed_) is |= POLLERR;
  if (peer_ended_ && sends_ended_) is |= POLLHUP;
  return is;
}
}  // namespace hca::cm_library
