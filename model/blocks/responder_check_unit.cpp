// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/responder_check_unit.h"

#include <algorithm>
#include <stdexcept>

namespace hca::blocks {
using engine::Cycle;

void ResponderCheckItem::process() const {
  (shared ? shared->posted : state->rq_posted) = rq_posted;
  if (shared) shared->failed = rq_failed;
  CheckedRequest& c = *checked;
  c.below_limit = check_request(
      {*packet, frame, *qp, *state, region, state->reads_accepted - reads_finished, port}, *state,
      shared, c.verdict, c.effect);
  c.state = *state;
  if (shared) c.shared = *shared;
  if (qp->reliable && !is_silent(c.verdict.action))
    c.syndrome = answer_syndrome(c.verdict, c.effect, *qp);
}

ResponderCheckUnit::ResponderCheckUnit(const Config& config, const Ports& ports,
                                       engine::Probe probe)
    : config_(config),
      ports_(ports),
      beats_(engine::Rate(8 * config.beat_bytes, 1)),
      probe_(probe) {
  if (config.latency < ports.packets_out->latency() || !config.interval || !config.slots)
    throw std::invalid_argument(
        "responder_check: latency is the latency of packets_out or more, interval and slots are 1 "
        "or more");
}

// In the cycle `at`: those behind a request that is no start yet and let fall are here no more.
u32 ResponderCheckUnit::used(Cycle at) const {
  return u32(std::count_if(waiting_.begin(), waiting_.end(),
                           [&](const Waiting& w) { return w.item.packet || at < w.ready; }));
}

void ResponderCheckUnit::tick() {
  const bool takes = open();  // room that a start makes now counts from the next cycle on
  start();
  if (takes) accept();
  if (!waiting_.empty()) wake_at(now() + 1);
}

// The oldest goes into the rule stages.
void ResponderCheckUnit::start() {
  while (!waiting_.empty() && !waiting_.front().item.packet && waiting_.front().ready <= now()) {
    probe_.event(now(), Kind::Falls);
    waiting_.pop_front();
  }
  if (waiting_.empty() || !waiting_.front().item.packet) return;
  if (std::max(waiting_.front().ready, starts_from_) > now() || !ports_.packets_out->can_push())
    return;
  const ResponderCheckItem& item = waiting_.front().item;
  item.process();
  probe_.event(now() + config_.latency, Kind::Leaves, item.packet->bth.dest_qp);
  ports_.packets_out->push(item, 1, config_.latency - ports_.packets_out->latency());
  starts_from_ = now() + config_.interval;
  ++started_;
  waiting_.pop_front();
}

void ResponderCheckUnit::accept() {
  if (!ports_.packets_in->can_pop()) return;
  const Cycle taken = beats(u32(ports_.packets_in->front().frame.size()));
  Waiting w{ports_.packets_in->pop(taken), now() + taken};
  free_from_ = now() + taken;
  if (w.item.packet) {
    const Cycle asks = now() + taken;  // behind the last beat
    probe_.event(asks, Kind::AsksContext, w.item.packet->bth.dest_qp);
    const Cycle answer = std::max(asks + 1 + w.item.context_late, context_free_);
    context_free_ = answer + 1, w.ready = answer + 1;
    if (const u32 key = w.item.key()) {
      probe_.event(answer + 1, Kind::AsksRegion, key);
      const Cycle region = std::max(answer + 2 + w.item.region_late, region_free_);
      region_free_ = region + 1, w.ready = region + 1;
    }
  }
  waiting_.push_back(w);
}
}  // namespace hca::blocks
