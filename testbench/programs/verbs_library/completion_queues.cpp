// SPDX-License-Identifier: Apache-2.0
// Completion queues: made, resized, destroyed.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
using proto::CommandOpcode;

namespace {
// The flags that create_cq_ex() supports.
constexpr u64 kFlags = u64{IBV_WC_STANDARD_FLAGS} | u64{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP} |
                       u64{IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};

// The logarithm of the ring for this many entries: twice as many, because the consumer index is
// sent to the HCA only now and then. Empty: zero or too many.
std::optional<u8> log_entries_for(const Context& context, int entries) {
  const u32 most = 1u << (context.info.attributes.max_log_queue_entries - 1);
  if (entries < 1 || u32(entries) > most) return std::nullopt;
  return u8(std::bit_width(std::max(2 * u32(entries), 4u) - 1));
}

// Room for the ring, and for the times of its CQEs if they get some. errno's values.
int take_rings(Context& context, Cq& cq, bool stamped) {
  const StateGuard guard(context.mutex);
  cq.offset = context.rings.take(cq.bytes());
  if (!cq.offset) return ENOMEM;
  if (!stamped || (cq.stamps = context.rings.take(cq.stamp_bytes()))) return 0;
  context.rings.give_back(cq.offset, cq.bytes());
  return ENOMEM;
}
void give_rings_back(Context& context, const Cq& cq) {
  const StateGuard guard(context.mutex);
  context.rings.give_back(cq.offset, cq.bytes());
  if (cq.stamps) context.rings.give_back(cq.stamps, cq.stamp_bytes());
}

// No entry from the consumer index on is new.
void clear_ring(const Cq& cq) {
  for (u32 index = cq.consumer; index != cq.consumer + cq.entries(); ++index)
    entry_of(cq, index)[proto::kCqeBytes - 1] = u8(index >> cq.log_entries & 1);
}

// errno's values.
int make_cq(Context& context, Cq& cq, const ibv_cq_init_attr_ex& wanted) {
  const auto log_entries = log_entries_for(context, int(wanted.cqe));
  if (!log_entries) return EINVAL;
  cq.log_entries = *log_entries;
  const bool stamped = wanted.wc_flags & (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                          IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
  if (const int error = take_rings(context, cq, stamped)) return error;
  clear_ring(cq);
  attach::Request request;
  request.names[0] = wanted.channel ? static_cast<Channel*>(wanted.channel)->handle : 0;
  request.cookie = cq.cookie = give_cookie(context, &cq);
  request.stamps = cq.stamps;
  const proto::QueueAttributes attributes{.address = cq.offset, .log_entries = cq.log_entries};
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::CreateCq, request, attributes, reply)) {
    take_cookie(context, cq.cookie);
    give_rings_back(context, cq);
    return error;
  }
  cq.number = reply.number;
  cq.handle = reply.handle;
  return 0;
}

