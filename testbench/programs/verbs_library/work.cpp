// SPDX-License-Identifier: Apache-2.0
// Work requests into rings: ibv_wr_*. The send queue is locked from ibv_wr_start() on.
#include <endian.h>

#include <algorithm>
#include <cstring>

#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

namespace hca::verbs_library {
namespace {
// A datagram has an address, a request of XRC an SRQ.
bool needs_address(const Qp& qp) {
  const bool local = proto::work_row(qp.work.head.opcode)->is_local();
  return !local && (qp.service == proto::Service::Ud || qp.service == proto::Service::Xrc);
}

// Completes the work request that was begun last.
void finish(Qp& qp) {
  if (!qp.has_work) return;
  qp.has_work = false;
  if (needs_address(qp) && !qp.work.addressed && !qp.error) qp.error = EINVAL;
  if (!qp.error) qp.error = write_work(context_of(qp.qp_base.context), qp, qp.work);
}

WorkRequest& begin(ibv_qp_ex* ex, proto::WorkOpcode opcode) {
  Qp& qp = qp_of(ex);
  finish(qp);
  qp.has_work = true;
  WorkRequest& work = qp.work;
  work.wr_id = ex->wr_id;
  work.binds = work.addressed = false;
  work.head = {};
  work.head.opcode = opcode;
  work.head.signaled = ex->wr_flags & IBV_SEND_SIGNALED;
  work.head.solicited = ex->wr_flags & IBV_SEND_SOLICITED;
  work.head.fence = ex->wr_flags & IBV_SEND_FENCE;
  return work;
}
WorkRequest& begin_remote(ibv_qp_ex* ex, proto::WorkOpcode opcode, u32 rkey, u64 address) {
  WorkRequest& work = begin(ex, opcode);
  work.head.rkey = rkey;
  work.head.remote_va = address;
  return work;
}

void start(ibv_qp_ex* ex) {
  Qp& qp = qp_of(ex);
  const bool inherited = is_inherited(qp.qp_base.context);
  const bool again = !inherited && qp.send.lock.is_mine();
  if (inherited) {
    qp.send.lock.forget();
    qp.opened = 0;
  } else
    clock::catch_up();
  qp.send.lock.lock();
  if (qp.opened++) {  // what was begun before is not posted either
    qp.error = EBUSY;
    return;
  }
  qp.begun_at = qp.send.posted;
  qp.has_work = false;
  const ibv_qp_state state = qp.qp_base.state;
  qp.error = state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR ? EINVAL : 0;
  if (again) qp.error = EBUSY;  // a handler of a signal, in a call that posts
  if (inherited) qp.error = EPERM;
}
// False: it was not begun, or is within another.
bool end(Qp& qp) {
  if (!qp.opened || !qp.send.lock.is_mine()) return false;
  if (!--qp.opened) return true;
  qp.send.lock.unlock();
  return false;
}
int complete(ibv_qp_ex* ex) {
  Qp& qp = qp_of(ex);
  if (!end(qp)) return told(qp.opened ? EBUSY : EINVAL);
  finish(qp);
  if (!qp.error) qp.error = failure_of(context_of(qp.qp_base.context), attach::FailVerb::PostSend);
  if (qp.error)
    qp.send.posted = qp.begun_at;
  else if (qp.send.posted != qp.begun_at)
    ring_send(context_of(qp.qp_base.context), qp);
  spend_on_sends(qp.send.posted - qp.begun_at);
  const int error = qp.error;
  qp.send.lock.unlock();
  return told(error);
}
void abort(ibv_qp_ex* ex) {
  Qp& qp = qp_of(ex);
  if (!end(qp)) return;
  qp.send.posted = qp.begun_at;
  qp.has_work = false;
  qp.send.lock.unlock();
}

template <proto::WorkOpcode kOpcode>
void plain(ibv_qp_ex* ex) {
  begin(ex, kOpcode);
}
void send_imm(ibv_qp_ex* ex, __be32 immediate) {
  begin(ex, proto::WorkOpcode::SendImmediate).head.immediate = be32toh(immediate);
}
template <proto::WorkOpcode kOpcode>
void invalidate(ibv_qp_ex* ex, u32 rkey) {
  begin(ex, kOpcode).head.immediate = rkey;
}
template <proto::WorkOpcode kOpcode>
void remote(ibv_qp_ex* ex, u32 rkey, u64 address) {
  begin_remote(ex, kOpcode, rkey, address);
}
void write_imm(ibv_qp_ex* ex, u32 rkey, u64 address, __be32 immediate) {
  begin_remote(ex, proto::WorkOpcode::RdmaWriteImmediate, rkey, address).head.immediate =
      be32toh(immediate);
}
void bind_window(ibv_qp_ex* ex, ibv_mw* mw, u32 rkey, const ibv_mw_bind_info* info) {
  WorkRequest& work = begin(ex, proto::WorkOpcode::BindMw);
  if (const int error = set_bind_2(qp_of(ex), work, mw, rkey, *info))
    qp_of(ex).error = error;
  else if (work.head.rkey)
    mw->rkey = work.head.rkey;
}
void compare_swap(ibv_qp_ex* ex, u32 rkey, u64 address, u64 compare, u64 swap) {
  begin_remote(ex, proto::WorkOpcode::CompareSwap, rkey, address).atomic = {swap, compare};
}
void fetch_add(ibv_qp_ex* ex, u32 rkey, u64 address, u64 add) {
  begin_remote(ex, proto::WorkOpcode::FetchAdd, rkey, address).atomic = {add, 0};
}
void atomic_write(ibv_qp_ex* ex, u32 rkey, u64 address, const void* value) {
  WorkRequest& work = begin_remote(ex, proto::WorkOpcode::AtomicWrite, rkey, address);
  work.head.inline_data = true;
  work.head.inline_bytes = proto::kAtomicBytes;
  std::memcpy(work.data.data(), value, proto::kAtomicBytes);
}

// ---- What belongs to the one begun last
void set_sge_list(ibv_qp_ex* ex, std::size_t count, const ibv_sge* list) {
  Qp& qp = qp_of(ex);
  if (count > qp.send.max_sge) {
    qp.error = EINVAL;
    return;
  }
  qp.work.head.sge_count = u8(count);
  for (std::size_t i = 0; i < count; ++i)
    qp.work.sges[i] = {list[i].addr, list[i].lkey, list[i].length};
}
void set_sge(ibv_qp_ex* ex, u32 lkey, u64 address, u32 length) {
  const ibv_sge sge{address, length, lkey};
  set_sge_list(ex, 1, &sge);
}
void set_inline_data_list(ibv_qp_ex* ex, std::size_t count, const ibv_data_buf* list) {
  Qp& qp = qp_of(ex);
  const std::size_t room = std::min<std::size_t>(qp.send.max_inline, WorkRequest::kMostInline);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].length > room - bytes) {
      qp.error = EINVAL;
      return;
    }
    std::memcpy(qp.work.data.data() + bytes, list[i].addr, list[i].length);
    bytes += list[i].length;
  }
  qp.work.head.inline_data = true;
  qp.work.head.inline_bytes = u32(bytes);
}
void set_inline_data(ibv_qp_ex* ex, void* address, std::size_t length) {
  const ibv_data_buf data{address, length};
  set_inline_data_list(ex, 1, &data);
}
void set_ud_addr(ibv_qp_ex* ex, ibv_ah* ah, u32 qpn, u32 qkey) {
  qp_of(ex).work.addressed = ah && ah->context == qp_of(ex).qp_base.context;
  if (!qp_of(ex).work.addressed) return;
  proto::AddressHandle& path = qp_of(ex).work.path;
  path = static_cast<Ah*>(ah)->path;
  path.dest_qpn = qpn & 0xff'ffff;
  path.qkey = qkey;
}

