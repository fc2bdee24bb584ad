// SPDX-License-Identifier: Apache-2.0
// Memory regions and memory windows.
#include "testbench/verbs_library/library.h"
#include "testbench/verbs_library/tables.h"

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
  return new ibv_mw{pd->context, pd, reply.number, reply.handle, type};
}

int dealloc_mw(ibv_mw* mw) {
  attach::Request request;
  request.object = mw->handle, request.names[0] = mw->rkey;
  attach::Reply reply;
  const int error = is_inherited(mw->context)
                        ? 0
                        : command(context_of(mw->context), CommandOpcode::DeallocMw, request,
                                  proto::MwAttributes{}, reply);
  if (!error) delete mw;
  return error;
}

namespace {
// A window has no local rights: programs that ask for them get none. Rights that there are not are
// for the HCA to refuse.
u8 window_access(unsigned flags) {
  return access_of(flags & ~unsigned(IBV_ACCESS_LOCAL_WRITE)).value_or(proto::kFastRegister);
}
}  // namespace

void set_bind(WorkRequest& work, u32 rkey, const ibv_mw_bind_info& info) {
  work.head.rkey = rkey;
  work.memory = {
      info.addr, info.length, 0, info.mr ? info.mr->lkey : 0, window_access(info.mw_access_flags),
      0};
}

namespace {
// A window is made for the domain that nobody binds: to invalidate its key does nothing.
int make_idle_window(Pd& pd) {
  const std::lock_guard guard(context_of(pd.context).mutex);
  if (pd.window) return 0;
  ibv_mw* const made = alloc_mw(&pd, IBV_MW_TYPE_2);
  if (!made) return errno;
  pd.window = made->handle, pd.window_key = made->rkey;
  delete made;
  return 0;
}
}  // namespace

namespace {
bool flushes(Context& context, const Qp& qp) {
  attach::Reply reply;
  if (command(context, CommandOpcode::QueryQp, qp.qp_base.handle, reply)) return false;
  const auto state = proto::decode<proto::QpAttributes>(reply.body.data()).state;
  return state == proto::QpState::Error || state == proto::QpState::Sqe;
}

// errno's values; EINVAL: the completion tells that it was not bound.
int bind_by_command(Context& context, const Qp& qp, ibv_mw& mw, const ibv_mw_bind_info& info) {
  if (flushes(context, qp)) return EINVAL;
  attach::Request request;
  request.object = mw.handle, request.names[0] = info.length ? info.mr->handle : 0;
  proto::MwAttributes window;
  window.start = info.addr, window.bytes = info.length,
  window.access = window_access(info.mw_access_flags);
  attach::Reply reply;
  const int error = command(context, CommandOpcode::BindMw, request, window, reply);
  if (!error) mw.rkey = proto::decode<proto::MwAttributes>(reply.body.data()).key;
  return error;
}
}  // namespace

// The HCA binds windows of type 1 by a command. A work request that does nothing stands in the
// send queue for it, and completes in its place; if the command is refused it is one that the HCA
// refuses too: of the kind that binds windows of type 2.
int bind_mw(ibv_qp* plain, ibv_mw* mw, ibv_mw_bind* bind) {
  Qp& qp = qp_of(plain);
  Context& context = context_of(plain->context);
  constexpr unsigned kFlags = IBV_SEND_FENCE | IBV_SEND_SIGNALED;
  if (mw->type != IBV_MW_TYPE_1 || plain->pd != mw->pd || (bind->send_flags & ~kFlags) ||
      qp.service == proto::Service::Ud || !may_send(plain->state))
    return EINVAL;
  if (const int error = make_idle_window(static_cast<Pd&>(*plain->pd))) return error;
  clock::settle();
  const std::lock_guard guard(qp.send.lock);
  if (qp.send.posted - qp.send.completed >= qp.send.entries()) return ENOMEM;
  const int error = bind_by_command(context, qp, *mw, bind->bind_info);
  if (error && error != EINVAL) return error;
  WorkRequest work;
  work.wr_id = bind->wr_id, work.binds = true;
  work.head.opcode = error ? proto::WorkOpcode::BindMw : proto::WorkOpcode::LocalInvalidate;
  work.head.immediate = static_cast<Pd*>(plain->pd)->window_key;
  if (error) set_bind(work, mw->rkey, bind->bind_info);
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
  const auto access = access_of(flags & ~kHints);
  if (!access) return fail(EOPNOTSUPP);
  if (!length) return fail(EINVAL);
  if (!is_mapped(reinterpret_cast<u64>(address), length, flags & IBV_ACCESS_LOCAL_WRITE))
    return fail(EFAULT);
  if (flags & IBV_ACCESS_ZERO_BASED) iova = 0;
  attach::Request request;
  request.names[0] = pd->handle;
  attach::Reply reply;
  const proto::MrAttributes mr{iova, length, reinterpret_cast<u64>(address), 0, 0, *access};
  if (const int error =
          command(context_of(pd->context), CommandOpcode::RegisterMr, request, mr, reply))
    return fail(error);
  auto* const made = new Mr;
  static_cast<ibv_mr&>(*made) = {pd->context,  pd,           address,     length,
                                 reply.handle, reply.number, reply.number};
  made->iova = iova, made->access = *access;
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
    changed.addr = address, changed.length = length;
    changed.iova = mr.access & proto::kZeroBased ? 0 : reinterpret_cast<u64>(address);
  }
  if (flags & IBV_REREG_MR_CHANGE_PD) changed.pd = pd;
  if (flags & IBV_REREG_MR_CHANGE_ACCESS) {
    const auto given = access_of(unsigned(access) & ~kHints);
    if (!given) return refuse_change(EOPNOTSUPP);
    changed.access = *given;
  }
  if (!is_mapped(reinterpret_cast<u64>(changed.addr), changed.length,
                 changed.access & proto::kLocalWrite))
    return refuse_change(EFAULT);
  attach::Request request;
  request.object = mr.handle, request.names[0] = changed.pd->handle;
  const proto::MrAttributes wanted{
      changed.iova, changed.length, reinterpret_cast<u64>(changed.addr), 0, 0, changed.access};
  attach::Reply reply;
  if (const int error =
          command(context_of(mr.context), CommandOpcode::ReregisterMr, request, wanted, reply)) {
    errno = error;
    return IBV_REREG_MR_ERR_CMD;
  }
  mr = changed;
  return 0;
}
HCA_VERB int ibv_dereg_mr(ibv_mr* mr) {
  attach::Reply reply;
  const int error =
      is_inherited(mr->context)
          ? 0
          : command(context_of(mr->context), CommandOpcode::DeregisterMr, mr->handle, reply);
  if (!error) delete static_cast<Mr*>(mr);
  return error;
}
