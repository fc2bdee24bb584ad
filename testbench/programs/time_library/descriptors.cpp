// SPDX-License-Identifier: Apache-2.0
// Calls that wait for a file descriptor, and those for which others may wait.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "testbench/programs/time_library/library.h"

// NOLINTBEGIN(bugprone-reserved-identifier): names of the C library
extern "C" {
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace hca::time_library {
namespace {
constexpr u64 kNanosecond = 1000, kMillisecond = 1'000'000'000, kSecond = 1000 * kMillisecond;

// Until the descriptor is ready, if the call would wait for that.
// False: a signal has interrupted it.
bool await_one(int descriptor, short events, int flags = 0) {
  if (!is_open() || (flags & MSG_DONTWAIT)) return true;
  const int error = errno;
  const int status = fcntl(descriptor, F_GETFL);
  pollfd one{descriptor, events, 0};
  if (status >= 0 && !(status & O_NONBLOCK))
    while (await(&one, 1, attach::kForEver) < 0 && errno == EINTR)
      if (!calls_go_on()) return false;
  errno = error;
  return true;
}

int domain_of(int socket) {
  int domain = AF_UNSPEC;
  socklen_t bytes = sizeof domain;
  return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) ? AF_UNSPEC : domain;
}
bool is_of_server(int socket) {
  sockaddr_un peer{};
  socklen_t bytes = sizeof peer;
  const char* const server = std::getenv(attach::kSocketVariable);
  return server && !getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &bytes) &&
         bytes > offsetof(sockaddr_un, sun_path) &&
         std::string_view(server) ==
             std::string_view(peer.sun_path, strnlen(peer.sun_path, sizeof peer.sun_path));
}
// Which threads may wait for its output; descriptors to the server do not count.
u32 told_by(int descriptor) {
  struct stat is {};
  if (fstat(descriptor, &is)) return 0;
  if (S_ISFIFO(is.st_mode) || !(is.st_mode & S_IFMT))
    return attach::kPipe;  // eventfd() has no type
  if (!S_ISSOCK(is.st_mode)) return 0;
  if (domain_of(descriptor) == AF_UNIX) return is_of_server(descriptor) ? 0 : attach::kPipe;
  return attach::kNetwork;
}
void tell_of(int descriptor) {
  if (!is_open()) return;
  const int error = errno;
  if (const u32 whom = told_by(descriptor)) tell(whom);
  errno = error;
}

// A call that may change what others wait for.
template <class Call>
auto telling(int descriptor, Call call) {
  tell_of(descriptor);
  return call();
}
template <class Call>
auto waiting(int descriptor, int flags, Call call) {
  return await_one(descriptor, POLLIN, flags) ? call() : decltype(call())(-1);
}

bool is_valid(const timespec* duration) {
  return !duration || (duration->tv_sec >= 0 && is_time(*duration));
}
// The signal mask during a waiting call.
class Mask {
 public:
  explicit Mask(const sigset_t* wanted) : set_(wanted ? without_faults(*wanted) : sigset_t{}) {
    if (wanted) at_ = &set_;
  }
  Mask(const Mask&) = delete;
  operator const sigset_t*() const { return at_; }

 private:
  sigset_t set_;
  const sigset_t* at_ = nullptr;
};

// select() by poll().
struct Sets {
  fd_set *in, *out, *except;
};
std::vector<pollfd> descriptors_of(int count, const Sets& sets) {
  std::vector<pollfd> all;
  for (int i = 0; i < count; ++i) {
    short events = 0;
    if (sets.in && FD_ISSET(i, sets.in)) events |= POLLIN;
    if (sets.out && FD_ISSET(i, sets.out)) events |= POLLOUT;
    if (sets.except && FD_ISSET(i, sets.except)) events |= POLLPRI;
    if (events) all.push_back({i, events, 0});
  }
  return all;
}
int await_sets(int count, const Sets& sets, u64 end, const sigset_t* mask = nullptr) {
  std::vector<pollfd> all = descriptors_of(count, sets);
  return await(all.data(), all.size(), end, mask);
}
int take_events(int fd, epoll_event* events, int room, u64 end, const sigset_t* mask) {
  pollfd one{fd, POLLIN, 0};
  if (await(&one, 1, end, mask) < 0) return -1;
  return HCA_NEXT(epoll_wait)(fd, events, room, 0);
}
}  // namespace

u64 end_after(const timespec* duration) {
  if (!duration) return attach::kForEver;
  return end_of(u64(duration->tv_sec) * kSecond + u64(duration->tv_nsec) * kNanosecond);
}
bool is_network(int descriptor) {
  const int error = errno, domain = domain_of(descriptor);
  errno = error;
  return domain == AF_INET || domain == AF_INET6;
}
}  // namespace hca::time_library

using namespace hca;
using namespace hca::time_library;

