// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "model/proto/interface/context_memory.h"

namespace hca::testbench {
using proto::CommandOpcode;
using proto::CommandStatus;
using proto::QpState;

namespace {
u8 log2_up(u32 n) { return u8(std::bit_width(std::max(n, 1u) - 1)); }

std::span<const u8> bytes_of_layout(const auto& value, std::array<u8, 8>& buffer) {
  proto::encode(value, buffer.data());
  return buffer;
}
}  // namespace

VerbsContext::VerbsContext(tlm_::HostMemory& memory, MmioWrite mmio_write, u64 base)
    : memory_(memory), mmio_write_(std::move(mmio_write)), next_(base) {
  command_blocks_ = alloc(kCommandBlockBytes, 4096);
}

u64 VerbsContext::alloc(u64 bytes, u64 alignment) {
  const u64 at = (next_ + alignment - 1) / alignment * alignment;
  next_ = at + bytes;
  return at;
}

// ---- Commands
VerbsContext::Command VerbsContext::begin(CommandOpcode opcode, u32 object,
                                          std::span<const u8> body) {
  const Command command{command_blocks_ +
                        u64{next_command_++ % kCommandSlots} * proto::kCommandBytes};
  std::array<u8, proto::kCommandBytes> block{};
  proto::encode(proto::CommandHeader{opcode, CommandStatus::Ok, false, object}, block.data());
  std::copy(body.begin(), body.end(), block.begin() + proto::kCommandHeaderBytes);
  memory_.write(command.block, block);
  std::array<u8, 8> bell;
  mmio_write_(u32(proto::BarOffset::CommandDoorbell),
              bytes_of_layout(proto::CommandDoorbell{command.block}, bell));
  return command;
}

bool VerbsContext::done(Command command) const {
  std::array<u8, proto::kCommandHeaderBytes> header;
  memory_.read(command.block, header.data(), header.size());
  return proto::decode<proto::CommandHeader>(header.data()).done;
}

CommandStatus VerbsContext::status(Command command) const {
  std::array<u8, proto::kCommandHeaderBytes> header;
  memory_.read(command.block, header.data(), header.size());
  return proto::decode<proto::CommandHeader>(header.data()).status;
}

CommandStatus VerbsContext::wait(Command command) {
  while (!done(command))
    if (!step_ || !step_())
      if (!done(command))
        throw std::runtime_error(fmt::format(
            "the device stopped and did not execute the command at {:#x}", command.block));
  return last_status_ = status(command);
}

CommandStatus VerbsContext::execute(CommandOpcode opcode, u32 object) {
  return wait(begin(opcode, object, std::span<const u8>()));
}

std::array<u8, proto::kCommandBytes> VerbsContext::query_block(CommandOpcode opcode, u32 object) {
  const Command command = begin(opcode, object, std::span<const u8>());
  if (const CommandStatus status = wait(command); status != CommandStatus::Ok)
    throw std::runtime_error(
        fmt::format("object {:#x} cannot be queried: {}", object, proto::name_of(status)));
  std::array<u8, proto::kCommandBytes> block;
  memory_.read(command.block, block.data(), block.size());
  return block;
}

proto::DeviceAttributes VerbsContext::query_device() {
  return query<proto::DeviceAttributes>(CommandOpcode::QueryDevice, 0);
}

Error VerbsContext::give_context_memory() {
  context_memory_ = alloc(proto::kContextMemoryBytes, proto::kMaxContextBytes);
  return error_of(
      execute(CommandOpcode::SetContextMemory, 0, proto::ContextMemoryAttributes{context_memory_}));
}

Error VerbsContext::set_port(const proto::PortAttributes& attributes, u32 port) {
  return error_of(execute(CommandOpcode::SetPort, port, attributes));
}

proto::PortAttributes VerbsContext::query_port(u32 port) {
  return query<proto::PortAttributes>(CommandOpcode::QueryPort, port);
}

Pd* VerbsContext::alloc_pd() {
  const Pd pd{next_pd_};
  if (execute(CommandOpcode::AllocPd, pd.number) != CommandStatus::Ok) return nullptr;
  ++next_pd_;
  return &pds_.emplace_back(pd);
}

Error VerbsContext::dealloc_pd(const Pd& pd) {
  return error_of(execute(CommandOpcode::DeallocPd, pd.number));
}

u32 VerbsContext::number_of(const Pd* pd) {
  if (pd) return pd->number;
  if (!own_pd_) own_pd_ = alloc_pd();
  return own_pd_ ? own_pd_->number : 0;
}

// Twice the requested entries: the consumer index is sent to the HCA only now and then.
Cq* VerbsContext::create_cq(u32 cqe, const CompChannel* channel) {
  Cq cq;
  cq.cqn = next_cqn_;
  cq.log_entries = log2_up(std::max(2 * cqe, 4u));
  cq.address = alloc(u64{cq.entries()} * proto::kCqeBytes);
  const proto::QueueAttributes attributes{
      .address = cq.address, .log_entries = cq.log_entries, .eqn = channel ? channel->eqn : 0};
  if (execute(CommandOpcode::CreateCq, cq.cqn, attributes) != CommandStatus::Ok) return nullptr;
  ++next_cqn_;
  return &cqs_.emplace_back(cq);
}

proto::QueueAttributes VerbsContext::query_cq(const Cq& cq) {
  return query<proto::QueueAttributes>(CommandOpcode::QueryCq, cq.cqn);
}

// CQEs that are not taken move to their entries of the new ring, with the phase that they have
// there.
Error VerbsContext::resize_cq(Cq& cq, u32 cqe) {
  Cq resized = cq;
  resized.log_entries = log2_up(std::max(cqe, 4u));
  resized.address = alloc(u64{resized.entries()} * proto::kCqeBytes);
  std::array<u8, proto::kCqeBytes> entry{};
  const auto put = [&](u32 index, bool valid) {
    const bool phase = !(index >> resized.log_entries & 1) == valid;
    entry.back() = u8((entry.back() & ~1u) | u8{phase});
    memory_.write(resized.address + u64{index & (resized.entries() - 1)} * entry.size(), entry);
  };
  for (u32 i = 0; i < resized.entries(); ++i) put(cq.consumer + i, false);
  ring_cq(cq, proto::Arm::None);
  proto::QueueAttributes asked{.address = resized.address, .log_entries = resized.log_entries};
  asked.mask = proto::kCqRing;
  const Command command = begin(CommandOpcode::ModifyCq, cq.cqn, asked);
  if (const CommandStatus status = wait(command); status != CommandStatus::Ok)
    return error_of(status);
  const u32 producer = answer<proto::QueueAttributes>(command).producer;
  for (u32 i = cq.consumer; i != producer; ++i) {
    const u8* found = nullptr;
    while (!(found = find_cqe(cq, i)))  // it is on its way
      if ((!step_ || !step_()) && !find_cqe(cq, i))
        throw std::runtime_error("a CQE of the old ring never came");
    std::copy_n(found, entry.size(), entry.begin());
    put(i, true);
  }
  cq.log_entries = resized.log_entries, cq.address = resized.address;
  return Error::None;
}

Error VerbsContext::modify_cq(const Cq& cq, const ModerateCq& moderate) {
  proto::QueueAttributes asked{.mask = proto::kCqModeration};
  asked.event_count = moderate.cq_count;
  asked.event_period = moderate.cq_period;
  return error_of(execute(CommandOpcode::ModifyCq, cq.cqn, asked));
}

Error VerbsContext::destroy_cq(Cq& cq) {
  const Error error = error_of(execute(CommandOpcode::DestroyCq, cq.cqn));
  cq.destroyed |= error == Error::None;
  return error;
}

Qp* VerbsContext::create_qp(const QpInitAttr& a, std::optional<u32> qpn) {
  Qp qp;
  qp.qpn = qpn ? *qpn : next_qpn_++;
  qp.cap = a;
  const u32 send_bytes = proto::kSendWqeBytes + proto::destination_bytes(a.service) +
                         std::max(a.max_send_sge * proto::kSgeBytes, a.max_inline_data);
  qp.sq_log_stride = std::max(proto::kSendStrides.least, log2_up(send_bytes));
  qp.rq_log_stride = receive_log_stride(a.max_recv_sge);
  const u8 sq_log = log2_up(a.max_send_wr), rq_log = log2_up(a.max_recv_wr);
  qp.sq_address = alloc(u64{1} << (sq_log + qp.sq_log_stride), 256);
  qp.rq_address = alloc(u64{1} << (rq_log + qp.rq_log_stride), 256);
  qp.send_ids.resize(std::size_t{1} << sq_log);
  qp.recv_ids.resize(std::size_t{1} << rq_log);
  const bool sends = a.side != proto::QpSide::Target;
  proto::QpCreate create{};
  create.service = u8(a.service);
  create.signal_all = a.sq_sig_all;
  create.pd = sends ? number_of(a.pd) : 0;
  create.send_cq = sends ? a.send_cq->cqn : 0;
  create.receive_cq = a.side == proto::QpSide::Both ? a.recv_cq->cqn : 0;
  create.sq_address = qp.sq_address;
  create.rq_address = qp.rq_address;
  create.sq_log_entries = sq_log;
  create.rq_log_entries = rq_log;
  create.sq_log_stride = qp.sq_log_stride;
  create.rq_log_stride = qp.rq_log_stride;
  create.privileged = a.privileged;
  create.srqn = a.srq ? a.srq->srqn : 0;
  create.blocks_self = a.blocks_self;
  create.is_target = !sends;
  create.xrcd = a.xrcd;
  if (execute(CommandOpcode::CreateQp, qp.qpn, create) != CommandStatus::Ok) return nullptr;
  Qp& made = qps_.emplace_back(std::move(qp));
  if (made.qpn >= by_qpn_.size()) by_qpn_.resize(made.qpn + 1);
  return by_qpn_[made.qpn] = &made;
}

Error VerbsContext::modify_qp(Qp& qp, const proto::QpAttributes& attributes) {
  const Error error = error_of(execute(CommandOpcode::ModifyQp, qp.qpn, attributes));
  if (error != Error::None) return error;
  qp.state = attributes.state;
  if (qp.state == QpState::Reset)
    qp.sq_posted = qp.sq_completed = qp.rq_posted = qp.rq_completed = 0;
  return error;
}

proto::QpAttributes VerbsContext::query_qp(const Qp& qp) {
  return query<proto::QpAttributes>(CommandOpcode::QueryQp, qp.qpn);
}
proto::QpCreate VerbsContext::query_qp_create(const Qp& qp) {
  return query<proto::QpCreate>(CommandOpcode::QueryQpCreate, qp.qpn);
}

Error VerbsContext::destroy_qp(Qp& qp) {
  const Error error = error_of(execute(CommandOpcode::DestroyQp, qp.qpn));
  if (error == Error::None) by_qpn_[qp.qpn] = nullptr;
  return error;
}
}  // namespace hca::testbench