// A CQE in another ring, where its turn may be another.
void copy_entry(const Cq& from, const Cq& to, u32 index) {
  u8* const entry = entry_of(to, index);
  std::memcpy(entry, entry_of(from, index), proto::kCqeBytes);
  u8& last = entry[proto::kCqeBytes - 1];
  last = u8((last & ~1) | !(index >> to.log_entries & 1));
  if (from.stamps) *stamp_of(to, index) = *stamp_of(from, index);
}
}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  if (is_inherited(context)) return fail(EPERM);
  if (attributes->comp_mask & ~u32{IBV_CQ_INIT_ATTR_MASK_FLAGS}) return fail(EOPNOTSUPP);
  if ((attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
      (attributes->flags & ~u32{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}))
    return fail(EOPNOTSUPP);
  if (attributes->wc_flags & ~kFlags) return fail(EOPNOTSUPP);
  if (attributes->channel && attributes->channel->context != context) return fail(EINVAL);
  if (attributes->comp_vector >= u32(context->num_comp_vectors)) return fail(EINVAL);
  auto made = std::make_unique<Cq>();
  made->context = context;
  made->channel = attributes->channel;
  made->cq_context = attributes->cq_context;
  if (const int error = make_cq(context_of(context), *made, *attributes)) return fail(error);
  made->cqe = int(made->entries() / 2);
  pthread_mutex_init(&made->mutex, nullptr);
  pthread_cond_init(&made->cond, nullptr);
  set_extended(*made);
  if ((attributes->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
      (attributes->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
    made->lock.leave_out();
  if (made->channel) ++made->channel->refcnt;
  return made.release();
}

int modify_cq(ibv_cq* plain, ibv_modify_cq_attr* attributes) {
  if (attributes->attr_mask != IBV_CQ_ATTR_MODERATE) return told(EINVAL);
  attach::Request request;
  request.object = plain->handle;
  const proto::QueueAttributes wanted{.mask = proto::kCqModeration,
                                      .event_count = attributes->moderate.cq_count,
                                      .event_period = attributes->moderate.cq_period};
  attach::Reply reply;
  return command(context_of(plain->context), CommandOpcode::ModifyCq, request, wanted, reply);
}
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                               ibv_comp_channel* channel, int vector) {
  ibv_cq_init_attr_ex attributes{};
  if (entries < 1 || vector < 0) return fail(EINVAL);
  attributes.cqe = u32(entries);
  attributes.cq_context = cq_context;
  attributes.channel = channel;
  attributes.comp_vector = u32(vector);
  ibv_cq_ex* const made = create_cq_ex(context, &attributes);
  return made ? cq_of(made).plain() : nullptr;
}

namespace {
// Time for the HCA to complete what it has in hand, bounded: work requests whose completion is not
// wanted never seem complete.
void await_sends(Context& context, const ibv_cq* plain) {
  constexpr int kMostCommands = 16;
  const auto has_sends = [&] {
    const StateGuard guard(context.mutex);
    return std::ranges::any_of(context.qps, [&](const Qp* qp) {
      return qp->qp_base.send_cq == plain && qp->send.posted != qp->send.completed;
    });
  };
  attach::Reply reply;
  for (int i = 0; i < kMostCommands && has_sends(); ++i)
    command(context, CommandOpcode::QueryPort, 1, reply);
}
}  // namespace

// CQEs from the returned producer index on are written to the new ring; the earlier ones are copied
// there.
HCA_VERB int ibv_resize_cq(ibv_cq* plain, int entries) {
  Cq& cq = cq_of(plain);
  Context& context = context_of(plain->context);
  const auto log_entries = log_entries_for(context, entries);
  if (is_inherited(plain->context)) return told(EPERM);
  if (!log_entries) return told(EINVAL);
  clock::settle();
  const std::lock_guard guard(cq.lock);
  if (entries < cq.cqe) await_sends(context, plain);
  if (u32(entries) < cq.entries() && is_new(cq, cq.consumer + u32(entries))) return told(EINVAL);
  if (*log_entries == cq.log_entries) return 0;
  Cq resized;
  resized.context = plain->context;
  resized.log_entries = *log_entries;
  resized.consumer = cq.consumer;
  if (const int error = take_rings(context, resized, cq.stamps)) return told(error);
  clear_ring(resized);
  attach::Request request;
  request.object = plain->handle;
  request.stamps = resized.stamps;
  const proto::QueueAttributes wanted{
      .address = resized.offset, .log_entries = resized.log_entries, .mask = proto::kCqRing};
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::ModifyCq, request, wanted, reply)) {
    give_rings_back(context, resized);
    return error;
  }
  const u32 producer = proto::decode<proto::QueueAttributes>(reply.body.data()).producer;
  for (u32 index = cq.consumer; index != producer; ++index) copy_entry(cq, resized, index);
  give_rings_back(context, cq);
  cq.offset = resized.offset;
  cq.log_entries = resized.log_entries;
  cq.stamps = resized.stamps;
  cq.cqe = int(cq.entries() / 2);
  return 0;
}

HCA_VERB int ibv_destroy_cq(ibv_cq* plain) {
  Cq& cq = cq_of(plain);
  if (!is_inherited(plain->context)) {
    Context& context = context_of(plain->context);
    if (cq.polling) return told(EBUSY);
    attach::Reply reply;
    if (const int error = command(context, CommandOpcode::DestroyCq, plain->handle, reply))
      return error;
    take_cookie(context, cq.cookie);
    give_rings_back(context, cq);
    await_acknowledged(cq, cq.comp_events_completed, cq.events);
    await_acknowledged(cq, cq.async_events_completed, cq.async_events);
  }
  if (cq.channel) --cq.channel->refcnt;
  delete &cq;
  return 0;
}
