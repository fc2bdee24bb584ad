// SPDX-License-Identifier: Apache-2.0
// ibv_resize_cq(3), ibv_modify_srq(3), and the times of completions, ibv_create_cq_ex(3).
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
void write_some(Bench& bench, ibv_qp* qp, unsigned from, unsigned to) {
  ibv_sge data = bench.a.sge(0, 8);
  for (unsigned i = from; i < to; ++i) {
    ibv_send_wr wr = work(IBV_WR_RDMA_WRITE, &data, i);
    set_remote(wr, bench.b);
    bench.checks->equal("a WRITE is posted", post(qp, wr), 0);
  }
}
void expect_written(Bench& bench, unsigned from, unsigned to) {
  for (unsigned i = from; i < to; ++i) {
    const ibv_wc wc = bench.a.next_completion();
    bench.checks->equal("a WRITE is done", wc.status, IBV_WC_SUCCESS);
    bench.checks->equal("in order", (long long)wc.wr_id, i);
  }
}

// In the midst of completions that nobody has polled, at all places of the ring.
void check_cq(Bench& bench) {
  Checks& checks = *bench.checks;
  const Pair pair(bench, IBV_QPT_RC);
  ibv_cq* const cq = bench.a.cq;
  unsigned done = 0;
  for (const int entries : {40, 100, 33, 500, 9, 32}) {
    write_some(bench, pair.a, done, done + 8);
    expect_written(bench, done, done + 3);
    checks.equal("a CQ is resized", ibv_resize_cq(cq, entries), 0);
    checks.holds("to so many entries", cq->cqe >= entries);
    write_some(bench, pair.a, done + 8, done + 11);
    expect_written(bench, done + 3, done + 11);
    done += 11;
  }
  write_some(bench, pair.a, done, done + 8);
  const timespec moment{0, 50'000'000};
  nanosleep(&moment, nullptr);
  checks.equal("to fewer entries than there are completions", ibv_resize_cq(cq, 7), EINVAL);
  checks.equal("to no entries", ibv_resize_cq(cq, 0), EINVAL);
  checks.equal("to more than the device has", ibv_resize_cq(cq, bench.a.device.max_cqe + 1),
               EINVAL);
  expect_written(bench, done, done + 8);
}

void post_shared(Bench& bench, ibv_srq* srq, unsigned from, unsigned to) {
  for (unsigned i = from; i < to; ++i) {
    ibv_sge into = bench.b.sge(i % 64 * 64, 64);
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = i, wr.sg_list = &into, wr.num_sge = 1;
    bench.checks->equal("a receive is posted", ibv_post_srq_recv(srq, &wr, &bad), 0);
  }
}
void send_shared(Bench& bench, ibv_qp* qp, unsigned from, unsigned to) {
  for (unsigned i = from; i < to; ++i) {
    bench.a.buffer[0] = static_cast<unsigned char>(i);
    ibv_sge data = bench.a.sge(0, 8);
    ibv_send_wr wr = work(IBV_WR_SEND, &data, i);
    post(qp, wr);
    bench.checks->equal("a SEND is done", bench.a.next_completion().status, IBV_WC_SUCCESS);
    const ibv_wc wc = bench.b.next_completion();
    bench.checks->equal("is received", (long long)wc.wr_id, i);
    bench.checks->equal("where it was posted", bench.b.buffer[i % 64 * 64], i);
  }
}

// An SRQ that is full, with ids from 20 on, becomes smaller when so many are left.
void check_smaller(Bench& bench, ibv_srq* srq, ibv_qp* from, unsigned entries) {
  Checks& checks = *bench.checks;
  ibv_srq_attr fewer{4, 0, 0}, is{};
  checks.equal("fewer than there are", ibv_modify_srq(srq, &fewer, IBV_SRQ_MAX_WR), EINVAL);
  ibv_query_srq(srq, &is);
  checks.equal("it is as it was", is.max_wr, entries);
  const unsigned end = 20 + entries;
  ibv_sge data = bench.a.sge(0, 8);
  for (unsigned i = 20; i < end - 4; ++i) {
    ibv_send_wr wr = work(IBV_WR_SEND, &data);
    post(from, wr);
    checks.equal("a SEND is done", bench.a.next_completion().status, IBV_WC_SUCCESS);
  }
  checks.equal("fewer than those of whose end nobody has heard",
               ibv_modify_srq(srq, &fewer, IBV_SRQ_MAX_WR), EINVAL);
  for (unsigned i = 20; i < end - 4; ++i)
    checks.equal("it is received", (long long)bench.b.next_completion().wr_id, i);
  checks.equal("as many as there are", ibv_modify_srq(srq, &fewer, IBV_SRQ_MAX_WR), 0);
  ibv_query_srq(srq, &is);
  checks.equal("is what it has", is.max_wr, 4);
  ibv_recv_wr one_more{}, *bad = nullptr;
  checks.equal("it is full", ibv_post_srq_recv(srq, &one_more, &bad), ENOMEM);
  send_shared(bench, from, end - 4, end - 2);
  post_shared(bench, srq, end, end + 2);
  send_shared(bench, from, end - 2, end + 2);
}

