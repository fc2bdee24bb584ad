// SPDX-License-Identifier: Apache-2.0
// Completion queues.
#include <endian.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "model/proto/wire/framing.h"
#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

namespace hca::verbs_library {
namespace {
constexpr u32 kPollsBetweenLooks = 1024;  // at whether the server is there
}  // namespace

u8* entry_of(const Cq& cq, u32 index) {
  const u32 slot = index & (cq.entries() - 1);
  return context_of(cq.context).shared + cq.offset + u64{slot} * proto::kCqeBytes;
}
attach::CqeTime* stamp_of(const Cq& cq, u32 index) {
  const u32 slot = index & (cq.entries() - 1);
  return reinterpret_cast<attach::CqeTime*>(context_of(cq.context).shared + cq.stamps) + slot;
}
// The last bit of an entry, in its last byte, changes with every turn of the ring.
bool is_new(const Cq& cq, u32 index) {
  const u8 last = __atomic_load_n(entry_of(cq, index) + proto::kCqeBytes - 1, __ATOMIC_ACQUIRE);
  return bool(last & 1) == !(index >> cq.log_entries & 1);
}

void ring_cq(Cq& cq, proto::Arm arm) { ring_cq(cq, arm, cq.consumer); }
void ring_cq(Cq& cq, proto::Arm arm, u32 seen) {
  ring(context_of(cq.context), proto::BarOffset::CqDoorbell,
       proto::CqDoorbell{arm, cq.number, seen});
  cq.reported = cq.consumer;
}

namespace {
Qp* find_qp(Context& context, u32 number) {
  const std::lock_guard guard(context.numbers);
  const auto found = context.by_number.find(number);
  return found == context.by_number.end() ? nullptr : found->second;
}

Srq* find_xrc_srq(Context& context, u32 number) {
  const std::lock_guard guard(context.numbers);
  const auto found = context.xrc_srqs.find(number);
  return found == context.xrc_srqs.end() ? nullptr : found->second;
}

// True: it belonged to ibv_bind_mw().
bool take_work(Qp& qp, const proto::Cqe& cqe, ibv_wc& wc) {
  const bool receive = proto::is_of_receive(cqe.opcode);
  if (receive && qp.qp_base.srq) {
    wc.wr_id = take_shared(srq_of(qp.qp_base.srq), cqe.wqe_index);
  } else {
    Queue& queue = receive ? qp.receive : qp.send;
    const std::lock_guard guard(queue.lock);
    wc.wr_id = queue.complete(cqe.wqe_index);
    return !receive && queue.binds[queue.slot(cqe.wqe_index)];
  }
  return false;
}

void fill_flags(const proto::Cqe& cqe, ibv_wc& wc) {
  if (cqe.has_grh) wc.wc_flags |= IBV_WC_GRH;
  if (cqe.with_immediate) {
    wc.wc_flags |= IBV_WC_WITH_IMM;
    wc.imm_data = htobe32(cqe.immediate);
  }
  if (cqe.with_invalidate) {
    wc.wc_flags |= IBV_WC_WITH_INV;
    wc.invalidated_rkey = cqe.immediate;
  }
}

// A17.4.5.2: a RoCE datagram has a network header type. The verbs have no field for it; providers
// put it where InfiniBand has the service level (UDP in bit 3, below it 0 a GRH, 1 IPv6, 2 IPv4),
// and UCX reads it there.
u8 level_of(const Context& context, const proto::Cqe& cqe) {
  constexpr u8 kUdp = 8, kIp6 = 1, kIp4 = 2;
  const auto framing = proto::Framing(context.info.framing);
  if (!cqe.has_grh || proto::is_native(framing)) return cqe.sl;
  if (framing == proto::Framing::RoceV1) return 0;
  return kUdp | (framing == proto::Framing::RoceV2Ip4 ? kIp4 : kIp6);
}

// False: it belongs to a destroyed queue pair, or SRQ of XRC, whose target may be another program's.
bool fill(Context& context, const proto::Cqe& cqe, ibv_wc& wc) {
  Srq* const srq = cqe.srqn ? find_xrc_srq(context, cqe.srqn) : nullptr;
  Qp* const qp = cqe.srqn ? nullptr : find_qp(context, cqe.qpn);
  if (!srq && !qp) return false;
  std::memset(&wc, 0, sizeof wc);
  const bool binds = qp && take_work(*qp, cqe, wc);
  if (srq) wc.wr_id = take_shared(*srq, cqe.wqe_index);
  wc.status = ibv_wc_status(cqe.status);
  wc.vendor_err = cqe.vendor_error;
  wc.qp_num = cqe.qpn;
  if (const CompletionWord* row = find_row(kCompletions, &CompletionWord::opcode, cqe.opcode))
    wc.opcode = binds ? IBV_WC_BIND_MW : row->word;
  if (cqe.status != proto::WcStatus::Success) return true;
  wc.byte_len = cqe.byte_len;
  wc.src_qp = cqe.src_qp;
  wc.slid = cqe.slid;
  wc.sl = level_of(context, cqe);
  wc.pkey_index = cqe.pkey_index;
  fill_flags(cqe, wc);
  return true;
}

// The server is gone: what was posted ends as if its queue pair were in error.
bool flush_one(Queue& queue, ibv_wc& wc, u32 number, ibv_wc_opcode opcode) {
  const std::lock_guard guard(queue.lock);
  if (queue.completed == queue.posted) return false;
  std::memset(&wc, 0, sizeof wc);
  wc.wr_id = queue.complete(u16(queue.completed));
  wc.status = IBV_WC_WR_FLUSH_ERR;
  wc.qp_num = number;
  wc.opcode = opcode;
  return true;
}
bool flush_any(Cq& cq, ibv_wc& wc) {
  Context& context = context_of(cq.context);
  const StateGuard guard(context.mutex);
  for (Qp* qp : context.qps) {
    const ibv_qp& base = qp->qp_base;
    if (base.send_cq == cq.plain() && flush_one(qp->send, wc, base.qp_num, IBV_WC_SEND))
      return true;
    if (base.recv_cq == cq.plain() && !base.srq &&
        flush_one(qp->receive, wc, base.qp_num, IBV_WC_RECV))
      return true;
  }
  return false;
}

// 1: there was one; 0: there is none; -1: there will be none any more. Under the lock.
int poll_one(Cq& cq, ibv_wc& wc) {
  Context& context = context_of(cq.context);
  cq.told = false;
  while (is_new(cq, cq.consumer)) {
    std::array<u8, proto::kCqeBytes> bytes;
    std::memcpy(bytes.data(), entry_of(cq, cq.consumer), bytes.size());
    if (cq.stamps) cq.time = *stamp_of(cq, cq.consumer);
    ++cq.consumer;
    if (cq.consumer - cq.reported >= cq.entries() / 4) ring_cq(cq, proto::Arm::None);
    if (!fill(context, proto::decode<proto::Cqe>(bytes.data()), wc)) continue;
    cq.empty = 0;
    return 1;
  }
  if (!context.lost) return 0;
  return flush_any(cq, wc) ? 1 : -1;
}
// A poll has found nothing.
void note_empty(Cq& cq) {
  if (++cq.empty % kPollsBetweenLooks == 0) server_is_there(context_of(cq.context));
}
}  // namespace

namespace {
// `again`: for a poll that has found nothing before.
int take_completions(Cq& cq, int entries, ibv_wc* wc, bool again = false) {
  const std::lock_guard guard(cq.lock);
  const attach::CqeTime time = cq.time;
  int found = 0;
  for (; found < entries; ++found) {
    const int one = poll_one(cq, wc[found]);
    if (one < 0 && !found) return -EIO;
    if (one <= 0) break;
  }
  if (cq.polling) cq.time = time;  // of what ibv_start_poll() or ibv_next_poll() has found
  if (!found && entries > 0 && !again) note_empty(cq);
  return found;
}

void spend_on_completions(u32 count) {
  clock::spend(&attach::HostCosts::poll);
  clock::spend(&attach::HostCosts::completion, count);
}

void tell_polled(const Cq& cq) {
  if (clock::is_simulated())
    hca_time_poll(
        {attach::kSharedBit | cq.offset, cq.bytes(), context_of(cq.context).info.attachment});
}

// Until the HCA writes something, for a moment at the longest.
void sleep_for_completion(attach::SharedControl& control, const Cq& cq) {
  const timespec longest{0, 50 * attach::LetOthers::kMoment};
  const u32 seen = control.completions.load();
  control.sleepers.fetch_add(1);
  if (!is_new(cq, cq.consumer))
    attach::kernel_call(SYS_futex, &control.completions, FUTEX_WAIT, seen, &longest, nullptr, 0);
  control.sleepers.fetch_sub(1);
}

// A poll found nothing. True: it is worth to look once more.
bool await_completion(Cq& cq) {
  if (clock::is_simulated()) {
    hca_time_await_completion(std::max(cq.empty, 1u) - 1);  // another thread may have found one
    return true;
  }
  Context& context = context_of(cq.context);
  context.let_others.wait([&] { sleep_for_completion(context.control(), cq); });
  return false;
}
}  // namespace

int poll_cq(ibv_cq* plain, int entries, ibv_wc* wc) {
  Cq& cq = cq_of(plain);
  if (is_inherited(plain->context)) return -EPERM;
  if (const int error = failure_of(context_of(plain->context), attach::FailVerb::PollCq)) {
    errno = error;
    return -error;
  }
  tell_polled(cq);
  if (is_new(cq, cq.consumer)) clock::settle();  // others wait for what comes meanwhile
  int found = take_completions(cq, entries, wc);
  if (!found && entries > 0 && await_completion(cq))
    found = take_completions(cq, entries, wc, true);
  if (found > 0) spend_on_completions(u32(found));
  return found;
}

int req_notify_cq(ibv_cq* plain, int solicited_only) {
  Cq& cq = cq_of(plain);
  if (is_inherited(plain->context)) return told(EPERM);
  if (const int error = failure_of(context_of(plain->context), attach::FailVerb::ReqNotifyCq))
    return told(error);
  clock::settle();
  const std::lock_guard guard(cq.lock);
  // A program that arms between an event and the poll for it does not want another event for the
  // same CQEs; a program that has polled may have missed the latest.
  u32 seen = cq.consumer;
  while (cq.told && is_new(cq, seen) && seen - cq.consumer < cq.entries()) ++seen;
  ring_cq(cq, solicited_only ? proto::Arm::Solicited : proto::Arm::Next, seen);
  clock::spend(&attach::HostCosts::arm);
  return 0;
}

// ---- The extended API
namespace {
int start_poll(ibv_cq_ex* ex, ibv_poll_cq_attr* attributes) {
  Cq& cq = cq_of(ex);
  if (is_inherited(ex->context)) return told(EPERM);
  if (attributes && attributes->comp_mask) return told(EINVAL);
  if (cq.polling && cq.lock.is_mine()) return told(EBUSY);
  if (const int error = failure_of(context_of(ex->context), attach::FailVerb::PollCq))
    return told(error);
  tell_polled(cq);
  if (is_new(cq, cq.consumer)) clock::settle();
  cq.lock.lock();
  int one = poll_one(cq, cq.current);
  if (!one) {
    note_empty(cq);
    cq.lock.unlock();
    const bool again = await_completion(cq);
    cq.lock.lock();
    if (again) one = poll_one(cq, cq.current);
  }
  if (one <= 0) {
    cq.lock.unlock();
    return one ? EIO : ENOENT;
  }
  spend_on_completions(1);
  cq.polling = true;
  cq.wr_id = cq.current.wr_id;
  cq.status = cq.current.status;
  return 0;
}
int next_poll(ibv_cq_ex* ex) {
  Cq& cq = cq_of(ex);
  const int one = poll_one(cq, cq.current);
  if (one <= 0) return one ? EIO : ENOENT;
  clock::spend(&attach::HostCosts::completion);
  cq.wr_id = cq.current.wr_id;
  cq.status = cq.current.status;
  return 0;
}
void end_poll(ibv_cq_ex* ex) {
  Cq& cq = cq_of(ex);
  if (!cq.polling || !cq.lock.is_mine()) return;  // it has not begun
  cq.polling = false;
  cq.lock.unlock();
}

// Reads a member of the completion polled last.
template <class Result, auto kMember>
Result read_current(ibv_cq_ex* ex) {
  return Result(cq_of(ex).current.*kMember);
}
u64 read_time(ibv_cq_ex* ex) { return cq_of(ex).time.simulated; }
// As the program's own clock showed it.
u64 read_wallclock(ibv_cq_ex* ex) {
  const attach::CqeTime& time = cq_of(ex).time;
  return clock::is_simulated() ? hca_time_start_of_day() + time.simulated : time.of_day;
}

}  // namespace

void set_extended(Cq& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = read_current<ibv_wc_opcode, &ibv_wc::opcode>;
  cq.read_vendor_err = read_current<u32, &ibv_wc::vendor_err>;
  cq.read_byte_len = read_current<u32, &ibv_wc::byte_len>;
  cq.read_imm_data = read_current<__be32, &ibv_wc::imm_data>;
  cq.read_qp_num = read_current<u32, &ibv_wc::qp_num>;
  cq.read_src_qp = read_current<u32, &ibv_wc::src_qp>;
  cq.read_wc_flags = read_current<unsigned, &ibv_wc::wc_flags>;
  cq.read_slid = read_current<u32, &ibv_wc::slid>;
  cq.read_sl = read_current<u8, &ibv_wc::sl>;
  cq.read_dlid_path_bits = read_current<u8, &ibv_wc::dlid_path_bits>;
  cq.read_completion_wallclock_ns = read_wallclock;
  cq.read_completion_ts = read_time;
}
}  // namespace hca::verbs_library
