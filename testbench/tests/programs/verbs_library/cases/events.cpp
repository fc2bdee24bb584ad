// SPDX-License-Identifier: Apache-2.0
// ibv_get_async_event(3), ibv_get_cq_event(3): which events there are, and that an object is not
// destroyed while one of its events is not acknowledged.
#include <fcntl.h>
#include <poll.h>
#include <time.h>

#include <atomic>
#include <thread>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
void wait_a_moment() {
  const timespec moment{0, 20'000'000};
  nanosleep(&moment, nullptr);
}

// The call does not come back before `acknowledge` is called.
template <class Call, class Acknowledge>
void expect_waits(Bench& bench, const std::string& what, Call call, Acknowledge acknowledge) {
  std::atomic<bool> done = false;
  int error = -1;
  std::thread other([&] {
    error = call();
    done = true;
  });
  wait_a_moment();
  bench.checks->holds(what + " waits", !done);
  acknowledge();
  other.join();
  bench.checks->equal(what, error, 0);
}

// An event of a queue pair, not acknowledged. False: none comes.
bool provoke(Bench& bench, ibv_qp* from, ibv_async_event& event) {
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  wr.wr.rdma.rkey ^= 0x55;
  post(from, wr);
  bench.a.next_completion();
  wait_a_moment();
  return !ibv_get_async_event(bench.b.context, &event);
}

void check_queue_pair(Bench& bench) {
  Pair pair(bench, IBV_QPT_RC);
  ibv_async_event event{};
  Checks& checks = *bench.checks;
  checks.equal("without an event", ibv_get_async_event(bench.b.context, &event), -1);
  checks.equal("errno", errno, EAGAIN);
  checks.holds("an event comes", provoke(bench, pair.a, event));
  checks.equal("its type", event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  checks.holds("its queue pair", event.element.qp == pair.b);
  expect_waits(
      bench, "ibv_destroy_qp() of an event that was got", [&] { return ibv_destroy_qp(pair.b); },
      [&] { ibv_ack_async_event(&event); });
  pair.b = nullptr;
}

bool is_readable(int fd, int milliseconds = 0) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, milliseconds) == 1;
}

// The event of a queue pair that is gone comes to nobody.
void check_late(Bench& bench) {
  Pair pair(bench, IBV_QPT_RC);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, bench.b);
  wr.wr.rdma.rkey ^= 0x55;
  post(pair.a, wr);
  bench.a.next_completion();
  wait_a_moment();
  bench.checks->holds("an event is there", is_readable(bench.b.context->async_fd));
  bench.checks->equal("a queue pair whose event nobody got", ibv_destroy_qp(pair.b), 0);
  pair.b = nullptr;
  bench.checks->holds("its event is not", !is_readable(bench.b.context->async_fd));
  ibv_async_event event;
  bench.checks->equal("its event", ibv_get_async_event(bench.b.context, &event), -1);
}

