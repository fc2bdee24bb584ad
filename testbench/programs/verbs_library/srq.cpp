// SPDX-License-Identifier: Apache-2.0
// Shared receive queues.
#include <bit>
#include <cstring>
#include <memory>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

namespace {
// The limit is only set by ibv_modify_srq().
int create_at_server(Context& context, Srq& srq, const ibv_pd& pd, const ibv_xrcd* xrcd) {
  proto::SrqAttributes create;
  create.address = srq.queue.offset;
  create.log_entries = srq.queue.log_entries;
  create.log_stride = srq.queue.log_stride;
  attach::Request request;
  request.names[0] = pd.handle;
  if (srq.cq)
    request.names[1] = static_cast<const Xrcd*>(xrcd)->handle, request.names[2] = srq.cq->handle;
  request.cookie = srq.cookie = give_cookie(context, &srq);
  attach::Reply reply;
  const int error = command(context, CommandOpcode::CreateSrq, request, create, reply);
  if (error) take_cookie(context, srq.cookie);
  srq.handle = reply.handle;
  srq.number = reply.number;
  if (error || !srq.cq) return error;
  const std::lock_guard numbers(context.numbers);
  context.xrc_srqs[srq.number] = &srq;
  return 0;
}

// errno's values.
int check(ibv_context* context, const ibv_srq_init_attr_ex& a) {
  constexpr u32 kXrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  const bool is_xrc = (a.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && a.srq_type != IBV_SRQT_BASIC;
  const u32 known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | (is_xrc ? kXrc : 0);
  if (a.comp_mask & ~known) return EOPNOTSUPP;
  if (is_xrc && (a.srq_type != IBV_SRQT_XRC || !context_of(context).info.attributes.xrc))
    return EOPNOTSUPP;
  const auto is_here = [&](u32 bit, const auto* object) {
    return (a.comp_mask & bit) && object && object->context == context;
  };
  if (!is_here(IBV_SRQ_INIT_ATTR_PD, a.pd)) return EINVAL;
  if (is_xrc && (!is_here(IBV_SRQ_INIT_ATTR_XRCD, a.xrcd) || !is_here(IBV_SRQ_INIT_ATTR_CQ, a.cq)))
    return EINVAL;
  return !a.attr.max_wr || a.attr.max_sge > WorkRequest::kMostSges ? EINVAL : 0;
}

// The WQEs that are not completed, in a ring of another size. False: it has no room for them, each
// at the place of its index.
bool copy_outstanding(Context& context, const Queue& from, Queue& to) {
  to.posted = from.posted;
  to.max_sge = from.max_sge;
  for (u32 index = from.posted - from.entries(); index != from.posted; ++index) {
    const u32 old_slot = from.slot(index), slot = to.slot(index);
    if (!from.in_use[old_slot]) continue;
    if (from.posted - index > to.entries()) return false;
    to.in_use[slot] = true, to.wr_ids[slot] = from.wr_ids[old_slot];
    std::memcpy(context.shared + to.offset + (u64{slot} << to.log_stride),
                context.shared + from.offset + (u64{old_slot} << from.log_stride),
                std::size_t{1} << from.log_stride);
  }
  return true;
}

// errno's values.
int make_resized(Context& context, const Queue& queue, u32 wrs, Queue& resized) {
  const u32 bytes = 1u << queue.log_stride;
  if (const int error = make_queue(context, resized, wrs, bytes, proto::kReceiveStrides))
    return error;
  if (copy_outstanding(context, queue, resized)) return 0;
  free_queue(context, resized);
  return EINVAL;
}

int change_at_server(Context& context, const Srq& srq, const proto::SrqAttributes& change) {
  attach::Request request;
  request.object = srq.handle;
  attach::Reply reply;
  return command(context, CommandOpcode::ModifySrq, request, change, reply);
}

// Replaces the ring by one of this many entries; `change`: additional changes. EINVAL: it has no
// room for the outstanding receives.
int replace_ring(Context& context, Srq& srq, u32 entries, proto::SrqAttributes change) {
  Queue resized;
  if (const int error = make_resized(context, srq.queue, entries, resized)) return error;
  change.mask |= proto::kSrqRing;
  change.address = resized.offset;
  change.log_entries = resized.log_entries;
  change.log_stride = resized.log_stride;
  const int error = change_at_server(context, srq, change);
  free_queue(context, error ? resized : srq.queue);
  if (error) return error;
  srq.queue.offset = resized.offset;
  srq.queue.log_entries = resized.log_entries;
  srq.queue.wr_ids.swap(resized.wr_ids);
  srq.queue.in_use.swap(resized.in_use);
  return 0;
}

// The smallest ring with `max_wr` entries and room for the outstanding receives, each WQE at the
// place of its index.
int resize(Context& context, Srq& srq, u32 max_wr, const proto::SrqAttributes& change) {
  const u32 now = srq.queue.entries();
  for (u32 entries = max_wr; entries < now; entries *= 2) {
    const int error = replace_ring(context, srq, entries, change);
    if (error != EINVAL) return error;
  }
  if (max_wr > now) return replace_ring(context, srq, max_wr, change);
  return change.mask ? change_at_server(context, srq, change) : 0;
}

// errno's values.
int change_srq(Context& context, Srq& srq, const ibv_srq_attr& wanted, int mask) {
  const std::lock_guard guard(srq.queue.lock);
  const u32 most = 1u << context.info.attributes.max_log_work_entries;
  u32 max_wr = srq.max_wr;
  if (mask & IBV_SRQ_MAX_WR) {
    if (!wanted.max_wr || wanted.max_wr > most) return EINVAL;
    max_wr = std::bit_ceil(wanted.max_wr);
    if (srq.outstanding > max_wr) return EINVAL;
  }
  proto::SrqAttributes change;
  if (mask & IBV_SRQ_LIMIT) {
    if (wanted.srq_limit > (mask & IBV_SRQ_MAX_WR ? wanted.max_wr : max_wr)) return EINVAL;
    change.mask = proto::kSrqLimit;
    change.limit = wanted.srq_limit;
  }
  const int error = max_wr != srq.max_wr ? resize(context, srq, max_wr, change)
                    : change.mask        ? change_at_server(context, srq, change)
                                         : 0;
  if (!error) srq.max_wr = max_wr;
  return error;
}
}  // namespace

// A completed WQE does not need its slot any more. A message that takes long, or is still in
// flight, does: then there is room in a ring of twice the size.
int free_slot(Srq& srq, std::unique_lock<Lock>& guard) {
  Context& context = context_of(srq.context);
  guard.unlock();
  const std::set<u16> complete = unpolled_receives(context, srq);
  guard.lock();
  Queue& queue = srq.queue;
  for (u32 index = queue.posted - queue.entries(); index != queue.posted; ++index) {
    const u32 slot = queue.slot(index);
    if (!queue.in_use[slot] || !complete.contains(u16(index))) continue;
    srq.unpolled[u16(index)] = queue.wr_ids[slot];
    queue.in_use[slot] = false;
  }
  if (!queue.in_use[queue.slot(queue.posted)]) return 0;
  if (queue.log_entries == context.info.attributes.max_log_work_entries) return ENOMEM;
  return replace_ring(context, srq, 2 * queue.entries(), {});
}

ibv_srq* create_srq_ex(ibv_context* plain, ibv_srq_init_attr_ex* attributes) {
  if (const int error = check(plain, *attributes)) return fail(error);
  ibv_srq_attr& attr = attributes->attr;
  Context& context = context_of(plain);
  auto made = std::make_unique<Srq>();
  if (attributes->comp_mask & IBV_SRQ_INIT_ATTR_CQ) made->cq = &cq_of(attributes->cq);
  made->queue.max_sge = std::max(attr.max_sge, 1u);
  int error = make_queue(context, made->queue, attr.max_wr,
                         proto::kReceiveWqeBytes + made->queue.max_sge * proto::kSgeBytes,
                         proto::kReceiveStrides);
  if (!error) error = create_at_server(context, *made, *attributes->pd, attributes->xrcd);
  if (error) {
    free_queue(context, made->queue);
    return fail(error);
  }
  attr.max_wr = made->max_wr = made->queue.entries();
  attr.max_sge = made->queue.max_sge;
  made->context = plain;
  made->pd = attributes->pd;
  made->srq_context = attributes->srq_context;
  use(made->pd);
  pthread_mutex_init(&made->mutex, nullptr);
  pthread_cond_init(&made->cond, nullptr);
  return made.release();
}

int get_srq_num(ibv_srq* srq, u32* number) {
  *number = srq_of(srq).number;
  return 0;
}
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  if (!pd) return fail(EINVAL);
  ibv_srq_init_attr_ex all{};
  all.srq_context = attributes->srq_context;
  all.attr = attributes->attr;
  all.comp_mask = IBV_SRQ_INIT_ATTR_PD;
  all.pd = pd;
  ibv_srq* const made = create_srq_ex(pd->context, &all);
  if (made) attributes->attr = all.attr;
  return made;
}
HCA_VERB int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  if (is_inherited(srq->context)) return told(EPERM);
  if (mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) return told(EINVAL);
  if (srq_of(srq).queue.lock.is_mine()) return told(EBUSY);
  clock::settle();
  return told(change_srq(context_of(srq->context), srq_of(srq), *attributes, mask));
}
HCA_VERB int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  attach::Reply reply;
  if (const int error =
          command(context_of(srq->context), CommandOpcode::QuerySrq, srq->handle, reply))
    return error;
  const Queue& queue = srq_of(srq).queue;
  const auto found = proto::decode<proto::SrqAttributes>(reply.body.data());
  *attributes = {srq_of(srq).max_wr, queue.max_sge, found.limit};
  return 0;
}
HCA_VERB int ibv_destroy_srq(ibv_srq* srq) {
  if (!is_inherited(srq->context)) {
    Context& context = context_of(srq->context);
    attach::Reply reply;
    if (const int error = command(context, CommandOpcode::DestroySrq, srq->handle, reply))
      return error;
    take_cookie(context, srq_of(srq).cookie);
    await_acknowledged(*srq, srq->events_completed, srq_of(srq).async_events);
    if (srq_of(srq).cq) {
      const std::lock_guard numbers(context.numbers);
      context.xrc_srqs.erase(srq_of(srq).number);
    }
    if (srq_of(srq).cq) forget_completions(srq_of(srq));
    free_queue(context, srq_of(srq).queue);
    leave(srq->pd);
  }
  delete &srq_of(srq);
  return 0;
}