void check_srq(Bench& bench) {
  Checks& checks = *bench.checks;
  ibv_srq_init_attr wanted{};
  wanted.attr = {4, 1, 0};
  ibv_srq* const srq = ibv_create_srq(bench.b.pd, &wanted);
  ibv_qp* const a = bench.a.make_qp(IBV_QPT_RC);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC, srq);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  checks.holds("the device resizes SRQs", bench.b.device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
  post_shared(bench, srq, 0, 4);
  send_shared(bench, a, 0, 3);
  post_shared(bench, srq, 4, 6);
  ibv_srq_attr more{20, 0, 0};
  checks.equal("an SRQ is resized", ibv_modify_srq(srq, &more, IBV_SRQ_MAX_WR), 0);
  ibv_srq_attr is{};
  ibv_query_srq(srq, &is);
  checks.holds("to so many entries", is.max_wr >= 20);
  post_shared(bench, srq, 6, 20);
  send_shared(bench, a, 3, 20);
  post_shared(bench, srq, 20, 20 + is.max_wr);
  ibv_recv_wr one_more{}, *bad = nullptr;
  checks.equal("one more than there is room for", ibv_post_srq_recv(srq, &one_more, &bad), ENOMEM);
  check_smaller(bench, srq, a, is.max_wr);
  more.max_wr = unsigned(bench.b.device.max_srq_wr) + 1;
  checks.equal("beyond the device", ibv_modify_srq(srq, &more, IBV_SRQ_MAX_WR), EINVAL);
  more.srq_limit = 1 << 20;
  checks.equal("a limit beyond the SRQ", ibv_modify_srq(srq, &more, IBV_SRQ_LIMIT), EINVAL);
  checks.equal("an attribute that is none", ibv_modify_srq(srq, &more, 4), EINVAL);
  checks.equal("destroyed", ibv_destroy_qp(a) | ibv_destroy_qp(b) | ibv_destroy_srq(srq), 0);
}

std::uint64_t nanoseconds_of(const timespec& time) {
  return std::uint64_t(time.tv_sec) * 1'000'000'000 + std::uint64_t(time.tv_nsec);
}
std::uint64_t clock_of_device(Bench& bench) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  bench.checks->equal("the clock", ibv_query_rt_values_ex(bench.a.context, &values), 0);
  return nanoseconds_of(values.raw_clock);
}
std::uint64_t clock_of_day(Bench&) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds_of(now);
}

// The times that completions may have, and the clock that they are of.
struct TimeRow {
  const char* what;
  std::uint64_t flag;
  std::uint64_t (*now)(Bench&);
  std::uint64_t (*read)(ibv_cq_ex*);
};
constexpr std::array kTimes{TimeRow{"the device's", IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
                                    clock_of_device, ibv_wc_read_completion_ts},
                            TimeRow{"that of day", IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
                                    clock_of_day, ibv_wc_read_completion_wallclock_ns}};

// In ns: each CQE has a time of its own, and they lie between two looks at the clock, however late
// they are read.
void check_times(Bench& bench, const TimeRow& row) {
  Checks& checks = *bench.checks;
  ibv_cq_init_attr_ex wanted{};
  wanted.cqe = kDepth, wanted.wc_flags = row.flag;
  ibv_cq_ex* const cq = ibv_create_cq_ex(bench.a.context, &wanted);
  checks.holds(std::string("a CQ with times of ") + row.what, cq);
  ibv_device_attr_ex device{};
  ibv_query_device_ex(bench.a.context, nullptr, &device);
  checks.equal("a clock of 1 GHz", (long long)device.hca_core_clock, 1'000'000);
  ibv_qp_init_attr made = bench.a.wanted_qp(IBV_QPT_RC);
  made.send_cq = ibv_cq_ex_to_cq(cq);
  ibv_qp* const a = ibv_create_qp(bench.a.pd, &made);
  ibv_qp* const b = bench.b.make_qp(IBV_QPT_RC);
  checks.equal("they are connected", connect(a, bench.a, b, bench.b), 0);
  std::uint64_t last = row.now(bench);
  write_some(bench, a, 0, 4);
  const timespec moment{0, 50'000'000};
  nanosleep(&moment, nullptr);
  const std::uint64_t end = row.now(bench);
  ibv_poll_cq_attr none{};
  checks.equal("a completion", ibv_start_poll(cq, &none), 0);
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t time = row.read(cq);
    checks.holds(std::string("a time behind the one before, of ") + row.what,
                 time > last && time <= end);
    last = time;
    checks.equal("the next one", ibv_next_poll(cq), i < 3 ? 0 : ENOENT);
  }
  ibv_end_poll(cq);
  none.comp_mask = 1;
  checks.equal("attributes that there are not", ibv_start_poll(cq, &none), EINVAL);
  checks.equal("destroyed",
               ibv_destroy_qp(a) | ibv_destroy_qp(b) | ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}
}  // namespace

void check_resizing(Bench& bench) {
  check_cq(bench);
  check_srq(bench);
  for (const TimeRow& row : kTimes) check_times(bench, row);
}
}  // namespace cases
