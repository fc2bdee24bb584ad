// SPDX-License-Identifier: Apache-2.0
// Sockets over connections: a stream of bytes in each direction, in messages for posted receives.
// The immediate data of each message give the number of receives that the sender has freed for the
// peer.
#pragma once
#include <poll.h>

#include <array>
#include <memory>
#include <mutex>

#include "testbench/programs/cm_library/library.h"

namespace hca::cm_library {
bool is_readable(int descriptor);  // now

class Socket {
 public:
  Socket(int domain, rdma_event_channel* channel, rdma_cm_id* id)
      : domain_(domain), channel_(channel), id_(id) {}
  ~Socket();
  Socket(const Socket&) = delete;
  int descriptor() const { return channel_->fd; }
  rdma_cm_id* id() const { return id_; }
  int domain() const { return domain_; }
  bool blocks = true;
  std::mutex mutex;

  // ---- 0, or -1 with errno, like the functions of these names (sockets.cpp)
  int bind(const sockaddr* address);
  int listen(int backlog);
  int connect(const sockaddr* address);
  std::unique_ptr<Socket> accept();  // nullptr: see errno
  int shutdown(int how);
  void close();

  // ---- The stream (socket_stream.cpp). Return values are those of the functions of these names.
  ssize_t send(const void* data, std::size_t bytes, int flags);
  ssize_t receive(void* data, std::size_t bytes, int flags);

  // ---- For rpoll()
  short ready(short events);
  // The descriptors to wait for: the next completion, and events of the connection. They may be
  // ready already.
  std::array<pollfd, 2> arm();
  void take_events();  // unless another thread has taken them

 private:
  enum class State : u8 { New, Listens, Connected, Ended };
  static constexpr u32 kSlots = 32, kSpare = 8, kSlotBytes = 16 << 10;
  static constexpr u32 kCreditMask = 0xffff, kEnds = 1u << 31;  // of immediate data

  int await(rdma_cm_event_type type);
  int make_queues();
  void post_receive(u32 slot);
  int post(const void* data, u32 bytes, u32 flags);
  void poll_queue();
  void take(const ibv_wc& completion);
  void take_connection_events();
  void look_at_connection();
  // Waits for an event. False: see errno.
  bool wait();
  void return_credits();
  bool may_send() const { return credits_ && outstanding_ < kSlots && !sends_ended_; }

  const int domain_;
  rdma_event_channel* const channel_;
  rdma_cm_id* id_;
  State state_ = State::New;
  ibv_comp_channel* events_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_mr* region_ = nullptr;
  std::vector<u8> memory_;  // slots of receives, then of sends
  u32 credits_ = kSlots;    // data messages for which the peer has receives
  u32 outstanding_ = 0, sent_ = 0;
  u32 looks_ = 0, completions_ = 0;
  u32 returned_ = 0;  // freed receives that the peer does not know of
  struct Received {
    u32 slot, bytes;
  };
  std::vector<Received> received_;
  std::size_t first_ = 0, taken_ = 0;  // index in `received_`; bytes used of the first message
  bool peer_ended_ = false, sends_ended_ = false, failed_ = false;
};
}  // namespace hca::cm_library
