// SPDX-License-Identifier: Apache-2.0
// Programs of hca_verbs_clocks: `devices` are used in turns, threads wake each other by `pipes`,
// wait for `events` together, poll `queues` of their own.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "testbench/tests/programs/time_library/clocks.h"

namespace cases {
namespace {
constexpr int kThreads = 4;

// A queue pair with a CQ and a channel of its own, connected to one of the other end.
struct Flow {
  // `shared`: the channel of several.
  Flow(End& its, End& others, ibv_comp_channel* shared = nullptr) : from(its), to(others) {
    own = shared ? nullptr : ibv_create_comp_channel(from.context);
    channel = shared ? shared : own;
    cq = channel ? ibv_create_cq(from.context, 16, nullptr, channel, 0) : nullptr;
    ibv_qp_init_attr wanted = from.wanted_qp(IBV_QPT_RC);
    wanted.send_cq = wanted.recv_cq = cq;
    qp = cq ? ibv_create_qp(from.pd, &wanted) : nullptr;
    peer = to.make_qp(IBV_QPT_RC);
    if (!qp || connect(qp, from, peer, to)) std::exit(3);
  }
  ~Flow() {
    ibv_destroy_qp(qp), ibv_destroy_qp(peer);
    ibv_destroy_cq(cq);
    if (own) ibv_destroy_comp_channel(own);
  }
  Flow(const Flow&) = delete;

  bool post_write() const {
    ibv_sge data = from.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, to);
    return !post(qp, wr);
  }
  bool take_completion() const {
    ibv_wc wc{};
    while (!ibv_poll_cq(cq, 1, &wc)) continue;
    return wc.status == IBV_WC_SUCCESS;
  }
  bool write() const { return post_write() && take_completion(); }
  // Asleep until its event.
  bool write_and_sleep() const {
    return post_with_event() && next_event(channel) == cq && take_completion();
  }
  bool post_with_event() const { return !ibv_req_notify_cq(cq, 0) && post_write(); }
  static ibv_cq* next_event(ibv_comp_channel* of) {
    ibv_cq* cq = nullptr;
    void* its_own = nullptr;
    if (ibv_get_cq_event(of, &cq, &its_own)) return nullptr;
    ibv_ack_cq_events(cq, 1);
    return cq;
  }

  End &from, &to;
  ibv_comp_channel *own, *channel;
  ibv_cq* cq;
  ibv_qp *qp, *peer;
};

// The shortest of a few, in ns.
template <class Call>
double shortest(Bench& bench, Call call) {
  double least = 1;
  for (int i = 0; i < kTimes; ++i) {
    const double begun = now();
    bench.checks->holds("a WRITE", call());
    least = std::min(least, now() - begun);
  }
  return least * 1e9;
}
}  // namespace

// The first device that a program opens is none of its own kind.
void use_both_devices(Bench& bench) {
  const Flow first(bench.a, bench.b), second(bench.b, bench.a);
  const auto compare = [&](const char* what, bool (Flow::*call)() const) {
    const double one = shortest(bench, [&] { return (first.*call)(); });
    const double other = shortest(bench, [&] { return (second.*call)(); });
    std::printf("%s: %.0f ns, %.0f ns\n", what, one, other);
    constexpr double kCycles = 10;  // ns: of the HCAs' clock
    bench.checks->holds(what, other > one - kCycles && other < one + kCycles);
  };
  compare("polled", &Flow::write);
  compare("asleep", &Flow::write_and_sleep);
}

// ---- Round and round, each with a WRITE of its own.
namespace {
struct Way {
  int out, in;
};
Way event_counter() {
  const int made = eventfd(0, EFD_SEMAPHORE);
  return {made, made};
}
Way pipe_way() {
  std::array<int, 2> ends{-1, -1};
  if (pipe(ends.data())) std::perror("pipe");
  return {ends[1], ends[0]};
}
Way socket_pair() {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data())) std::perror("socketpair");
  return {ends[1], ends[0]};
}
Way connection() {
  const int listening = socket(AF_INET, SOCK_STREAM, 0), made = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  const bool good = !bind(listening, any, bytes) && !listen(listening, 1) &&
                    !getsockname(listening, any, &bytes) && !connect(made, any, bytes);
  const Way way{made, good ? accept(listening, nullptr, nullptr) : -1};
  close(listening);
  return way;
}
}  // namespace

void wake_by_pipes(Bench& bench) {
  const std::array<Way, kThreads> ways{event_counter(), pipe_way(), socket_pair(), connection()};
  const std::uint64_t one = 1;
  const auto tell = [&](std::size_t which) {
    return ::write(ways[which].out, &one, sizeof one) == sizeof one;
  };
  std::vector<std::unique_ptr<Flow>> flows;
  for (int i = 0; i < kThreads; ++i)
    flows.push_back(std::make_unique<Flow>(i % 2 ? bench.b : bench.a, i % 2 ? bench.a : bench.b));
  std::array<double, kThreads> left{};
  std::array<int, kThreads> good{};
  std::atomic<int> playing = kThreads;
  const double begun = now();
  std::vector<std::thread> threads;
  for (std::size_t mine = 0; mine < kThreads; ++mine)
    threads.emplace_back([&, mine] {
      std::uint64_t word;
      for (int i = 0; i < kTimes; ++i)
        good[mine] += read(ways[mine].in, &word, sizeof word) == sizeof word &&
                      flows[mine]->write() && tell((mine + 1) % kThreads);
      left[mine] = now() - begun;
      --playing;
    });
  // Two go round at once, and time goes on meanwhile.
  bench.checks->holds("they begin", tell(0) && tell(2));
  const Flow own(bench.a, bench.b);
  while (playing) bench.checks->holds("a WRITE", own.write());
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::printf("%.9f s\n", left[i]);
    bench.checks->equal("rounds", good[i], kTimes);
    close(ways[i].in);
    if (ways[i].out != ways[i].in) close(ways[i].out);
  }
}