// ---- They wait.
HCA_INSTEAD ssize_t read(int fd, void* to, size_t bytes) {
  return waiting(fd, 0, [&] { return HCA_NEXT(read)(fd, to, bytes); });
}
HCA_INSTEAD ssize_t __read_chk(int fd, void* to, size_t bytes, size_t room) {
  return waiting(fd, 0, [&] { return HCA_NEXT(__read_chk)(fd, to, bytes, room); });
}
HCA_INSTEAD ssize_t readv(int fd, const iovec* parts, int count) {
  return waiting(fd, 0, [&] { return HCA_NEXT(readv)(fd, parts, count); });
}
HCA_INSTEAD ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  return waiting(fd, flags, [&] { return HCA_NEXT(recv)(fd, to, bytes, flags); });
}
HCA_INSTEAD ssize_t __recv_chk(int fd, void* to, size_t bytes, size_t room, int flags) {
  return waiting(fd, flags, [&] { return HCA_NEXT(__recv_chk)(fd, to, bytes, room, flags); });
}
HCA_INSTEAD ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* from,
                             socklen_t* size) {
  return waiting(fd, flags, [&] { return HCA_NEXT(recvfrom)(fd, to, bytes, flags, from, size); });
}
HCA_INSTEAD ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t room, int flags,
                                   sockaddr* from, socklen_t* size) {
  return waiting(fd, flags,
                 [&] { return HCA_NEXT(__recvfrom_chk)(fd, to, bytes, room, flags, from, size); });
}
HCA_INSTEAD ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return waiting(fd, flags, [&] { return HCA_NEXT(recvmsg)(fd, message, flags); });
}
HCA_INSTEAD int accept(int fd, sockaddr* from, socklen_t* size) {
  return waiting(fd, 0, [&] { return HCA_NEXT(accept)(fd, from, size); });
}
HCA_INSTEAD int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  return waiting(fd, 0, [&] { return HCA_NEXT(accept4)(fd, from, size, flags); });
}

HCA_INSTEAD int poll(pollfd* all, nfds_t count, int milliseconds) {
  if (!is_open() || !milliseconds) return HCA_NEXT(poll)(all, count, milliseconds);
  return await(all, count,
               milliseconds < 0 ? attach::kForEver : end_of(u64(milliseconds) * kMillisecond));
}
HCA_INSTEAD int __poll_chk(pollfd* all, nfds_t count, int milliseconds, size_t) {
  return poll(all, count, milliseconds);
}
HCA_INSTEAD int ppoll(pollfd* all, nfds_t count, const timespec* longest, const sigset_t* mask) {
  if (!is_open() || !is_valid(longest)) return HCA_NEXT(ppoll)(all, count, longest, mask);
  return await(all, count, end_after(longest), Mask(mask));
}
HCA_INSTEAD int __ppoll_chk(pollfd* all, nfds_t count, const timespec* longest,
                            const sigset_t* mask, size_t) {
  return ppoll(all, count, longest, mask);
}
HCA_INSTEAD int select(int count, fd_set* in, fd_set* out, fd_set* except, timeval* longest) {
  if (!is_open()) return HCA_NEXT(select)(count, in, out, except, longest);
  const u64 end = longest
                      ? end_of(u64(longest->tv_sec) * kSecond + u64(longest->tv_usec) * 1'000'000)
                      : attach::kForEver;
  if (await_sets(count, {in, out, except}, end) < 0) return -1;
  timeval none{};
  return HCA_NEXT(select)(count, in, out, except, &none);
}
HCA_INSTEAD int pselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* longest,
                        const sigset_t* mask) {
  if (!is_open() || !is_valid(longest))
    return HCA_NEXT(pselect)(count, in, out, except, longest, mask);
  if (await_sets(count, {in, out, except}, end_after(longest), Mask(mask)) < 0) return -1;
  constexpr timespec kNone{};
  return HCA_NEXT(pselect)(count, in, out, except, &kNone, nullptr);
}
HCA_INSTEAD int epoll_wait(int fd, epoll_event* events, int room, int milliseconds) {
  if (!is_open() || !milliseconds) return HCA_NEXT(epoll_wait)(fd, events, room, milliseconds);
  pollfd one{fd, POLLIN, 0};
  if (poll(&one, 1, milliseconds) < 0) return -1;
  return HCA_NEXT(epoll_wait)(fd, events, room, 0);
}
HCA_INSTEAD int epoll_pwait(int fd, epoll_event* events, int room, int milliseconds,
                            const sigset_t* mask) {
  if (!is_open()) return HCA_NEXT(epoll_pwait)(fd, events, room, milliseconds, mask);
  const u64 end = milliseconds < 0 ? attach::kForEver : end_of(u64(milliseconds) * kMillisecond);
  return take_events(fd, events, room, end, Mask(mask));
}
HCA_INSTEAD int epoll_pwait2(int fd, epoll_event* events, int room, const timespec* longest,
                             const sigset_t* mask) {
  if (!is_open() || !is_valid(longest))
    return HCA_NEXT(epoll_pwait2)(fd, events, room, longest, mask);
  return take_events(fd, events, room, end_after(longest), Mask(mask));
}

// ---- Others may wait for them.
HCA_INSTEAD ssize_t write(int fd, const void* from, size_t bytes) {
  return telling(fd, [&] { return HCA_NEXT(write)(fd, from, bytes); });
}
HCA_INSTEAD ssize_t writev(int fd, const iovec* parts, int count) {
  return telling(fd, [&] { return HCA_NEXT(writev)(fd, parts, count); });
}
HCA_INSTEAD ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  return telling(fd, [&] { return HCA_NEXT(send)(fd, from, bytes, flags); });
}
HCA_INSTEAD ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* to,
                           socklen_t size) {
  return telling(fd, [&] { return HCA_NEXT(sendto)(fd, from, bytes, flags, to, size); });
}
HCA_INSTEAD ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return telling(fd, [&] { return HCA_NEXT(sendmsg)(fd, message, flags); });
}
HCA_INSTEAD int connect(int fd, const sockaddr* to, socklen_t size) {
  return telling(fd, [&] { return HCA_NEXT(connect)(fd, to, size); });
}
HCA_INSTEAD int shutdown(int fd, int how) noexcept {
  return telling(fd, [&] { return HCA_NEXT(shutdown)(fd, how); });
}
HCA_INSTEAD int close(int fd) {
  if (is_open()) forget_timer(fd);
  return telling(fd, [&] { return HCA_NEXT(close)(fd); });
}