void check_drained(Bench& bench) {
  const Pair pair(bench, IBV_QPT_RC);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_SQD, to.en_sqd_async_notify = 1;
  bench.checks->equal("to SQD",
                      ibv_modify_qp(pair.a, &to, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
  bench.checks->equal("a send queue is drained", bench.a.next_event(), IBV_EVENT_SQ_DRAINED);
}

void check_srq(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_srq_init_attr wanted{};
  wanted.attr = {kDepth, 1, 2};  // the limit is not looked at
  ibv_srq* const srq = ibv_create_srq(bench.b.pd, &wanted);
  ibv_srq_attr is{};
  checks.equal("an SRQ", ibv_query_srq(srq, &is), 0);
  checks.equal("is made without a limit", is.srq_limit, 0);
  ibv_qp* const a = bench.a.make_qp(IBV_QPT_RC);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC, srq);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  ibv_sge into = bench.b.sge(0, 64);
  ibv_recv_wr receive{}, *bad = nullptr;
  receive.sg_list = &into, receive.num_sge = 1;
  checks.equal("two receives", ibv_post_srq_recv(srq, &receive, &bad), 0);
  checks.equal("of an SRQ", ibv_post_srq_recv(srq, &receive, &bad), 0);
  checks.equal("ibv_post_recv() of its queue pair", post_receive(b, into), EINVAL);
  ibv_srq_attr limit{0, 0, 2};
  checks.equal("its limit", ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
  ibv_query_srq(srq, &is);
  checks.equal("is set", is.srq_limit, 2);
  ibv_sge data = bench.a.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  post(a, wr);
  checks.equal("fewer than the limit", bench.b.next_event(), IBV_EVENT_SRQ_LIMIT_REACHED);
  ibv_query_srq(srq, &is);
  checks.equal("the limit is off", is.srq_limit, 0);
  // There is one left. A limit is reached when one is taken, and not when it is set.
  checks.equal("a limit above what there is", ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
  wait_a_moment();
  ibv_async_event none{};
  checks.equal("is none yet", ibv_get_async_event(bench.b.context, &none), -1);
  post(a, wr);
  checks.equal("the next is below it", bench.b.next_event(), IBV_EVENT_SRQ_LIMIT_REACHED);
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(b, &to, IBV_QP_STATE);
  checks.equal("its queue pair takes no more", bench.b.next_event(), IBV_EVENT_QP_LAST_WQE_REACHED);
  checks.equal("destroyed", ibv_destroy_qp(a) | ibv_destroy_qp(b) | ibv_destroy_srq(srq), 0);
}

// More completions than the CQ has room for.
void check_overrun(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_cq* const small = ibv_create_cq(bench.a.context, 1, nullptr, nullptr, 0);
  ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
  wanted.send_cq = small;
  ibv_qp* const qp = ibv_create_qp(bench.a.pd, &wanted);
  to_init(qp, bench.a);
  ibv_qp* const peer = bench.b.make_qp(IBV_QPT_RC);
  ibv_qp_attr reset{};
  ibv_modify_qp(qp, &reset, IBV_QP_STATE);
  checks.equal("they are connected", connect(qp, bench.a, peer, bench.b), 0);
  ibv_sge data = bench.a.sge(0, 8);
  for (int i = 0; i < kDepth; ++i) {
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, bench.b);
    post(qp, wr);
  }
  checks.equal("a CQ is overrun", bench.a.next_event(), IBV_EVENT_CQ_ERR);
  checks.equal("its queue pair", bench.a.next_event(), IBV_EVENT_QP_FATAL);
  checks.equal("destroyed", ibv_destroy_qp(qp) | ibv_destroy_qp(peer) | ibv_destroy_cq(small), 0);
}

// Of either device of a program that has opened both; it goes on after the event.
void check_channel(Bench& bench, End& near, End& far) {
  Checks& checks = *bench.checks;
  ibv_comp_channel* const channel = ibv_create_comp_channel(near.context);
  int mine = 0;
  ibv_cq* const cq = ibv_create_cq(near.context, kDepth, &mine, channel, 0);
  ibv_qp_init_attr wanted = near.wanted_qp(IBV_QPT_RC);
  wanted.send_cq = cq;
  ibv_qp* const qp = ibv_create_qp(near.pd, &wanted);
  ibv_qp* const peer = far.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(qp, near, peer, far), 0);
  checks.equal("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0), 0);
  ibv_sge data = near.sge(0, 8);
  ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
  set_remote(wr, far);
  post(qp, wr);
  ibv_cq* told = nullptr;
  void* context = nullptr;
  checks.equal("ibv_get_cq_event", ibv_get_cq_event(channel, &told, &context), 0);
  checks.holds("its CQ and context", told == cq && context == &mine);
  post(qp, wr);
  wait_a_moment();
  ibv_wc wc[2];
  checks.equal("the completions are there", ibv_poll_cq(cq, 2, wc), 2);
  ibv_destroy_qp(qp);
  expect_waits(
      bench, "ibv_destroy_cq() of an event that was got", [&] { return ibv_destroy_cq(cq); },
      [&] { ibv_ack_cq_events(cq, 1); });
  checks.equal("the channel", ibv_destroy_comp_channel(channel), 0);
  ibv_destroy_qp(peer);
}

// ibv_req_notify_cq(3): which completions an event is for.
class Notified {
 public:
  explicit Notified(Bench& bench)
      : bench_(bench), channel_(ibv_create_comp_channel(bench.b.context)) {
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
    cq = ibv_create_cq(bench.b.context, kDepth, nullptr, channel_, 0);
    ibv_qp_init_attr wanted = bench.b.wanted_qp(IBV_QPT_RC);
    wanted.recv_cq = cq;
    to_ = ibv_create_qp(bench.b.pd, &wanted), from_ = bench.a.make_qp(IBV_QPT_RC);
    bench.checks->equal("they are connected", connect(from_, bench.a, to_, bench.b), 0);
    for (int i = 0; i < kDepth; ++i) post_receive(to_, bench.b.sge(0, 64));
  }
  ~Notified() {
    bench_.checks->equal("destroyed",
                         ibv_destroy_qp(from_) | ibv_destroy_qp(to_) | ibv_destroy_cq(cq) |
                             ibv_destroy_comp_channel(channel_),
                         0);
  }
  void send(unsigned flags) {
    ibv_sge data = bench_.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    wr.send_flags |= flags;
    post(from_, wr);
    bench_.checks->equal("a SEND", bench_.a.next_completion().status, IBV_WC_SUCCESS);
    wait_a_moment();
  }
  int events() {
    ibv_cq* told;
    void* context;
    int count = 0;
    while (!ibv_get_cq_event(channel_, &told, &context)) ++count;
    bench_.checks->equal("no event is left", errno, EAGAIN);
    ibv_ack_cq_events(cq, unsigned(count));
    return count;
  }
  int completions() {
    ibv_wc wc;
    int count = 0;
    while (ibv_poll_cq(cq, 1, &wc) == 1) ++count;
    return count;
  }
  ibv_cq* cq = nullptr;

 private:
  Bench& bench_;
  ibv_comp_channel* channel_;
  ibv_qp *from_ = nullptr, *to_ = nullptr;
};

// Events of a CQ that is gone do not stand in the channel, those of another do.
void check_gone(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_comp_channel* const channel = ibv_create_comp_channel(bench.a.context);
  std::array<ibv_cq*, 2> cqs;
  std::array<ibv_qp*, 4> qps;
  for (std::size_t i = 0; i < cqs.size(); ++i) {
    cqs[i] = ibv_create_cq(bench.a.context, kDepth, nullptr, channel, 0);
    ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
    wanted.send_cq = cqs[i];
    qps[i] = ibv_create_qp(bench.a.pd, &wanted), qps[2 + i] = bench.b.make_qp(IBV_QPT_RC);
    checks.equal("they are connected", connect(qps[i], bench.a, qps[2 + i], bench.b), 0);
    ibv_req_notify_cq(cqs[i], 0);
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, bench.b);
    post(qps[i], wr);
    wait_a_moment();
  }
  for (ibv_qp* qp : qps) ibv_destroy_qp(qp);
  checks.equal("a CQ whose event nobody got", ibv_destroy_cq(cqs[1]), 0);
  checks.holds("the other's event", is_readable(channel->fd));
  ibv_cq* told = nullptr;
  void* context;
  checks.equal("is got", ibv_get_cq_event(channel, &told, &context), 0);
  checks.holds("and its own", told == cqs[0]);
  checks.holds("there is no other", !is_readable(channel->fd));
  ibv_ack_cq_events(cqs[0], 1);
  checks.equal("destroyed", ibv_destroy_cq(cqs[0]) | ibv_destroy_comp_channel(channel), 0);
}

// Writes to a peer; the completions have a CQ with a channel.
class Writer {
 public:
  explicit Writer(Bench& bench) : channel(ibv_create_comp_channel(bench.a.context)), bench_(bench) {
    cq = ibv_create_cq(bench.a.context, kDepth, nullptr, channel, 0);
    ibv_qp_init_attr wanted = bench.a.wanted_qp(IBV_QPT_RC);
    wanted.send_cq = cq;
    from_ = ibv_create_qp(bench.a.pd, &wanted), to_ = bench.b.make_qp(IBV_QPT_RC);
    bench.checks->equal("they are connected", connect(from_, bench.a, to_, bench.b), 0);
  }
  ~Writer() {
    bench_.checks->equal("destroyed",
                         ibv_destroy_qp(from_) | ibv_destroy_qp(to_) | ibv_destroy_cq(cq) |
                             ibv_destroy_comp_channel(channel),
                         0);
  }
  Writer(const Writer&) = delete;
  void write() {
    ibv_sge data = bench_.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data);
    set_remote(wr, bench_.b);
    post(from_, wr);
  }
  ibv_comp_channel* const channel;
  ibv_cq* cq;

 private:
  Bench& bench_;
  ibv_qp *from_, *to_;
};

