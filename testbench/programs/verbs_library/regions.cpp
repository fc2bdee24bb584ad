// SPDX-License-Identifier: Apache-2.0
// Memory regions and memory windows.
#include "model/proto/memory/key.h"
#include "model/proto/memory/memory_region.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace hca::verbs_library {
using proto::CommandOpcode;

// ---- Windows
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  const WindowWord* word = find_row(kWindows, &WindowWord::type, type);
  if (!word) return fail(EINVAL);
  Context& context = context_of(pd->context);
  if (!(context.info.attributes.window_types & word->offered)) return fail(EOPNOTSUPP);
  attach::Request request;
  request.names[0] = pd->handle;
  proto::MwAttributes window;
  window.type = word->kind;
  attach::Reply reply;
  if (const int error = command(context, CommandOpcode::AllocMw, request, window, reply))
    return fail(error);
  use(pd);
  return new ibv_mw{pd->context, pd, reply.number, reply.handle, type};
}

int dealloc_mw(ibv_mw* mw) {
  attach::Request request;
  request.object = mw->handle;
  request.names[0] = mw->rkey;
  attach::Reply reply;
  const int error = is_inherited(mw->context)
                        ? 0
                        : command(context_of(mw->context), CommandOpcode::DeallocMw, request,
                                  proto::MwAttributes{}, reply);
  if (error) return error;
  leave(mw->pd);
  delete mw;
  return 0;
}

namespace {
// A window has no local rights: programs that request them get none. The HCA refuses unknown
// rights.
proto::Rights window_access(const ibv_mw_bind_info& info) {
  const auto access = access_of(info.mw_access_flags & ~unsigned(IBV_ACCESS_LOCAL_WRITE));
  if (!access || !info.mr) return access.value_or(proto::kFastRegister);
  return with_atomic_write(*access, context_of(info.mr->context).info.attributes);
}
}  // namespace

void set_bind(WorkRequest& work, u32 rkey, const ibv_mw_bind_info& info) {
  work.head.rkey = rkey;
  work.memory = {info.addr, info.length, 0, info.mr ? info.mr->lkey : 0, window_access(info), 0};
}

// MW-12: of the key that is wanted the key byte is the program's, the index the window's. What is
// none of this device is none that the HCA knows: it refuses the bind (MW-22).
int set_bind_2(const Qp& qp, WorkRequest& work, ibv_mw* mw, u32 rkey,
               const ibv_mw_bind_info& info) {
  if (!mw || mw->type == IBV_MW_TYPE_1) return EINVAL;
  const ibv_context* const here = qp.qp_base.context;
  const bool is_ours = mw->context == here && mw->type == IBV_MW_TYPE_2;
  set_bind(work, is_ours ? proto::make_key(proto::key_index(mw->rkey), proto::key_byte(rkey)) : 0,
           info);
  if (info.mr && info.mr->context != here) work.memory.region_key = 0;
  return 0;
}

namespace {
// MW-7, MW-12: the next key byte, and not the reserved key (G22.4).
u32 next_key(u32 key) {
  const u32 next = proto::make_key(proto::key_index(key), u8(proto::key_byte(key) + 1));
  return next == proto::kReservedLkey ? next + 1 : next;
}
}  // namespace

// In the order of the send queue: work requests posted before still see the old key (MW-8).
int bind_mw(ibv_qp* plain, ibv_mw* mw, ibv_mw_bind* bind) {
  Qp& qp = qp_of(plain);
  Context& context = context_of(plain->context);
  constexpr unsigned kFlags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
  if (mw->type != IBV_MW_TYPE_1 || !is_same_domain(plain->pd, mw->pd) ||
      (bind->send_flags & ~kFlags) || qp.service == proto::Service::Ud || !may_send(plain->state) ||
      (bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED))  // G22.6
    return told(EINVAL);
  if (is_inherited(plain->context)) return told(EPERM);
  if (qp.send.lock.is_mine()) return told(EBUSY);
  if (const int error = failure_of(context, attach::FailVerb::BindMw)) return told(error);
  clock::settle();
  const std::lock_guard guard(qp.send.lock);
  if (qp.send.posted - qp.send.completed >= qp.send.entries()) return told(ENOMEM);
  WorkRequest work;
  work.wr_id = bind->wr_id;
  work.binds = true;
  work.head.opcode = proto::WorkOpcode::BindMw;
  mw->rkey = next_key(mw->rkey);
  set_bind(work, mw->rkey, bind->bind_info);
  work.head.signaled = bind->send_flags & IBV_SEND_SIGNALED;
  work.head.fence = bind->send_flags & IBV_SEND_FENCE;
  write_work(context, qp, work);
  ring_send(context, qp);
  spend_on_sends(1);
  return 0;
}