void set_xrc_srqn(ibv_qp_ex* ex, u32 number) {
  WorkRequest& work = qp_of(ex).work;
  work.addressed = true;
  work.head.remote_srqn = number & 0xff'ffff;
}

// ---- What the queue pair was not made for: ibv_wr_complete() says so.
template <class... Arguments>
using Builder = void (*)(ibv_qp_ex*, Arguments...);
template <class... Arguments>
Builder<Arguments...> refusal(Builder<Arguments...>) {
  return [](ibv_qp_ex* ex, Arguments...) {
    finish(qp_of(ex));
    qp_of(ex).error = EOPNOTSUPP;
  };
}
template <auto kMember, auto kFunction>
void give(ibv_qp_ex& qp, bool wanted) {
  qp.*kMember = wanted ? kFunction : refusal(kFunction);
}

struct BuilderRow {
  u64 flag;  // of ibv_qp_create_send_ops_flags
  void (*give)(ibv_qp_ex& qp, bool wanted);
};
using proto::WorkOpcode;
constexpr std::array kBuilders{
    // clang-format off
    BuilderRow{IBV_QP_EX_WITH_SEND,                 give<&ibv_qp_ex::wr_send,             plain<WorkOpcode::Send>>},
    BuilderRow{IBV_QP_EX_WITH_SEND_WITH_IMM,        give<&ibv_qp_ex::wr_send_imm,         send_imm>},
    BuilderRow{IBV_QP_EX_WITH_SEND_WITH_INV,        give<&ibv_qp_ex::wr_send_inv,         invalidate<WorkOpcode::SendInvalidate>>},
    BuilderRow{IBV_QP_EX_WITH_RDMA_WRITE,           give<&ibv_qp_ex::wr_rdma_write,       remote<WorkOpcode::RdmaWrite>>},
    BuilderRow{IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,  give<&ibv_qp_ex::wr_rdma_write_imm,   write_imm>},
    BuilderRow{IBV_QP_EX_WITH_RDMA_READ,            give<&ibv_qp_ex::wr_rdma_read,        remote<WorkOpcode::RdmaRead>>},
    BuilderRow{IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,   give<&ibv_qp_ex::wr_atomic_cmp_swp,   compare_swap>},
    BuilderRow{IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, give<&ibv_qp_ex::wr_atomic_fetch_add, fetch_add>},
    BuilderRow{IBV_QP_EX_WITH_BIND_MW,              give<&ibv_qp_ex::wr_bind_mw,          bind_window>},
    BuilderRow{IBV_QP_EX_WITH_LOCAL_INV,            give<&ibv_qp_ex::wr_local_inv,        invalidate<WorkOpcode::LocalInvalidate>>},
    BuilderRow{IBV_QP_EX_WITH_ATOMIC_WRITE,         give<&ibv_qp_ex::wr_atomic_write,     atomic_write>},
    // clang-format on
};
static_assert(kBuilders.size() == kWork.size());
}  // namespace

void set_work_functions(ibv_qp_ex& qp, u64 flags) {
  qp.wr_start = start;
  qp.wr_complete = complete;
  qp.wr_abort = abort;
  for (const BuilderRow& row : kBuilders) row.give(qp, flags & row.flag);
  qp.wr_set_sge = set_sge;
  qp.wr_set_sge_list = set_sge_list;
  qp.wr_set_inline_data = set_inline_data;
  qp.wr_set_inline_data_list = set_inline_data_list;
  qp.wr_set_ud_addr = set_ud_addr;
  qp.wr_set_xrc_srqn = set_xrc_srqn;
}
}  // namespace hca::verbs_library
