// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_check.h"

#include <algorithm>
#include <array>

#include "model/blocks/receive/check_request.h"
#include "model/proto/transport/ee_context.h"
#include "model/proto/transport/kept_requests.h"

namespace hca::blocks {
using namespace proto;

namespace {
struct CauseRow {
  RequestCause cause;
  u64 ResponderCheckCounters::*counter;
};
constexpr auto kCauses = [] {
  using C = ResponderCheckCounters;
  return std::array{CauseRow{RequestCause::Good, &C::good},
                    CauseRow{RequestCause::WrongService, &C::wrong_service},
                    CauseRow{RequestCause::BadQpState, &C::bad_qp_state},
                    CauseRow{RequestCause::WrongPath, &C::wrong_path},
                    CauseRow{RequestCause::WrongVl, &C::wrong_vl},
                    CauseRow{RequestCause::BadPkey, &C::bad_pkey},
                    CauseRow{RequestCause::BadQkey, &C::bad_qkey},
                    CauseRow{RequestCause::NoXrcSrq, &C::no_xrc_srq},
                    CauseRow{RequestCause::WrongXrcDomain, &C::wrong_xrc_domain},
                    CauseRow{RequestCause::NoRdQueue, &C::no_rd_queue},
                    CauseRow{RequestCause::WrongRdDomain, &C::wrong_rd_domain},
                    CauseRow{RequestCause::Duplicate, &C::duplicate},
                    CauseRow{RequestCause::NakPending, &C::nak_pending},
                    CauseRow{RequestCause::PsnAhead, &C::psn_ahead},
                    CauseRow{RequestCause::BadSequence, &C::bad_sequence},
                    CauseRow{RequestCause::Unsupported, &C::unsupported},
                    CauseRow{RequestCause::TooManyReads, &C::too_many_reads},
                    CauseRow{RequestCause::NoReceiveWqe, &C::no_receive_wqe},
                    CauseRow{RequestCause::SharedQueueFailed, &C::srq_failed},
                    CauseRow{RequestCause::BadLength, &C::bad_length},
                    CauseRow{RequestCause::Misaligned, &C::misaligned},
                    CauseRow{RequestCause::BadRkey, &C::bad_rkey}};
}();
constexpr auto kCounterOf = [] {
  std::array<u64 ResponderCheckCounters::*, std::size_t(RequestCause::Count)> counters{};
  for (const CauseRow& row : kCauses) counters[std::size_t(row.cause)] = row.counter;
  return counters;
}();
static_assert(std::ranges::all_of(kRequestRules, [](const RequestRule& rule) {
  return kCounterOf[std::size_t(rule.cause)] != nullptr;
}));

// The part that requests of all services have.
ResponderCheckItem item_of(const RequestView& view, ReceiveState& state, CheckedRequest& checked) {
  return {.packet = &view.packet,
          .frame = view.frame,
          .qp = &view.qp,
          .region = view.region,
          .port = view.port,
          .state = &state,
          .reads_finished = state.reads_accepted - view.reads_unfinished,
          .checked = &checked};
}

class QueuesOf final : public RdQueues {
 public:
  QueuesOf(const device::Contexts& contexts, const device::ReceiveStates& receive)
      : contexts_(contexts), receive_(receive) {}
  ReceiveState& of(u32 qpn) override { return receive_[contexts_.connection_of(qpn)]; }

