// SPDX-License-Identifier: Apache-2.0
// Programs that share a domain by its file, and its targets by their numbers.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testbench/tests/programs/verbs_library/cases/xrc.h"

namespace cases {
namespace {
int send_to(ibv_qp* initiator, Bench& bench, std::uint32_t srqn) {
  ibv_sge data = bench.a.sge(0, 64);
  ibv_send_wr wr = work(IBV_WR_SEND, &data);
  wr.qp_type.xrc.remote_srqn = srqn;
  return post(initiator, wr);
}
int to_error(ibv_qp* qp) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_ERR;
  return ibv_modify_qp(qp, &to, IBV_QP_STATE);
}

// A target goes with the last who has it open.
void check_last_user(Bench& bench) {
  Checks& checks = *bench.checks;
  const NamelessFile file;
  End second(bench.b.context->device);
  ibv_xrcd* const domain = open_domain(bench.b.context, file.fd, O_CREAT);
  ibv_xrcd* const its_domain = open_domain(second.context, file.fd);
  checks.holds("the second has the domain", its_domain);
  ibv_srq* const srq = make_xrc_srq(second, its_domain, second.cq);
  ibv_qp *const initiator = make_initiator(bench.a), *const target =
                                                         make_target(bench.b.context, domain);
  const std::uint32_t number = target->qp_num;
  checks.equal("they are connected", connect(initiator, bench.a, target, bench.b), 0);
  ibv_qp* const same = open_target(second.context, its_domain, number);
  checks.holds("the second opens the target", same && same->qp_num == number);
  checks.equal("which is where the first has left it", state_of(same), IBV_QPS_RTS);
  checks.equal("the first destroys it", ibv_destroy_qp(target), 0);
  checks.equal("a receive", post_shared(srq, second.sge(0, 64), 5), 0);
  checks.equal("SEND", send_to(initiator, bench, number_of(srq)), 0);
  checks.equal("it still answers", bench.a.next_completion().status, IBV_WC_SUCCESS);
  const ibv_wc wc = second.next_completion();
  checks.equal("the second receives", (long long)wc.wr_id, 5);
  checks.equal("from the target", wc.qp_num, number);
  ibv_qp* const again = open_target(bench.b.context, domain, number);
  checks.holds("the first opens it", again);
  checks.equal("and ends it", to_error(again), 0);
  checks.equal("for the second too", state_of(same), IBV_QPS_ERR);
  checks.equal("closed by both", ibv_destroy_qp(again) | ibv_destroy_qp(same), 0);
  checks.equal("it is gone", error_of(open_target(bench.b.context, domain, number), ibv_destroy_qp),
               EINVAL);
  checks.equal("destroyed",
               ibv_destroy_srq(srq) | ibv_destroy_qp(initiator) | ibv_close_xrcd(domain) |
                   ibv_close_xrcd(its_domain),
               0);
}

// A program that ends leaves domain and target to the others, and takes its SRQ.
void check_ended(Bench& bench) {
  Checks& checks = *bench.checks;
  const NamelessFile file;
  End ending(bench.b.context->device);
  ibv_xrcd* const its_domain = open_domain(ending.context, file.fd, O_CREAT);
  ibv_srq* const its_srq = make_xrc_srq(ending, its_domain, ending.cq);
  const std::uint32_t gone = number_of(its_srq);
  ibv_qp *const initiator = make_initiator(bench.a), *const target =
                                                         make_target(ending.context, its_domain);
  checks.equal("they are connected", connect(initiator, bench.a, target, bench.b), 0);
  ibv_xrcd* const domain = open_domain(bench.b.context, file.fd);
  ibv_qp* const same = open_target(bench.b.context, domain, target->qp_num);
  ibv_srq* const srq = make_xrc_srq(bench.b, domain, bench.b.cq);
  ending.close();
  checks.equal("a receive", post_shared(srq, bench.b.sge(0, 64), 9), 0);
  checks.equal("SEND", send_to(initiator, bench, number_of(srq)), 0);
  checks.equal("is answered", bench.a.next_completion().status, IBV_WC_SUCCESS);
  checks.equal("and received", (long long)bench.b.next_completion().wr_id, 9);
  checks.equal("SEND to the SRQ that is gone", send_to(initiator, bench, gone), 0);
  checks.equal("is refused", bench.a.next_completion().status, IBV_WC_REM_INV_RD_REQ_ERR);
  checks.equal("destroyed",
               ibv_destroy_qp(initiator) | ibv_destroy_qp(same) | ibv_destroy_srq(srq) |
                   ibv_close_xrcd(domain),
               0);
  ibv_xrcd* const anew = open_domain(bench.b.context, file.fd, O_CREAT | O_EXCL);
  checks.holds("the domain is gone with the last", anew);
  checks.equal("closed", ibv_close_xrcd(anew), 0);
}

// A target's events reach each program that has it open.
void check_events_of_both(Bench& bench) {
  Checks& checks = *bench.checks;
  const NamelessFile file;
  End second(bench.b.context->device);
  ibv_xrcd* const domain = open_domain(bench.b.context, file.fd, O_CREAT);
  ibv_xrcd* const its_domain = open_domain(second.context, file.fd);
  ibv_qp *const initiator = make_initiator(bench.a), *const target =
                                                         make_target(bench.b.context, domain);
  checks.equal("they are connected", connect(initiator, bench.a, target, bench.b), 0);
  ibv_qp* const same = open_target(second.context, its_domain, target->qp_num);
  checks.equal("SEND to no SRQ", send_to(initiator, bench, 0xffff), 0);
  checks.equal("is refused", bench.a.next_completion().status, IBV_WC_REM_INV_RD_REQ_ERR);
  for (End* end : {&bench.b, &second})
    checks.equal("both hear of it", end->next_event(), IBV_EVENT_QP_ACCESS_ERR);
  checks.equal("destroyed",
               ibv_destroy_qp(initiator) | ibv_destroy_qp(same) | ibv_destroy_qp(target) |
                   ibv_close_xrcd(its_domain) | ibv_close_xrcd(domain),
               0);
}

// ---- Two processes
// The child's part: an SRQ of the domain receives one message. 0: it has.
int receive_one(Bench& bench, int file, int numbers, int ready) {
  End own(bench.b.context->device);
  ibv_xrcd* const domain = open_domain(own.context, file);
  if (!domain) return 2;
  ibv_srq* const srq = make_xrc_srq(own, domain, own.cq);
  std::uint32_t target = 0;
  if (!srq || read(ready, &target, sizeof target) != sizeof target) return 3;
  ibv_qp* const same = open_target(own.context, domain, target);
  const std::uint32_t number = number_of(srq);
  if (!same || post_shared(srq, own.sge(0, 64), 77)) return 4;
  if (write(numbers, &number, sizeof number) != sizeof number) return 5;
  const ibv_wc wc = own.next_completion();
  const bool good = wc.status == IBV_WC_SUCCESS && wc.wr_id == 77 && wc.qp_num == target &&
                    own.buffer[63] == 0x5a;
  if (ibv_destroy_qp(same) || ibv_destroy_srq(srq) || ibv_close_xrcd(domain)) return 6;
  return good ? 0 : 7;
}

void check_processes(Bench& bench) {
  Checks& checks = *bench.checks;
  const NamelessFile file;
  std::array<int, 2> numbers{}, ready{};
  checks.equal("pipes", pipe(numbers.data()) | pipe(ready.data()), 0);
  ibv_xrcd* const domain = open_domain(bench.b.context, file.fd, O_CREAT);
  ibv_qp *const initiator = make_initiator(bench.a), *const target =
                                                         make_target(bench.b.context, domain);
  checks.equal("they are connected", connect(initiator, bench.a, target, bench.b), 0);
  const pid_t child = fork();
  if (!child) _exit(receive_one(bench, file.fd, numbers[1], ready[0]));
  std::uint32_t number = target->qp_num;
  checks.holds("the target's number", write(ready[1], &number, sizeof number) == sizeof number);
  checks.holds("the SRQ's number", read(numbers[0], &number, sizeof number) == sizeof number);
  bench.a.buffer[63] = 0x5a;
  checks.equal("SEND", send_to(initiator, bench, number), 0);
  checks.equal("is answered", bench.a.next_completion().status, IBV_WC_SUCCESS);
  int status = -1;
  waitpid(child, &status, 0);
  checks.equal("the other process has received it", status, 0);
  for (const int fd : {numbers[0], numbers[1], ready[0], ready[1]}) close(fd);
  checks.equal("destroyed",
               ibv_destroy_qp(initiator) | ibv_destroy_qp(target) | ibv_close_xrcd(domain), 0);
}
}  // namespace

void check_xrc_shared(Bench& bench) {
  check_last_user(bench);
  check_ended(bench);
  check_events_of_both(bench);
  check_processes(bench);
}
}  // namespace cases
