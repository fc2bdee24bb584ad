// SPDX-License-Identifier: Apache-2.0
// The functions of rsocket.h.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>

#include "testbench/programs/cm_library/sockets.h"

namespace hca::cm_library {
namespace {
std::mutex g_mutex;
std::map<int, std::shared_ptr<Socket>>& sockets() {
  static auto& all = *new std::map<int, std::shared_ptr<Socket>>;
  return all;
}
std::shared_ptr<Socket> held(int descriptor) {
  const std::lock_guard guard(g_mutex);
  const auto found = sockets().find(descriptor);
  if (found != sockets().end()) return found->second;
  errno = EBADF;
  return nullptr;
}
int keep(std::shared_ptr<Socket> socket) {
  const std::lock_guard guard(g_mutex);
  const int descriptor = socket->descriptor();
  sockets()[descriptor] = std::move(socket);
  return descriptor;
}
// With the socket to itself.
template <class Call>
auto with(int descriptor, Call call) -> decltype(call(std::declval<Socket&>())) {
  const std::shared_ptr<Socket> socket = held(descriptor);
  if (!socket) return -1;
  const std::lock_guard guard(socket->mutex);
  return call(*socket);
}

// A stream socket's address, cut to the room there is.
int put_name(const sockaddr* from, sockaddr* to, socklen_t* room) {
  const socklen_t bytes = from->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(to, from, std::min(*room, bytes));
  *room = bytes;
  return 0;
}

u64 nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return u64(now.tv_sec) * 1'000'000'000 + u64(now.tv_nsec);
}

// Options that are taken and have no effect: buffers have their sizes, nothing is held back.
struct OptionRow {
  int level, name;
};
constexpr std::array kWithoutEffect{
    OptionRow{SOL_SOCKET, SO_REUSEADDR}, OptionRow{SOL_SOCKET, SO_RCVBUF},
    OptionRow{SOL_SOCKET, SO_SNDBUF},    OptionRow{SOL_SOCKET, SO_KEEPALIVE},
    OptionRow{SOL_SOCKET, SO_LINGER},    OptionRow{IPPROTO_TCP, TCP_NODELAY},
    OptionRow{SOL_RDMA, RDMA_SQSIZE},    OptionRow{SOL_RDMA, RDMA_RQSIZE},
    OptionRow{SOL_RDMA, RDMA_INLINE}};

int poll_once(pollfd* all, nfds_t count) {
  int ready = 0;
  for (pollfd& each : std::span(all, count)) {
    if (const auto socket = held(each.fd)) {
      const std::lock_guard guard(socket->mutex);
      each.revents = socket->ready(each.events);
    } else {
      each.revents = 0;
      poll(&each, 1, 0);
    }
    ready += each.revents != 0;
  }
  return ready;
}
// Waits until one may be ready, or this many ms (-1: unlimited). False: see errno.
bool wait_for_any(pollfd* all, nfds_t count, int milliseconds) {
  std::vector<pollfd> ends;
  std::vector<std::shared_ptr<Socket>> armed;
  bool waits = true;
  for (const pollfd& each : std::span(all, count)) {
    const auto socket = held(each.fd);
    if (!socket) {
      ends.push_back({each.fd, each.events, 0});
      continue;
    }
    const std::lock_guard guard(socket->mutex);
    const auto own = socket->arm();
    waits &= !socket->ready(each.events);
    ends.insert(ends.end(), own.begin(), own.end());
    armed.push_back(socket);
  }
  if (!waits) return true;
  if (poll(ends.data(), ends.size(), milliseconds) < 0) return false;
  for (const auto& socket : armed) {
    const std::lock_guard guard(socket->mutex);
    socket->take_events();
  }
  return true;
}
}  // namespace
}  // namespace hca::cm_library

using namespace hca;
using namespace hca::cm_library;

