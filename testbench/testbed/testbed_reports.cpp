// SPDX-License-Identifier: Apache-2.0
// The report on a testbed in which nothing moves any more.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "model/blocks/chip.h"
#include "testbench/testbed/testbed.h"

namespace hca::testbench {
namespace {
constexpr u32 kReportedQps = 8;
}  // namespace

// Describes the wait of a requester that has sent something, and whether anything will end it.
static std::string waiting_for(const proto::QpAttributes& a) {
  if (a.unacked_psn == a.sq_psn) return "";
  return fmt::format("  its requester waits for the answer to PSN {:#x}, {}\n", a.unacked_psn,
                     a.timeout ? "with a timer" : "without a timer (timeout 0): for ever");
}

std::string Testbed::standstill_of(unsigned i, const Qp& qp) const {
  std::istringstream lines(nodes_[i]->hca.standstill(qp.qpn, qp.sq_posted));
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "  " + line + '\n';
  return text;
}

std::string Testbed::progress_of(unsigned i, const Qp& qp) {
  try {
    const proto::QpAttributes a = nodes_[i]->verbs.query_qp(qp);
    return fmt::format(
               "chip {}: QP {:#x} in {}: {} send WQEs posted, {} started, {} completed, oldest "
               "unacknowledged PSN {:#x}, next PSN {:#x}; {} receive WQEs posted, {} used, "
               "expected PSN "
               "{:#x}\n",
               i, qp.qpn, proto::name_of(a.state), qp.sq_posted, a.sq_posted, a.sq_completed,
               a.unacked_psn, a.sq_psn, qp.rq_posted, a.rq_consumed, a.rq_psn) +
           waiting_for(a) + standstill_of(i, qp);
  } catch (const std::exception& error) {
    return fmt::format("chip {}: QueryQp: {}\n", i, error.what());
  }
}

std::string Testbed::causes_report() {
  std::string report;
  for (unsigned i = 0; i < nodes(); ++i)
    for (const Endpoint* end : ends_at(i))
      for (Cq* cq : {end->send_cq, end->recv_cq}) {
        std::array<Wc, 1> wc;
        while (cq && nodes_[i]->verbs.poll_cq(*cq, wc))
          if (wc[0].status != proto::WcStatus::Success &&
              wc[0].status != proto::WcStatus::WrFlushErr)
            report += fmt::format("chip {}: {} work request {} of QP {:#x} completed with {}\n", i,
                                  cq == end->send_cq ? "send" : "receive", wc[0].wr_id,
                                  wc[0].qp_num, proto::name_of(wc[0].status));
      }
  return report;
}

std::string Testbed::sleep_report() const {
  std::string report;
  for (unsigned i = 0; i < nodes(); ++i) {
    if (!nodes_[i]->cpu.sleeps()) continue;
    report += fmt::format("chip {}: its program sleeps until an interrupt\n", i);
    for (const Endpoint* end : ends_at(i))
      for (const Cq* cq : {end->send_cq, end->recv_cq})
        if (cq)
          report += fmt::format(
              "  CQ {:#x}: {}, {}\n", cq->cqn,
              cq->armed == proto::Arm::None ? "not armed" : "armed",
              nodes_[i]->verbs.has_completion(*cq) ? "a CQE waits to be taken" : "empty");
  }
  return report;
}

std::string Testbed::stuck_report() {
  std::string report;
  for (unsigned i = 0; i < nodes(); ++i) {
    const std::string waits = nodes_[i]->hca.domain().stuck_report();
    report += fmt::format("chip {}: {}\n", i, waits.empty() ? "no block waits" : waits);
    for (const auto& port : nodes_[i]->hca.chip().ports)
      if (const std::string held = port->link ? port->link->standstill() : ""; !held.empty())
        report += fmt::format("chip {}: {}\n", i, held);
    std::vector<const Qp*> qps;
    for (const Endpoint* end : ends_at(i))
      for (const auto* all : {&end->qps, &end->targets})
        qps.insert(qps.end(), all->begin(), all->end());
    // First those that a block holds up, and those with work.
    const auto rank = [&](const Qp* qp) {
      return !standstill_of(i, *qp).empty() ? 0 : qp->sq_posted != qp->sq_completed ? 1 : 2;
    };
    std::stable_sort(qps.begin(), qps.end(),
                     [&](const Qp* a, const Qp* b) { return rank(a) < rank(b); });
    const std::size_t shown = std::min<std::size_t>(qps.size(), kReportedQps);
    for (std::size_t k = 0; k < shown; ++k) report += progress_of(i, *qps[k]);
    if (qps.size() > shown)
      report += fmt::format("chip {}: {} queue pairs more\n", i, qps.size() - shown);
  }
  return report;
}
}  // namespace hca::testbench
