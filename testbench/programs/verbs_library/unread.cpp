// SPDX-License-Identifier: Apache-2.0
// Completions that the program has not polled, and the WQEs of SRQs.
#include <cstring>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
u64 take_shared(Srq& srq, u16 index) {
  const std::lock_guard guard(srq.queue.lock);
  if (const auto aside = srq.unpolled.find(index); aside != srq.unpolled.end()) {
    --srq.outstanding;
    return srq.unpolled.extract(aside).mapped();
  }
  const u32 slot = srq.queue.slot(index);
  srq.outstanding -= srq.queue.in_use[slot];
  srq.queue.in_use[slot] = false;
  return srq.queue.wr_ids[slot];
}

namespace {
// Marks unread completions as unowned: they get a number that no queue pair of a program has.
template <class IsIts>
void disown(Cq& cq, const IsIts& is_its) {
  const std::lock_guard guard(cq.lock);
  for (u32 index = cq.consumer; is_new(cq, index) && index - cq.consumer < cq.entries(); ++index) {
    std::array<u8, proto::kCqeBytes> bytes;
    std::memcpy(bytes.data(), entry_of(cq, index), bytes.size());
    auto cqe = proto::decode<proto::Cqe>(bytes.data());
    if (!is_its(cqe)) continue;
    cqe.qpn = cqe.srqn = 0;
    proto::encode(cqe, bytes.data());
    std::memcpy(entry_of(cq, index), bytes.data(), bytes.size());
  }
}
}  // namespace

void forget_completions(Cq& cq, Qp& qp) {
  disown(cq, [&](const proto::Cqe& cqe) {
    if (cqe.srqn || cqe.qpn != qp.qp_base.qp_num) return false;
    if (qp.qp_base.srq && proto::is_of_receive(cqe.opcode))
      take_shared(srq_of(qp.qp_base.srq), cqe.wqe_index);
    return true;
  });
}
void forget_completions(Srq& srq) {
  disown(*srq.cq, [&](const proto::Cqe& cqe) { return cqe.srqn == srq.number; });
}

// Without the locks, which a thread may hold for long: what changes meanwhile is not counted.
namespace {
template <class IsIts>
void find_unpolled(const Cq& cq, std::set<u16>& found, const IsIts& is_its) {
  const auto consumer = [&] { return __atomic_load_n(&cq.consumer, __ATOMIC_ACQUIRE); };
  const u32 first = consumer();
  for (u32 index = first; is_new(cq, index) && index - first < cq.entries(); ++index) {
    std::array<u8, proto::kCqeBytes> bytes;
    std::memcpy(bytes.data(), entry_of(cq, index), bytes.size());
    if (std::int32_t(consumer() - index) > 0) continue;
    const auto cqe = proto::decode<proto::Cqe>(bytes.data());
    if (is_its(cqe)) found.insert(cqe.wqe_index);
  }
}
}  // namespace
std::set<u16> unpolled_receives(Context& context, const Srq& srq) {
  std::set<u16> found;
  const StateGuard guard(context.mutex);
  if (srq.cq)
    find_unpolled(*srq.cq, found, [&](const proto::Cqe& c) { return c.srqn == srq.number; });
  for (const Qp* qp : context.qps) {
    if (qp->qp_base.srq != &srq) continue;
    find_unpolled(cq_of(qp->qp_base.recv_cq), found, [&](const proto::Cqe& cqe) {
      return !cqe.srqn && cqe.qpn == qp->qp_base.qp_num && proto::is_of_receive(cqe.opcode);
    });
  }
  return found;
}
}  // namespace hca::verbs_library
