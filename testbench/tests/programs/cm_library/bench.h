// SPDX-License-Identifier: Apache-2.0
// The common base of the rdma_cm test cases: a listener on hca0 and a client on hca1, in one
// program, and expectations.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace connections {
class Checks {
 public:
  void equal(const std::string& what, long long got, long long wanted) {
    if (got == wanted) return void(++passed_);
    std::printf("%s: %lld instead of %lld\n", what.c_str(), got, wanted);
    ++failed_;
  }
  void holds(const std::string& what, bool it_does) { equal(what, it_does, true); }
  // Expects a call to fail with this errno value.
  void fails(const std::string& what, int returned, int error) {
    const int told = errno;
    equal(what + " fails", returned, -1);
    equal(what + ": errno", told, error);
  }
  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  int passed_ = 0, failed_ = 0;
};
extern Checks checks;

constexpr const char *kServer = "10.0.0.1", *kClient = "10.0.0.2";

struct Address : sockaddr_in {
  Address(const char* ip, int port) : sockaddr_in{} {
    sin_family = AF_INET, sin_port = htons(std::uint16_t(port));
    inet_pton(AF_INET, ip, &sin_addr);
  }
  operator sockaddr*() { return reinterpret_cast<sockaddr*>(this); }
};

// The next event of a channel; it is acknowledged.
struct Seen {
  rdma_cm_event_type type{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  rdma_cm_id* listener = nullptr;
  rdma_conn_param conn{};
  rdma_ud_param ud{};
  std::vector<unsigned char> data;
};
Seen next(rdma_event_channel* channel);
// Expects the next event to have this type.
Seen expect(rdma_event_channel* channel, rdma_cm_event_type type, const char* what);

ibv_qp_init_attr queue_pair(ibv_qp_type type = IBV_QPT_RC);
std::vector<unsigned char> pattern(std::size_t bytes);

// A listener, and a client whose route is resolved.
class Bench {
 public:
  explicit Bench(rdma_port_space space = RDMA_PS_TCP, int backlog = 0);
  ~Bench();
  Bench(const Bench&) = delete;
  void resolve(rdma_cm_id* id, const char* ip = kServer);
  rdma_cm_id* new_client();
  rdma_conn_param parameters(const std::vector<unsigned char>& data = {}) const;
  // Both ends of a connection.
  void connect(rdma_cm_id* id, rdma_cm_id*& accepted);

  rdma_event_channel *server, *client;
  rdma_cm_id *listener = nullptr, *id = nullptr;
  int port = 0;
  rdma_port_space space;
};

void check_addresses();
void check_private_data();
void check_refusals();
void check_own_queue_pairs();
void check_events();
void check_options();
void check_endpoints();
void check_groups();
void check_datagrams();
void check_sockets();
}  // namespace connections
