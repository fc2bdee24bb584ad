// SPDX-License-Identifier: Apache-2.0
// Shared receive queues.
#include <algorithm>
#include <bit>

#include "testbench/host/verbs.h"

namespace hca::testbench {
using proto::CommandOpcode;
using proto::CommandStatus;

std::optional<u32> VerbsContext::alloc_xrcd(u32 pd) {
  proto::XrcDomainAttributes a;
  a.pd = pd;
  if (execute(CommandOpcode::AllocXrcd, next_xrcd_, a) != CommandStatus::Ok) return std::nullopt;
  return next_xrcd_++;
}
Error VerbsContext::dealloc_xrcd(u32 xrcd) {
  return execute(CommandOpcode::DeallocXrcd, xrcd) == CommandStatus::Ok ? Error::None : Error::Busy;
}

Srq* VerbsContext::find_srq(u32 srqn) {
  for (Srq& srq : srqs_)
    if (srq.srqn == srqn && !srq.destroyed) return &srq;
  return nullptr;
}

Srq* VerbsContext::create_srq(const SrqInitAttr& a, std::optional<u32> srqn) {
  Srq srq;
  srq.srqn = srqn.value_or(next_srqn_);
  srq.max_wr = a.max_wr;
  srq.max_sge = a.max_sge;
  srq.log_stride = receive_log_stride(a.max_sge);
  srq.address = alloc(u64{std::bit_ceil(a.max_wr)} << srq.log_stride, 256);
  srq.slots.resize(std::bit_ceil(a.max_wr));
  proto::SrqAttributes create;
  create.pd = number_of(a.pd);
  create.port = u8(a.port);
  create.limit = a.srq_limit;
  create.xrcd = a.xrcd;
  create.cqn = a.xrcd && a.cq ? a.cq->cqn : 0;
  create.address = srq.address;
  create.log_stride = srq.log_stride;
  create.log_entries = u8(std::bit_width(srq.slots.size() - 1));
  if (execute(CommandOpcode::CreateSrq, srq.srqn, create) != CommandStatus::Ok) return nullptr;
  next_srqn_ += !srqn;
  return &srqs_.emplace_back(std::move(srq));
}

Error VerbsContext::set_srq_limit(const Srq& srq, u32 limit) {
  proto::SrqAttributes a;
  a.mask = proto::kSrqLimit;
  a.limit = limit;
  return execute(CommandOpcode::ModifySrq, srq.srqn, a) == CommandStatus::Ok ? Error::None
                                                                             : Error::Invalid;
}

// WQEs that are not completed move to their slots of the new ring.
Error VerbsContext::resize_srq(Srq& srq, u32 max_wr) {
  const u32 old_size = u32(srq.slots.size()), size = std::bit_ceil(max_wr);
  std::vector<Srq::Slot> slots(size);
  proto::SrqAttributes a;
  a.mask = proto::kSrqRing;
  a.log_entries = u8(std::bit_width(size - 1));
  a.address = alloc(u64{size} << srq.log_stride, 256);
  std::array<u8, 256> wqe;
  for (u32 i = srq.posted - std::min(srq.posted, old_size); i != srq.posted; ++i) {
    const Srq::Slot& slot = srq.slots[i & (old_size - 1)];
    if (!slot.in_use) continue;
    if (slots[i & (size - 1)].in_use) return Error::Invalid;
    slots[i & (size - 1)] = slot;
    const std::span<u8> bytes(wqe.data(), u64{1} << srq.log_stride);
    memory_.read(srq.address + (u64{i & (old_size - 1)} << srq.log_stride), bytes.data(),
                 bytes.size());
    memory_.write(a.address + (u64{i & (size - 1)} << srq.log_stride), bytes);
  }
  if (execute(CommandOpcode::ModifySrq, srq.srqn, a) != CommandStatus::Ok) return Error::Invalid;
  srq.slots = std::move(slots);
  srq.max_wr = max_wr;
  srq.address = a.address;
  return Error::None;
}

std::optional<proto::SrqAttributes> VerbsContext::query_srq(const Srq& srq) {
  const auto block = query_block(CommandOpcode::QuerySrq, srq.srqn);
  if (last_status_ != CommandStatus::Ok) return std::nullopt;
  return proto::decode<proto::SrqAttributes>(block.data() + proto::kCommandHeaderBytes);
}

Error VerbsContext::destroy_srq(Srq& srq) {
  if (execute(CommandOpcode::DestroySrq, srq.srqn) != CommandStatus::Ok) return Error::Busy;
  srq.destroyed = true;
  return Error::None;
}

Error VerbsContext::post_srq_recv(Srq& srq, std::span<const RecvWr> list, std::size_t* bad) {
  Error error = Error::None;
  std::size_t posted = 0;
  for (; posted < list.size(); ++posted) {
    const RecvWr& wr = list[posted];
    Srq::Slot& slot = srq.slots[srq.posted & u32(srq.slots.size() - 1)];
    if (wr.sg_list.size() > srq.max_sge)
      error = Error::Invalid;
    else if (srq.outstanding == srq.max_wr || slot.in_use)
      error = Error::NoMemory;
    if (error != Error::None) break;
    write_receive_wqe(srq.address, srq.log_stride, u32(srq.slots.size()), srq.posted, wr);
    slot = {wr.wr_id, true};
    ++srq.posted;
    ++srq.outstanding;
  }
  if (bad) *bad = posted;
  if (posted) ring_receive(proto::BarOffset::SharedDoorbell, srq.srqn, srq.posted);
  return error;
}

// Releases the slot of a WQE, which may be used again.
u64 VerbsContext::take_shared(Srq& srq, u16 wqe_index) {
  Srq::Slot& slot = srq.slots[wqe_index & u32(srq.slots.size() - 1)];
  srq.outstanding -= slot.in_use;
  slot.in_use = false;
  return slot.wr_id;
}
}  // namespace hca::testbench
