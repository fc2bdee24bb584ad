// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/packet_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace hca::attach {
namespace {
// Room for the descriptors of one message.
struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> bytes{};
};

bool address_of(const std::string& path, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return false;
  }
  path.copy(address.sun_path, path.size());
  return true;
}
Descriptor make_socket() { return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

void take_descriptors(msghdr& header, std::vector<Descriptor>* descriptors) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      Descriptor taken(fd);  // closed if nobody wants it
      if (descriptors) descriptors->push_back(std::move(taken));
    }
  }
}
}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool send_packet(int socket, std::span<const u8> bytes, std::span<const int> descriptors) {
  iovec part{const_cast<u8*>(bytes.data()), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control;
  if (!descriptors.empty()) {
    header.msg_control = control.bytes.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent;
  do sent = sendmsg(socket, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == ssize_t(bytes.size());
}

bool receive_packet(int socket, std::span<u8> bytes, std::vector<Descriptor>* descriptors) {
  iovec part{bytes.data(), bytes.size()};
  Control control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes.data();
  header.msg_controllen = control.bytes.size();
  ssize_t received;
  do received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return false;
  take_descriptors(header, descriptors);
  if (received == ssize_t(bytes.size()) && !(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
    return true;
  errno = received ? EPROTO : ECONNRESET;
  return false;
}

Descriptor connect_to(const std::string& path) {
  sockaddr_un address;
  if (!address_of(path, address)) return Descriptor();
  Descriptor made = make_socket();
  if (made && connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address)) {
    const int error = errno;
    made.close();
    errno = error;
  }
  return made;
}

std::string no_server(const std::string& path, int error) {
  return "no simulation serves the socket '" + path + "': " + std::strerror(error);
}

Descriptor listen_at(const std::string& path) {
  sockaddr_un address;
  const auto refuse = [&](const std::string& why) {
    throw std::runtime_error("--socket: '" + path + "': " + why);
  };
  if (!address_of(path, address)) refuse("a name of 1 to 107 bytes is allowed");
  if (connect_to(path)) refuse("another simulation serves it");
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) refuse("is a file, and no socket");
    unlink(path.c_str());  // left by a server that was killed
  }
  Descriptor made = make_socket();
  if (!made || bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ||
      listen(made.get(), SOMAXCONN))
    refuse(std::strerror(errno));
  return made;
}
}  // namespace hca::attach
