// SPDX-License-Identifier: Apache-2.0
// The common base of the verbs test cases: two ends, each with its own opened device, and
// expectations. Only the public verbs header is used.
#pragma once
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cases {
// Prints each failed expectation.
class Checks {
 public:
  void equal(const std::string& what, long long got, long long wanted);
  void holds(const std::string& what, bool it_does) { equal(what, it_does, true); }
  int passed() const { return passed_; }
  int failed() const { return failed_; }

 private:
  int passed_ = 0, failed_ = 0;
};

constexpr int kDepth = 16;              // of the queues; a CQ has twice as many entries
constexpr std::uint32_t kBytes = 8192;  // of the buffer of an end
constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

// A device, a domain, a CQ and a registered buffer.
class End {
 public:
  explicit End(ibv_device* device);
  ~End();
  End(const End&) = delete;
  ibv_context* context;
  ibv_pd* pd;
  ibv_cq* cq;
  // Aligned, so that it has the same number of pages in each run, which decides the cost of its
  // registration.
  alignas(4096) std::array<unsigned char, kBytes> buffer{};
  ibv_mr* mr;
  ibv_port_attr port{};
  ibv_device_attr device{};
  ibv_gid gid{};
  // Without releasing anything, like a program that ends.
  void close();

  ibv_qp_init_attr wanted_qp(ibv_qp_type type) const;
  ibv_qp* make_qp(ibv_qp_type type, ibv_srq* srq = nullptr);
  // The next completion, with a time limit; status -1: none came.
  ibv_wc next_completion();
  bool has_completion_left();
  // The type of the next asynchronous event, -1: none came; it is acknowledged.
  int next_event();
  ibv_sge sge(std::uint32_t offset, std::uint32_t bytes) const;
};

// The path attributes of a queue pair for RTS.
struct Path {
  ibv_qp_attr init{}, rtr{}, rts{};
  int init_mask = 0, rtr_mask = 0, rts_mask = 0;
};
Path path_to(ibv_qp_type type, const End& from, const End& to, std::uint32_t qpn);
ibv_ah_attr address_of(const End& to);
// Connects both directions. Returns the first error.
int connect(ibv_qp* one, const End& its, ibv_qp* other, const End& others);
int to_init(ibv_qp* qp, const End& its);
ibv_qp_state state_of(ibv_qp* qp);

// Two independent ends: hca0 and the last HCA.
struct Bench {
  Bench();
  ~Bench();
  ibv_device** list;
  End a, b;
  Checks* checks = nullptr;
};

// Two queue pairs, connected.
struct Pair {
  Pair(Bench& bench, ibv_qp_type type);
  ~Pair();
  ibv_qp *a, *b;
};

ibv_send_wr work(ibv_wr_opcode opcode, ibv_sge* sge, std::uint64_t id = 1);
void set_remote(ibv_send_wr& wr, const End& at, std::uint32_t offset = 0);
int post(ibv_qp* qp, ibv_send_wr& wr);
int post_receive(ibv_qp* qp, ibv_sge sge, std::uint64_t id = 1);

// A call and its errno value; 0: success.
struct CallRow {
  const char* what;
  int wanted;
  int (*call)(Bench&);
};
// For a function that returns a pointer; a returned object is destroyed again.
template <class Object>
int error_of(Object* made, int (*destroy)(Object*)) {
  if (!made) return errno;
  destroy(made);
  return 0;
}
template <std::size_t kRows>
void walk(Bench& bench, const std::array<CallRow, kRows>& rows) {
  for (const CallRow& row : rows) bench.checks->equal(row.what, row.call(bench), row.wanted);
}

// ---- The groups of cases
void check_names(Bench& bench);
void check_arguments(Bench& bench);
void check_objects(Bench& bench);
void check_children(Bench& bench);
void check_states(Bench& bench);
void check_posting(Bench& bench);
void check_completions(Bench& bench);
void check_events(Bench& bench);
void check_closing(Bench& bench);
void check_cancelling(Bench& bench);
void check_memory(Bench& bench);
void check_unmapped(Bench& bench);
void check_resizing(Bench& bench);
void check_extended(Bench& bench);
void check_datagrams(Bench& bench);
void check_multicast(Bench& bench);
void check_windows(Bench& bench);
void check_shared(Bench& bench);
void check_unread(Bench& bench);
void check_between(Bench& bench);
void check_handlers(Bench& bench);
void check_table(Bench& bench);
// Only on request: it takes seconds; the simulation is killed meanwhile; cables break; there is a
// second port; it loses packets.
void check_limits(Bench& bench);
void check_lost(Bench& bench);
void check_spinning(Bench& bench);
void check_ports(Bench& bench);
void check_second(Bench& bench);
void check_migration(Bench& bench);
// With hca.transport.xrc.
void check_xrc(Bench& bench);
void check_xrc_traffic(Bench& bench);
void check_xrc_shared(Bench& bench);
}  // namespace cases