// None is lost of a program that reads them late.
void check_many(Bench& bench) {
  constexpr int kMany = 1500;
  Writer writer(bench);
  for (int i = 0; i < kMany; ++i) {
    ibv_req_notify_cq(writer.cq, 0);
    writer.write();
    ibv_wc wc;
    while (!ibv_poll_cq(writer.cq, 1, &wc)) continue;
  }
  wait_a_moment();
  int got = 0;
  ibv_cq* told;
  void* context;
  while (is_readable(writer.channel->fd, 500) && !ibv_get_cq_event(writer.channel, &told, &context))
    ++got;
  bench.checks->equal("events that nobody has read for long", got, kMany);
  ibv_ack_cq_events(writer.cq, unsigned(got));
}

void check_notified(Bench& bench) {
  Checks& checks = *bench.checks;
  Notified end(bench);
  end.send(0);
  checks.equal("without a request", end.events(), 0);
  checks.equal("a completion", end.completions(), 1);
  ibv_req_notify_cq(end.cq, 0);
  end.send(0), end.send(0);
  checks.equal("of two completions the first", end.events(), 1);
  // It will poll, and does not want to hear of the same completions again.
  ibv_req_notify_cq(end.cq, 0);
  checks.equal("the completions", end.completions(), 2);
  wait_a_moment();
  checks.equal("no new one", end.events(), 0);
  end.send(0);
  checks.equal("a new one", end.events(), 1);
  checks.equal("a completion", end.completions(), 1);
  ibv_req_notify_cq(end.cq, 1);
  end.send(0);
  checks.equal("one that is not solicited", end.events(), 0);
  end.send(IBV_SEND_SOLICITED);
  checks.equal("a solicited one", end.events(), 1);
  end.send(IBV_SEND_SOLICITED);
  checks.equal("only the first", end.events(), 0);
  checks.equal("completions", end.completions(), 3);
}