// ---- Each polls a queue of its own, and has no turns for what comes for others.
namespace {
long switches() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw + used.ru_nivcsw;
}
// One that has polled its queue for long, when that gets another ring.
void resize_beside_polls(Bench& bench, const Flow& flow) {
  std::atomic<bool> completed = false;
  double seen = 0;
  std::thread polls([&] {
    completed = flow.take_completion();
    seen = now();
  });
  usleep(500'000);
  bench.checks->equal("ibv_resize_cq", ibv_resize_cq(flow.cq, 64), 0);
  const double posted = now();
  bench.checks->holds("it is posted", flow.post_write());
  polls.join();
  bench.checks->holds("it completes, and is seen at once", completed && seen < posted + 3e-6);
  std::printf("%.0f ns\n", (seen - posted) * 1e9);
}
}  // namespace

void poll_own_queues(Bench& bench) {
  constexpr int kWrites = 500;
  std::vector<std::unique_ptr<Flow>> flows;
  for (int i = 0; i < kThreads; ++i) flows.push_back(std::make_unique<Flow>(bench.a, bench.b));
  std::array<int, kThreads> good{};
  const long before = switches();
  const double begun = now();
  std::vector<std::thread> threads;
  for (std::size_t mine = 0; mine < kThreads; ++mine)
    threads.emplace_back([&, mine] {
      const timespec apart{0, long(mine) * 250};  // of WRITEs that take 1150 ns
      nanosleep(&apart, nullptr);
      for (int i = 0; i < kWrites; ++i) good[mine] += flows[mine]->write();
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("%.9f s\n", now() - begun);
  bench.checks->equal("WRITEs", std::accumulate(good.begin(), good.end(), 0), kThreads * kWrites);
  // On one processor a turn is a switch to the thread and one back.
  bench.checks->holds("a turn for each", switches() - before < kThreads * kWrites * 3 / 2);
  resize_beside_polls(bench, *flows[0]);
}

// ---- Each has its own channel, or all have one.
namespace {
void wait_at_own_channels(Bench& bench) {
  std::vector<std::unique_ptr<Flow>> flows;
  for (int i = 0; i < kThreads; ++i)
    flows.push_back(std::make_unique<Flow>(i % 2 ? bench.b : bench.a, i % 2 ? bench.a : bench.b));
  std::array<double, kThreads> left{};
  std::array<int, kThreads> good{};
  const double begun = now();
  std::vector<std::thread> threads;
  for (std::size_t mine = 0; mine < kThreads; ++mine)
    threads.emplace_back([&, mine] {
      for (int i = 0; i < kTimes; ++i) good[mine] += flows[mine]->write_and_sleep();
      left[mine] = now() - begun;
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < kThreads; ++i) {
    std::printf("%.9f s\n", left[i]);
    bench.checks->equal("WRITEs", good[i], kTimes);
  }
}

// Whoever finds an event goes on with its queue pair.
void wait_at_one_channel(Bench& bench) {
  constexpr int kMilliseconds = 10, kFlows = 3;
  ibv_comp_channel* const channel = ibv_create_comp_channel(bench.a.context);
  fcntl(channel->fd, F_SETFL, O_NONBLOCK);
  {
    std::vector<std::unique_ptr<Flow>> flows;
    for (int i = 0; i < kFlows; ++i)
      flows.push_back(std::make_unique<Flow>(bench.a, bench.b, channel));
    std::array<int, kThreads> taken{};
    std::array<double, kThreads> last{};
    std::atomic<int> left = kTimes;
    const double begun = now();
    std::vector<std::thread> threads;
    for (std::size_t mine = 0; mine < kThreads; ++mine)
      threads.emplace_back([&, mine] {
        for (pollfd ready{channel->fd, POLLIN, 0}; poll(&ready, 1, kMilliseconds) == 1;) {
          const ibv_cq* const cq = Flow::next_event(channel);
          const auto flow = std::ranges::find(flows, cq, [](const auto& one) { return one->cq; });
          if (flow == flows.end()) continue;  // another has taken it
          taken[mine] += (*flow)->take_completion();
          last[mine] = now() - begun;
          if (--left >= kFlows) (*flow)->post_with_event();
        }
      });
    for (const auto& flow : flows) bench.checks->holds("it begins", flow->post_with_event());
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < kThreads; ++i)
      std::printf("%d events, the last at %.9f s\n", taken[i], last[i]);
    bench.checks->equal("events", std::accumulate(taken.begin(), taken.end(), 0), kTimes);
  }
  ibv_destroy_comp_channel(channel);
}
}  // namespace

void wait_for_events_together(Bench& bench) {
  wait_at_own_channels(bench);
  wait_at_one_channel(bench);
}
}  // namespace cases