HCA_CM int rsocket(int domain, int type, int) {
  if (domain != AF_INET && domain != AF_INET6) return fail(EAFNOSUPPORT);
  if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM)
    return refuse("rsocket", "only sockets of streams are supported");
  rdma_event_channel* const channel = rdma_create_event_channel();
  rdma_cm_id* id = nullptr;
  if (!channel) return -1;
  if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP)) {
    const int error = errno;
    rdma_destroy_event_channel(channel);
    return fail(error);
  }
  auto made = std::make_shared<Socket>(domain, channel, id);
  made->blocks = !(type & SOCK_NONBLOCK);
  return keep(std::move(made));
}
HCA_CM int rbind(int fd, const sockaddr* address, socklen_t) {
  return with(fd, [&](Socket& socket) { return socket.bind(address); });
}
HCA_CM int rlisten(int fd, int backlog) {
  return with(fd, [&](Socket& socket) { return socket.listen(backlog); });
}
HCA_CM int rconnect(int fd, const sockaddr* address, socklen_t) {
  return with(fd, [&](Socket& socket) { return socket.connect(address); });
}
HCA_CM int raccept(int fd, sockaddr* from, socklen_t* room) {
  return with(fd, [&](Socket& socket) {
    std::shared_ptr<Socket> made = socket.accept();
    if (!made) return -1;
    if (from) put_name(rdma_get_peer_addr(made->id()), from, room);
    return keep(std::move(made));
  });
}
HCA_CM int rshutdown(int fd, int how) {
  return with(fd, [&](Socket& socket) { return socket.shutdown(how); });
}
HCA_CM int rclose(int fd) {
  const std::shared_ptr<Socket> socket = held(fd);
  if (!socket) return -1;
  {
    const std::lock_guard guard(socket->mutex);
    socket->close();
  }
  const std::lock_guard guard(g_mutex);
  sockets().erase(fd);
  return 0;
}

// ---- The stream
HCA_CM ssize_t rsend(int fd, const void* data, size_t bytes, int flags) {
  return with(fd, [&](Socket& socket) { return socket.send(data, bytes, flags); });
}
HCA_CM ssize_t rrecv(int fd, void* data, size_t bytes, int flags) {
  return with(fd, [&](Socket& socket) { return socket.receive(data, bytes, flags); });
}
HCA_CM ssize_t rwrite(int fd, const void* data, size_t bytes) { return rsend(fd, data, bytes, 0); }
HCA_CM ssize_t rread(int fd, void* data, size_t bytes) { return rrecv(fd, data, bytes, 0); }
HCA_CM ssize_t rsendto(int fd, const void* data, size_t bytes, int flags, const sockaddr* to,
                       socklen_t) {
  return to ? fail(EISCONN) : rsend(fd, data, bytes, flags);
}
HCA_CM ssize_t rrecvfrom(int fd, void* data, size_t bytes, int flags, sockaddr* from,
                         socklen_t* room) {
  const ssize_t got = rrecv(fd, data, bytes, flags);
  if (got >= 0 && from) rgetpeername(fd, from, room);
  return got;
}
namespace {
// Part by part, until one is not done in full.
template <class Move>
ssize_t move_all(const iovec* parts, std::size_t count, Move move) {
  ssize_t done = 0;
  for (const iovec& part : std::span(parts, count)) {
    const ssize_t some = move(part);
    if (some < 0) return done ? done : some;
    done += some;
    if (std::size_t(some) < part.iov_len) break;
  }
  return done;
}
}  // namespace
HCA_CM ssize_t rwritev(int fd, const iovec* parts, int count) {
  return move_all(parts, std::size_t(count),
                  [&](const iovec& part) { return rsend(fd, part.iov_base, part.iov_len, 0); });
}
HCA_CM ssize_t rreadv(int fd, const iovec* parts, int count) {
  return move_all(parts, std::size_t(count),
                  [&](const iovec& part) { return rrecv(fd, part.iov_base, part.iov_len, 0); });
}
HCA_CM ssize_t rsendmsg(int fd, const msghdr* message, int flags) {
  return move_all(message->msg_iov, message->msg_iovlen,
                  [&](const iovec& part) { return rsend(fd, part.iov_base, part.iov_len, flags); });
}
HCA_CM ssize_t rrecvmsg(int fd, msghdr* message, int flags) {
  return move_all(message->msg_iov, message->msg_iovlen,
                  [&](const iovec& part) { return rrecv(fd, part.iov_base, part.iov_len, flags); });
}