// ibv_modify_cq(3): an event for two completions, or 100 us after one.
void check_moderation(Bench& bench) {
  Checks& checks = *bench.checks;
  Writer writer(bench);
  ibv_comp_channel* const channel = writer.channel;
  ibv_cq* const cq = writer.cq;
  fcntl(channel->fd, F_SETFL, O_NONBLOCK);
  const auto events_of_one = [&](ibv_moderate_cq moderate) {
    ibv_modify_cq_attr change{IBV_CQ_ATTR_MODERATE, moderate};
    // The other way round an event may be due of a completion that the HCA does not know as taken.
    checks.equal("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0), 0);
    checks.equal("ibv_modify_cq", ibv_modify_cq(cq, &change), 0);
    writer.write();
    wait_a_moment();
    ibv_cq* told;
    void* context;
    int events = 0;
    while (!ibv_get_cq_event(channel, &told, &context)) ++events;
    ibv_ack_cq_events(cq, unsigned(events));
    ibv_wc wc;
    checks.equal("its completion", ibv_poll_cq(cq, 1, &wc), 1);
    return events;
  };
  checks.equal("an event for two completions, of one", events_of_one({2, 0}), 0);
  checks.equal("an event for two or in 100 us, of one", events_of_one({2, 100}), 1);
  checks.equal("an event without moderation", events_of_one({0, 0}), 1);
  ibv_modify_cq_attr change{IBV_CQ_ATTR_RESERVED, {}};
  checks.equal("an attribute that is none", ibv_modify_cq(cq, &change), EINVAL);
}
}  // namespace

void check_events(Bench& bench) {
  check_queue_pair(bench);
  check_late(bench);
  check_drained(bench);
  check_srq(bench);
  check_overrun(bench);
  check_channel(bench, bench.a, bench.b);
  check_channel(bench, bench.b, bench.a);
  check_gone(bench);
  check_many(bench);
  check_notified(bench);
  check_moderation(bench);
}
}  // namespace cases
