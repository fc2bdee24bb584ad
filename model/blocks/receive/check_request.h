// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/transport/ee_context.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
// Judges a request and applies the verdict to its queue pair (state in `view`) and to its SRQ, if
// it has one. Returns true if it took the WQE that brings the SRQ below its limit.
[[gnu::always_inline]] inline bool check_request(const proto::RequestView& view,
                                                 proto::ReceiveState& state,
                                                 proto::SharedQueue* shared,
                                                 proto::RequestVerdict& verdict,
                                                 proto::RequestEffect& effect) {
  if (shared) [[unlikely]]
    look_at(state, *shared);
  verdict = judge_request(view);
  apply(state, view.packet, view.qp, verdict, effect);
  if (!shared) [[likely]]
    return false;
  const bool passed = verdict.action == proto::RequestAction::Execute;
  return take_from(*shared, state, view.packet, view.qp, verdict, passed, effect);
}

// What becomes of the receive WQE of a message that a request to an EE context ends.
struct EndedWqe {
  u32 back_to = 0;           // the queue pair whose queue it should return to; 0: none
  bool is_in_queue = false;  // it has returned: it was the newest one taken there
};
// The same for a request to an EE context: it takes the receive WQEs of the queue pair that it
// names, view.qp.served. A request that ends the message in progress decides what becomes of that
// message's WQE. `queue_of(qpn)`: the ReceiveState& of a queue pair of RD.
template <class QueueOf>
EndedWqe check_rd_request(const proto::RequestView& view, proto::ReceiveState& state,
                          const QueueOf& queue_of, proto::RequestVerdict& verdict,
                          proto::RequestEffect& effect) {
  using namespace proto;
  ReceiveState* const taken = view.qp.served ? &queue_of(view.qp.served) : nullptr;
  look_at(state, taken ? *taken : ReceiveState{});
  verdict = judge_request(view);
  const bool ends =
      verdict.action == RequestAction::NakAndEnd || request::is_new_resync(view.packet, verdict);
  const bool completes = ends && completes_ended(view.qp, view.packet, verdict);
  EndedWqe wqe;
  if (ends && !completes && state.message == InMessage::Send) {
    wqe.back_to = state.owner;
    wqe.is_in_queue = put_back(queue_of(state.owner), state.held_wqe);
  }
  apply(state, view.packet, view.qp, verdict, effect);
  if (taken) take_from(*taken, state, view.packet, verdict, effect);
  if (!ends) return wqe;
  state.message = InMessage::None;
  if (taken && completes && failure_takes_receive_wqe(view.qp, view.packet, verdict))
    effect.receive_wqe = take_head(*taken);
  return wqe;
}
}  // namespace hca::blocks
