// SPDX-License-Identifier: Apache-2.0
// rsocket(7).
#include <rdma/rsocket.h>

#include <thread>

#include "testbench/tests/programs/cm_library/bench.h"

namespace connections {
namespace {
constexpr int kPort = 18517;
constexpr std::size_t kBytes = 300'000;  // more than is on the way at a time

// Takes all, sends it back, and ends.
void echo(int listener) {
  Address from(kServer, 0);
  socklen_t room = sizeof(sockaddr_in);
  const int socket = raccept(listener, from, &room);
  checks.holds("raccept", socket >= 0);
  checks.equal("the client's address", from.sin_addr.s_addr, Address(kClient, 0).sin_addr.s_addr);
  std::vector<unsigned char> data(kBytes);
  checks.equal("MSG_PEEK", rrecv(socket, data.data(), 10, MSG_PEEK), 10);
  checks.equal("all of it", rrecv(socket, data.data(), kBytes, MSG_WAITALL), kBytes);
  checks.holds("as it was", data == pattern(kBytes));
  checks.equal("and the end", rread(socket, data.data(), 1), 0);
  checks.equal("rsend", rsend(socket, data.data(), kBytes, 0), kBytes);
  checks.equal("rclose", rclose(socket), 0);
}
}  // namespace

void check_sockets() {
  checks.fails("a socket of datagrams", rsocket(AF_INET, SOCK_DGRAM, 0), EOPNOTSUPP);
  checks.fails("a descriptor that is none", rlisten(9999, 1), EBADF);
  const int listener = rsocket(AF_INET, SOCK_STREAM, 0);
  Address server(kServer, kPort), client(kClient, 0);
  checks.equal("rbind", rbind(listener, server, sizeof(sockaddr_in)), 0);
  checks.equal("rlisten", rlisten(listener, 1), 0);
  checks.equal("rfcntl", rfcntl(listener, F_SETFL, O_NONBLOCK), 0);
  checks.fails("nobody comes", raccept(listener, nullptr, nullptr), EAGAIN);
  pollfd waits{listener, POLLIN, 0};
  checks.equal("nor in a millisecond", rpoll(&waits, 1, 1), 0);
  checks.equal("rfcntl", rfcntl(listener, F_SETFL, 0), 0);
  std::thread other([&] { echo(listener); });

  const int socket = rsocket(AF_INET, SOCK_STREAM, 0);
  int one = 1;
  checks.fails("before it is connected", rsend(socket, &one, 1, 0), ENOTCONN);
  checks.equal("rbind", rbind(socket, client, sizeof(sockaddr_in)), 0);
  checks.equal("rconnect", rconnect(socket, server, sizeof(sockaddr_in)), 0);
  checks.fails("twice", rconnect(socket, server, sizeof(sockaddr_in)), EISCONN);
  checks.equal("an option", rsetsockopt(socket, IPPROTO_TCP, 1, &one, sizeof one), 0);
  checks.fails("an unknown option", rsetsockopt(socket, IPPROTO_TCP, 999, &one, sizeof one),
               ENOPROTOOPT);
  checks.fails("nothing has come", rrecv(socket, &one, 1, MSG_DONTWAIT), EAGAIN);
  pollfd ready{socket, POLLIN | POLLOUT, 0};
  checks.equal("rpoll", rpoll(&ready, 1, 1000), 1);
  checks.equal("it can send", ready.revents, POLLOUT);
  const auto data = pattern(kBytes);
  checks.equal("rsend", rsend(socket, data.data(), kBytes, 0), kBytes);
  checks.equal("rshutdown", rshutdown(socket, SHUT_WR), 0);
  checks.fails("after it nothing is sent", rsend(socket, &one, 1, 0), EPIPE);
  ready.events = POLLIN;
  checks.equal("rpoll", rpoll(&ready, 1, -1), 1);
  std::vector<unsigned char> back(kBytes);
  checks.equal("all comes back", rrecv(socket, back.data(), kBytes, MSG_WAITALL), kBytes);
  checks.holds("as it was", back == data);
  checks.equal("and the end", rread(socket, back.data(), 1), 0);
  other.join();
  checks.equal("rclose", rclose(socket), 0);
  checks.equal("rclose", rclose(listener), 0);
  checks.fails("which is gone", rclose(socket), EBADF);
}
}  // namespace connections