 private:
  const device::Contexts& contexts_;
  const device::ReceiveStates& receive_;
};
}  // namespace

[[gnu::hot]] Cycle ResponderCheck::check(Packet& p, Cycle now, Cycle at) {
  const bool of_ee = device::is_ee(p.qpn);
  if (of_ee) [[unlikely]]
    served_ = receiver_of(p);
  const QpConfig& qp = of_ee ? served_ : context_.contexts.qps[p.qpn];
  ReceiveState& state = receive_[connection_of(p.qpn)];
  const u32 key = remote_key(p.parsed);
  Cycle ready = context_.look_up(context_port_, at, p.qpn);
  Cycle& written = written_[p.qpn];
  if (written > ready) {
    ++counters.context_stalls;
    if (config_.context_forwarding == ContextForwarding::Stall) ready = wait_for(ready, p.qpn);
  }
  if (key) ready = protection_.look_up(key_port_, ready, key);
  const Cycle out = std::max(stage_.enter(ready), last_out_ + 1);
  written = last_out_ = out;
  const device::ReceiveQueue queue = context_.contexts.receive_queue_of(qp, p.parsed);
  p.receive_queue = queue;
  SharedQueue* const shared = queue.is_shared() ? srqs_.find(queue.srqn()) : nullptr;
  const RequestView view{p.parsed,
                         p.bytes(),
                         qp,
                         state,
                         region_of(p.parsed, key),
                         reads_unfinished(p.qpn, now),
                         &attributes_,
                         shared,
                         of_ee ? context_.contexts.find_qp(p.parsed.bth.dest_qp) : nullptr};
  if (of_ee) [[unlikely]]
    check_rd(view, p);
  else if (stand_in ? check_by(view, p, shared)
                    : check_request(view, state, shared, p.verdict, p.effect))
    below_limit = queue.srqn();
  if (keeps_ahead(state, p.parsed, qp, p.verdict)) [[unlikely]] {
    p.verdict = kKeptAhead;
    tell_kept(p.effect, state, p.parsed);
  }
  if (p.verdict.action == RequestAction::Repeat) [[unlikely]]
    limit_repeated_read(p.effect, qp, state.epsn);
  count(p.verdict.cause);
  probe.event(out, Step::Passed, p.qpn, p.psn, u64(p.verdict.action));
  return out;
}

[[gnu::cold]] QpConfig ResponderCheck::receiver_of(const Packet& p) const {
  const device::Contexts& contexts = context_.contexts;
  return receiver_for(contexts.qps[device::sender_number(p.qpn)], p.parsed,
                      contexts.find_qp(p.parsed.bth.dest_qp));
}

[[gnu::cold]] void ResponderCheck::check_rd(const RequestView& view, Packet& p) {
  ReceiveState& state = receive_[connection_of(p.qpn)];
  QueuesOf queues(context_.contexts, receive_);
  if (stand_in) {
    CheckedRequest checked;
    ResponderCheckItem item = item_of(view, state, checked);
    item.rq_posted = view.qp.served ? queues.of(view.qp.served).rq_posted : 0;
    item.queue_pair = view.queue_pair;
    item.queues = &queues;
    stand_in->process(item);
    p.verdict = checked.verdict;
    p.effect = checked.effect;
    p.keeps_wqe = checked.keeps_wqe;
  } else {
    const auto queue_of = [&](u32 qpn) -> ReceiveState& { return queues.of(qpn); };
    p.keeps_wqe = check_rd_request(view, state, queue_of, p.verdict, p.effect).is_in_queue;
  }
  p.refusals = state.refusals;
}

[[gnu::cold]] void ResponderCheck::keep(Packet* p) {
  if (!std::exchange(receive_[connection_of(p->qpn)].keeps, true)) kept_.clear(p->qpn);
  kept_.keep(p);
}

[[gnu::cold]] Packet* ResponderCheck::take_kept(u32 qpn) {
  return kept_.take(qpn, receive_[connection_of(qpn)].epsn);
}

// Several that wait at the same time count once.
Cycle ResponderCheck::wait_for(Cycle ready, u32 qpn) {
  const Cycle until = written_[qpn], from = std::max(ready, waited_until_);
  if (until > from) {
    counters.waits_context += until - from;
    waited_until_ = until;
  }
  return until;
}

inline const Region* ResponderCheck::region_of(const ParsedPacket& packet, u32 key) const {
  if (!key || !protection_.host_pages) [[likely]]
    return protection_.find(key);
  const RemoteBytes named = remote_bytes(packet);
  return protection_.find(key, named.va, named.bytes);
}

[[gnu::cold]] bool ResponderCheck::check_by(const RequestView& view, Packet& p,
                                            SharedQueue* shared) {
  ReceiveState& state = receive_[connection_of(p.qpn)];
  CheckedRequest checked;
  ResponderCheckItem item = item_of(view, state, checked);
  item.srqn = shared ? p.receive_queue.srqn() : 0;
  item.shared = shared;
  item.rq_posted = shared ? shared->posted : state.rq_posted;
  item.rq_failed = shared && shared->failed;
  stand_in->process(item);
  p.verdict = checked.verdict;
  p.effect = checked.effect;
  return checked.below_limit;
}

inline u32 ResponderCheck::reads_unfinished(u32 qpn, Cycle now) const {
  const u32 accepted = receive_[connection_of(qpn)].reads_accepted;
  return accepted ? accepted - (*reads_finished)[qpn].seen(now) : 0;
}

inline void ResponderCheck::count(RequestCause cause) {
  ++(counters.*kCounterOf[std::size_t(cause)]);
}
}  // namespace hca::blocks
