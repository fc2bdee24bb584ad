// SPDX-License-Identifier: Apache-2.0
// Shared receive queues.
#include <bit>
#include <cstring>
#include <memory>

#include "testbench/verbs_library/library.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

namespace {
// The limit comes by ibv_modify_srq() alone.
int create_at_server(Context& context, Srq& srq, const ibv_pd& pd) {
  proto::SrqAttributes create;
  create.address = srq.queue.offset;
  create.log_entries = srq.queue.log_entries, create.log_stride = srq.queue.log_stride;
  attach::Request request;
  request.names[0] = pd.handle, request.cookie = srq.cookie = give_cookie(context, &srq);
  attach::Reply reply;
  const int error = command(context, CommandOpcode::CreateSrq, request, create, reply);
  if (error) take_cookie(context, srq.cookie);
  srq.handle = reply.handle, srq.number = reply.number;
  return error;
}

// The WQEs that are not completed, in a ring of another size. False: it has no room for them, each
// at the place of its index.
bool copy_outstanding(Context& context, const Queue& from, Queue& to) {
  to.posted = from.posted, to.max_sge = from.max_sge;
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

// errno's values.
int change_srq(Context& context, Srq& srq, const ibv_srq_attr& wanted, int mask) {
  const std::lock_guard guard(srq.queue.lock);
  proto::SrqAttributes change;
  Queue resized;
  if ((mask & IBV_SRQ_MAX_WR) && !wanted.max_wr) return EINVAL;
  const u32 wrs = mask & IBV_SRQ_MAX_WR ? wanted.max_wr : srq.queue.entries();
  if (mask & IBV_SRQ_LIMIT) {
    if (wanted.srq_limit > wrs) return EINVAL;
    change.mask |= proto::kSrqLimit, change.limit = wanted.srq_limit;
  }
  const bool resizes = std::bit_width(wrs - 1) != srq.queue.log_entries;
  if (resizes) {
    if (const int error = make_resized(context, srq.queue, wrs, resized)) return error;
    change.mask |= proto::kSrqRing, change.address = resized.offset;
    change.log_entries = resized.log_entries, change.log_stride = resized.log_stride;
  }
  if (!change.mask) return 0;
  attach::Request request;
  request.object = srq.handle;
  attach::Reply reply;
  const int error = command(context, CommandOpcode::ModifySrq, request, change, reply);
  if (resizes) free_queue(context, error ? resized : srq.queue);
  if (error || !resizes) return error;
  srq.queue.offset = resized.offset, srq.queue.log_entries = resized.log_entries;
  srq.queue.wr_ids.swap(resized.wr_ids), srq.queue.in_use.swap(resized.in_use);
  return 0;
}
}  // namespace

ibv_srq* create_srq_ex(ibv_context* plain, ibv_srq_init_attr_ex* attributes) {
  constexpr u32 kKnown = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  if (attributes->comp_mask & ~kKnown) return fail(EOPNOTSUPP);
  if ((attributes->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attributes->srq_type != IBV_SRQT_BASIC)
    return fail(EOPNOTSUPP);
  if (!(attributes->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attributes->pd) return fail(EINVAL);
  ibv_srq_attr& attr = attributes->attr;
  if (!attr.max_wr || attr.max_sge > WorkRequest::kMostSges) return fail(EINVAL);
  Context& context = context_of(plain);
  auto made = std::make_unique<Srq>();
  made->queue.max_sge = std::max(attr.max_sge, 1u);
  int error = make_queue(context, made->queue, attr.max_wr,
                         proto::kReceiveWqeBytes + made->queue.max_sge * proto::kSgeBytes,
                         proto::kReceiveStrides);
  if (!error) error = create_at_server(context, *made, *attributes->pd);
  if (error) {
    free_queue(context, made->queue);
    return fail(error);
  }
  attr.max_wr = made->queue.entries(), attr.max_sge = made->queue.max_sge;
  made->context = plain, made->pd = attributes->pd;
  made->srq_context = attributes->srq_context;
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
  ibv_srq_init_attr_ex all{};
  all.srq_context = attributes->srq_context, all.attr = attributes->attr;
  all.comp_mask = IBV_SRQ_INIT_ATTR_PD, all.pd = pd;
  ibv_srq* const made = create_srq_ex(pd->context, &all);
  if (made) attributes->attr = all.attr;
  return made;
}
HCA_VERB int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  if (is_inherited(srq->context)) return EPERM;
  if (mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) return EINVAL;
  clock::settle();
  return change_srq(context_of(srq->context), srq_of(srq), *attributes, mask);
}
HCA_VERB int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  attach::Reply reply;
  if (const int error =
          command(context_of(srq->context), CommandOpcode::QuerySrq, srq->handle, reply))
    return error;
  const Queue& queue = srq_of(srq).queue;
  const auto found = proto::decode<proto::SrqAttributes>(reply.body.data());
  *attributes = {queue.entries(), queue.max_sge, found.limit};
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
    free_queue(context, srq_of(srq).queue);
  }
  delete &srq_of(srq);
  return 0;
}
