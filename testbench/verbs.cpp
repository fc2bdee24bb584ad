// SPDX-License-Identifier: Apache-2.0
#include "testbench/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace hca::testbench {
using proto::CommandOpcode;
using proto::CommandStatus;
using proto::QpState;

namespace {
constexpr u32 kPd = 1;  // one protection domain a context

u8 log2_up(u32 n) { return u8(std::bit_width(std::max(n, 1u) - 1)); }

Error error_of(CommandStatus status) {
  switch (status) {
    case CommandStatus::Ok:
      return Error::None;
    case CommandStatus::NoResources:
      return Error::NoMemory;
    default:
      return Error::Invalid;
  }
}

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

Error VerbsContext::set_port(const proto::PortAttributes& attributes) {
  return error_of(execute(CommandOpcode::SetPort, 1, attributes));
}

// Twice the entries asked for: the HCA hears of the consumer index only now and then.
Cq* VerbsContext::create_cq(u32 cqe) {
  Cq cq;
  cq.cqn = u32(cqs_.size()) + 1;
  cq.log_entries = log2_up(std::max(2 * cqe, 4u));
  cq.address = alloc(u64{cq.entries()} * proto::kCqeBytes);
  const proto::QueueAttributes attributes{cq.address, cq.log_entries, 0};
  if (execute(CommandOpcode::CreateCq, cq.cqn, attributes) != CommandStatus::Ok) return nullptr;
  return &cqs_.emplace_back(cq);
}

Mr VerbsContext::reg_mr(u64 addr, u64 length, u8 access, u32 key) {
  if (!key) key = next_key_ << 8 | (next_key_ & 0xff), ++next_key_;
  const proto::MrAttributes attributes{addr, length, addr, kPd, key, access};
  if (execute(CommandOpcode::RegisterMr, proto::key_index(key), attributes) != CommandStatus::Ok)
    return {};
  return {addr, length, key, key};
}

Error VerbsContext::dereg_mr(const Mr& mr) {
  return error_of(execute(CommandOpcode::DeregisterMr, mr.lkey, proto::CommandDoorbell{}));
}

Qp* VerbsContext::create_qp(const QpInitAttr& a, u32 qpn) {
  Qp qp;
  qp.qpn = qpn ? qpn : next_qpn_++;
  qp.cap = a;
  const u32 send_bytes =
      proto::kSendWqeBytes + std::max(a.max_send_sge * proto::kSgeBytes, a.max_inline_data);
  const u32 recv_bytes = proto::kReceiveWqeBytes + a.max_recv_sge * proto::kSgeBytes;
  qp.sq_log_stride = std::max<u8>(6, log2_up(send_bytes));
  qp.rq_log_stride = std::max<u8>(5, log2_up(recv_bytes));
  const u8 sq_log = log2_up(a.max_send_wr), rq_log = log2_up(a.max_recv_wr);
  qp.sq_address = alloc(u64{1} << (sq_log + qp.sq_log_stride), 256);
  qp.rq_address = alloc(u64{1} << (rq_log + qp.rq_log_stride), 256);
  qp.send_ids.resize(std::size_t{1} << sq_log), qp.recv_ids.resize(std::size_t{1} << rq_log);
  const proto::QpCreate create{u8(proto::Service::Rc), a.sq_sig_all,    kPd,
                               a.send_cq->cqn,         a.recv_cq->cqn,  qp.sq_address,
                               qp.rq_address,          sq_log,          rq_log,
                               qp.sq_log_stride,       qp.rq_log_stride};
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
  const Command command = begin(CommandOpcode::QueryQp, qp.qpn, proto::QpAttributes{});
  if (wait(command) != CommandStatus::Ok)
    throw std::runtime_error(fmt::format("QP {:#x} cannot be queried: command status {}", qp.qpn,
                                         proto::name_of(last_status_)));
  std::array<u8, proto::bytes_of<proto::QpAttributes>()> body;
  memory_.read(command.block + proto::kCommandHeaderBytes, body.data(), body.size());
  return proto::decode<proto::QpAttributes>(body.data());
}

Error VerbsContext::destroy_qp(Qp& qp) {
  const Error error = error_of(execute(CommandOpcode::DestroyQp, qp.qpn, proto::CommandDoorbell{}));
  if (error == Error::None) by_qpn_[qp.qpn] = nullptr;
  return error;
}
}  // namespace hca::testbench