// ---- Regions
namespace {
ibv_mr* register_region(ibv_pd* pd, void* address, std::size_t length, u64 iova, unsigned flags) {
  const auto wanted = access_of(flags & ~kHints);
  if (!wanted) return fail(EOPNOTSUPP);
  const auto access = with_atomic_write(*wanted, context_of(pd->context).info.attributes);
  if (!length) return fail(EINVAL);
  if (!is_mapped(reinterpret_cast<u64>(address), length, flags & IBV_ACCESS_LOCAL_WRITE))
    return fail(EFAULT);
  if (flags & IBV_ACCESS_ZERO_BASED) iova = 0;
  attach::Request request;
  request.names[0] = pd->handle;
  attach::Reply reply;
  const proto::MrAttributes mr{iova, length, reinterpret_cast<u64>(address), 0, 0, access};
  if (const int error =
          command(context_of(pd->context), CommandOpcode::RegisterMr, request, mr, reply))
    return fail(error);
  auto* const made = new Mr;
  static_cast<ibv_mr&>(*made) = {pd->context,  pd,           address,     length,
                                 reply.handle, reply.number, reply.number};
  made->iova = iova;
  made->access = access;
  use(pd);
  if (hca_time_may_be_written && (flags & IBV_ACCESS_LOCAL_WRITE))
    hca_time_may_be_written(reinterpret_cast<u64>(address), length);
  return made;
}

int refuse_change(int error) {
  errno = error;
  return IBV_REREG_MR_ERR_INPUT;
}
}  // namespace
}  // namespace hca::verbs_library

using namespace hca;
using namespace hca::verbs_library;

HCA_VERB ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, u64 iova,
                                  unsigned flags) {
  return register_region(pd, address, length, iova, flags);
}
HCA_VERB ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int flags) {
  return register_region(pd, address, length, reinterpret_cast<u64>(address), unsigned(flags));
}
HCA_VERB ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, u64 iova,
                                 int flags) {
  return register_region(pd, address, length, iova, unsigned(flags));
}
HCA_VERB int ibv_rereg_mr(ibv_mr* plain, int flags, ibv_pd* pd, void* address, std::size_t length,
                          int access) {
  auto& mr = static_cast<Mr&>(*plain);
  if (!flags || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED)) return refuse_change(EINVAL);
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) && (!address || !length))
    return refuse_change(EINVAL);
  if ((flags & IBV_REREG_MR_CHANGE_PD) && (!pd || pd->context != plain->context))
    return refuse_change(EINVAL);
  Mr changed = mr;
  if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
    changed.addr = address;
    changed.length = length;
    changed.iova = mr.access & proto::kZeroBased ? 0 : reinterpret_cast<u64>(address);
  }
  if (flags & IBV_REREG_MR_CHANGE_PD) changed.pd = pd;
  if (flags & IBV_REREG_MR_CHANGE_ACCESS) {
    const auto given = access_of(unsigned(access) & ~kHints);
    if (!given) return refuse_change(EOPNOTSUPP);
    changed.access = with_atomic_write(*given, context_of(mr.context).info.attributes);
  }
  if (!is_mapped(reinterpret_cast<u64>(changed.addr), changed.length,
                 changed.access & proto::kLocalWrite))
    return refuse_change(EFAULT);
  attach::Request request;
  request.object = mr.handle;
  request.names[0] = changed.pd->handle;
  const proto::MrAttributes wanted{
      changed.iova, changed.length, reinterpret_cast<u64>(changed.addr), 0, 0, changed.access};
  attach::Reply reply;
  if (const int error =
          command(context_of(mr.context), CommandOpcode::ReregisterMr, request, wanted, reply)) {
    errno = error;
    return IBV_REREG_MR_ERR_CMD;
  }
  use(changed.pd);
  leave(mr.pd);
  mr = changed;
  return 0;
}
HCA_VERB int ibv_dereg_mr(ibv_mr* mr) {
  attach::Reply reply;
  const int error =
      is_inherited(mr->context)
          ? 0
          : command(context_of(mr->context), CommandOpcode::DeregisterMr, mr->handle, reply);
  if (error) return error;
  leave(mr->pd);
  delete static_cast<Mr*>(mr);
  return 0;
}
