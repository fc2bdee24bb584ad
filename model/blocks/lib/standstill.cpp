// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/lib/standstill.h"

#include <array>

#include "model/proto/transport/requester_rules.h"

namespace hca::blocks {
using namespace proto;

namespace {
struct SendView {
  const QpConfig& qp;
  const SendState& s;
  u32 rung;
  const SchedulerHold& scheduler;
  const RequesterHold& requester;
};
struct SendRow {
  bool (*holds)(const SendView&);
  const char* sentence;  // begins with the block
};
// In the order from the end of a work request's way to its beginning; the first that is so.
constexpr std::array kSendRows{
    // clang-format off
    SendRow{[](const SendView& v) { return v.requester.failing; },
            "requester: a work request has failed, and earlier ones are not done"},
    SendRow{[](const SendView& v) { return v.requester.waits_local; },
            "command: has a work request of it to execute (Bind MW, Local Invalidate, Fast Register MR), or waits for accesses judged before it to end: look at dma"},
    SendRow{[](const SendView& v) { return v.s.waits_rnr && v.requester.timer_runs; },
            "requester: waits the time that an RNR NAK named, with a timer"},
    SendRow{[](const SendView& v) { return v.s.waits_rnr; },
            "requester: waits the time that an RNR NAK named, without a timer"},
    SendRow{[](const SendView& v) { return v.requester.has_wqe && v.requester.listed; },
            "requester: it is in the ready list, but no packet is cut: look at packetizer and port"},
    SendRow{[](const SendView& v) { return v.requester.has_wqe && v.requester.probes; },
            "requester: waits in its message for an ACK: of its first packet, or, with selective_repeat, of one within reorder_window"},
    SendRow{[](const SendView& v) { return v.requester.has_wqe && starts_nothing(v.qp, v.s); },
            "host: in SQD nothing is begun, until ModifyQp takes it to RTS"},
    SendRow{[](const SendView& v) { return v.requester.waits_data; },
            "requester: its next WQE waits for the data of READs and ATOMICs to be in memory: look at dma"},
    SendRow{[](const SendView& v) { return v.requester.waits_credits; },
            "peer: has advertised no receive WQE for the next message"},
    SendRow{[](const SendView& v) { return v.requester.waits_window; },
            "requester: its next WQE waits for acknowledgements, 2^23 PSNs are out"},
    SendRow{[](const SendView& v) { return v.requester.has_wqe; },
            "requester: has its next WQE and waits for nothing, but is not in the ready list"},
    SendRow{[](const SendView& v) { return v.scheduler.paused; },
            "requester: has stopped it at qp_scheduler and not let it go on"},
    SendRow{[](const SendView& v) { return v.scheduler.turns != 0; },
            "wqe_fetch: has turns of it that did not reach requester, or requester has not given them back"},
    SendRow{[](const SendView& v) { return v.scheduler.fetch != v.scheduler.posted && v.scheduler.ready; },
            "qp_scheduler: it is ready, and gets no turn: requester has not given back those of others"},
    SendRow{[](const SendView& v) { return v.scheduler.fetch != v.scheduler.posted; },
            "qp_scheduler: it has WQEs to fetch, but is not in the ready list"},
    SendRow{[](const SendView& v) { return v.scheduler.posted != v.rung; },
            "doorbell: its last doorbell has not come to qp_scheduler"},
    SendRow{[](const SendView& v) { return v.s.started != v.scheduler.posted; },
            "requester: its WQEs were fetched, but neither begun nor requested again"},
    SendRow{[](const SendView& v) { return v.s.completed != v.s.started; },
            "requester: its messages are answered but not completed: look at dma and completion"},
    // clang-format on
};
}  // namespace

std::string send_standstill(const QpConfig& qp, const SendState& s, u32 rung,
                            const SchedulerHold& scheduler, const RequesterHold& requester) {
  if (!takes_sends(qp.state) || s.completed == rung) return "";
  // With something on the wire it waits for the peer, unless it has to repeat it.
  if (s.anything_unacked() && !s.waits_rnr && s.send_psn == s.sent_psn) return "";
  const SendView view{qp, s, rung, scheduler, requester};
  for (const SendRow& row : kSendRows)
    if (row.holds(view)) return row.sentence;
  return "";
}

std::string receive_standstill(const ResponderHold& r) {
  std::string text;
  if (r.parked) {
    text = "responder_execute: " + std::to_string(r.parked) + " packets wait, the first has PSN " +
           std::to_string(r.psn);
    if (r.waits_invalidate)
      text += " and comes after a SEND with Invalidate whose key is still valid: look at command";
    else if (r.waits_atomic)
      text += " and comes after an ATOMIC that is not done: look at dma";
    else
      text += " and needs receive WQE " + std::to_string(r.wqe) +
              (r.reading ? ", which dma has to read" : ", which nobody has requested");
  } else if (r.has_answer) {
    text = "responder_execute: PSN " + std::to_string(r.answer_psn) + " is not answered: ";
    text += r.answer_drains  ? "it has taken a key away, and accesses that were judged before have "
                               "not ended: look at dma"
            : r.answer_waits ? "its data are not in memory, look at dma"
            : r.answer_listed ? "it is its turn, look at responder_reply and completion"
                              : "it waits for nothing, but is not in the list of answering queue "
                                "pairs";
  }
  return text;
}
}  // namespace hca::blocks
