// SPDX-License-Identifier: Apache-2.0
// Shared receive queues.
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

namespace {
bool values_ok(const SrqAttributes& a, const Contexts& contexts) {
  return a.log_entries <= kMaxLogWorkEntries && kReceiveStrides.include(a.log_stride) && a.port &&
         a.port <= contexts.ports.size();
}
}  // namespace

CommandStatus create_srq(Call& c) {
  const auto a = decode<SrqAttributes>(c.body);
  const u32 srqn = c.header.object;
  Contexts& x = c.contexts;
  if (srqn >= x.limits.srqs) return CommandStatus::NoResources;
  Pd* pd = x.find_pd(a.pd);
  if (!srqn || x.find_srq(srqn) || !pd) return CommandStatus::BadObject;
  if (!values_ok(a, x)) return CommandStatus::BadValue;
  XrcDomain* domain = a.xrcd ? x.find_xrc_domain(a.xrcd) : nullptr;
  EventRing* cq = a.xrcd ? x.find_cq(a.cqn) : nullptr;
  if (a.xrcd && (!domain || !cq)) return CommandStatus::BadObject;  // G23.5
  SharedQueue queue;
  queue.allocated = true;
  queue.life = at(x.srqs, srqn).life + 1;
  queue.port = a.port;
  queue.pd = a.pd;
  queue.limit = a.limit;
  queue.wqes = {a.address, a.log_entries, a.log_stride};
  queue.context = a.context;
  queue.xrcd = a.xrcd;
  queue.cqn = domain ? a.cqn : 0;
  at(x.srqs, srqn) = queue;
  ++pd->uses;
  if (domain) {
    ++domain->uses;
    ++cq->uses;
  }
  return CommandStatus::Ok;
}

// SRQ-9. The ring of its queue pairs is the same.
CommandStatus modify_srq(Call& c) {
  const auto a = decode<SrqAttributes>(c.body);
  Contexts& x = c.contexts;
  SharedQueue* queue = x.find_srq(c.header.object);
  if (!queue) return CommandStatus::BadObject;
  if (!may_modify(*queue)) return CommandStatus::BadState;
  const WorkQueue ring{a.address, a.log_entries, queue->wqes.log_stride};
  if (a.mask & ~(kSrqLimit | kSrqRing)) return CommandStatus::BadValue;
  if (a.mask & kSrqRing &&
      (a.log_entries > kMaxLogWorkEntries || queue->available() > ring.entries()))
    return CommandStatus::BadValue;
  if (a.mask & kSrqLimit) queue->limit = a.limit;
  const bool tests = a.mask & kSrqLimit && x.options.srq_limit_test == SrqLimitTest::Set;
  if (tests && queue->available() < queue->limit) {
    queue->limit = 0;
    c.effect.event = proto::Event{EventType::SrqLimitReached, c.header.object};
  }
  if (!(a.mask & kSrqRing)) return CommandStatus::Ok;
  queue->wqes = ring;
  for (QpConfig& qp : x.qps)
    if (qp.allocated && qp.srqn == c.header.object) qp.rq = ring;
  return CommandStatus::Ok;
}

CommandStatus query_srq(Call& c) {
  const SharedQueue* queue = c.contexts.find_srq(c.header.object);
  if (!queue) return CommandStatus::BadObject;
  if (!may_query(*queue)) return CommandStatus::BadState;
  SrqAttributes a;
  a.pd = queue->pd;
  a.port = queue->port;
  a.address = queue->wqes.address;
  a.log_entries = queue->wqes.log_entries;
  a.log_stride = queue->wqes.log_stride;
  a.limit = queue->limit;
  a.context = queue->context;
  a.xrcd = queue->xrcd;
  a.cqn = queue->cqn;
  a.posted = queue->posted;
  a.taken = queue->taken;
  a.uses = queue->uses;
  encode(a, c.body);
  return CommandStatus::Ok;
}

CommandStatus destroy_srq(Call& c) {
  SharedQueue* queue = c.contexts.find_srq(c.header.object);
  if (!queue) return CommandStatus::BadObject;
  if (!may_destroy(*queue)) return CommandStatus::Busy;
  --c.contexts.pds[queue->pd].uses;
  if (queue->is_xrc()) {
    --c.contexts.xrc_domains[queue->xrcd].uses;
    --c.contexts.cqs[queue->cqn].uses;
  }
  const u32 life = queue->life;
  *queue = {};
  queue->life = life;
  c.effect.takes_away = true;
  return CommandStatus::Ok;
}
}  // namespace hca::device