// ---- Waiting
HCA_CM int rpoll(pollfd* all, nfds_t count, int milliseconds) {
  constexpr u64 kMillisecond = 1'000'000;
  const u64 end = milliseconds > 0 ? nanoseconds() + u64(milliseconds) * kMillisecond : 0;
  while (true) {
    const int ready = poll_once(all, count);
    if (!ready && !milliseconds) sched_yield();
    if (ready || !milliseconds) return ready;
    const u64 now = end ? nanoseconds() : 0;
    if (end && now >= end) return 0;
    const int left = end ? int((end - now + kMillisecond - 1) / kMillisecond) : -1;
    if (!wait_for_any(all, count, left)) return -1;
  }
}
HCA_CM int rselect(int count, fd_set* in, fd_set* out, fd_set* except, timeval* longest) {
  std::vector<pollfd> all;
  for (int fd = 0; fd < count; ++fd) {
    const short events =
        short((in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0));
    if (events || (except && FD_ISSET(fd, except))) all.push_back({fd, events, 0});
  }
  const int milliseconds =
      longest ? int(longest->tv_sec * 1000 + (longest->tv_usec + 999) / 1000) : -1;
  const int ready = rpoll(all.data(), all.size(), milliseconds);
  if (ready < 0) return ready;
  for (fd_set* set : {in, out, except})
    if (set) FD_ZERO(set);
  int marks = 0;
  for (const pollfd& each : all) {
    if (in && (each.revents & (POLLIN | POLLHUP))) {
      FD_SET(each.fd, in);
      ++marks;
    }
    if (out && (each.revents & POLLOUT)) {
      FD_SET(each.fd, out);
      ++marks;
    }
    if (except && (each.revents & POLLERR)) {
      FD_SET(each.fd, except);
      ++marks;
    }
  }
  return marks;
}

// ---- What it is
HCA_CM int rgetsockname(int fd, sockaddr* to, socklen_t* room) {
  return with(fd,
              [&](Socket& socket) { return put_name(rdma_get_local_addr(socket.id()), to, room); });
}
HCA_CM int rgetpeername(int fd, sockaddr* to, socklen_t* room) {
  return with(fd,
              [&](Socket& socket) { return put_name(rdma_get_peer_addr(socket.id()), to, room); });
}
HCA_CM int rsetsockopt(int fd, int level, int name, const void*, socklen_t) {
  return with(fd, [&](Socket&) {
    const bool known = std::ranges::any_of(kWithoutEffect, [&](const OptionRow& row) {
      return row.level == level && row.name == name;
    });
    return known ? 0 : fail(ENOPROTOOPT);
  });
}
HCA_CM int rgetsockopt(int fd, int level, int name, void* value, socklen_t* bytes) {
  return with(fd, [&](Socket&) {
    if (level != SOL_SOCKET || name != SO_ERROR || *bytes < sizeof(int)) return fail(ENOPROTOOPT);
    *static_cast<int*>(value) = 0;
    *bytes = sizeof(int);
    return 0;
  });
}
HCA_CM int rfcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int value = va_arg(arguments, int);
  va_end(arguments);
  return with(fd, [&](Socket& socket) {
    if (command == F_GETFL) return socket.blocks ? 0 : O_NONBLOCK;
    if (command != F_SETFL) return fail(EINVAL);
    socket.blocks = !(value & O_NONBLOCK);
    return 0;
  });
}
