// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/command_rows.h"

#include <algorithm>
#include <cerrno>

#include "testbench/programs/server/session.h"

namespace hca::attach {
using proto::CommandOpcode;
using proto::CommandStatus;

namespace {
constexpr unsigned kMostLog = 32;  // of a ring's entries or of their bytes: the HCA allows less

template <class Structure>
Structure structure_in(const Body& body) {
  return proto::decode<Structure>(body.data());
}
template <class Structure>
int put_structure(Body& body, const Structure& structure) {
  proto::encode(structure, body.data());
  return 0;
}
u32 number_of(const Object* object) { return object ? object->number : 0; }

// A ring of 2^log_entries entries of 2^log_stride bytes. False: it is not in the shared memory.
bool place_ring(const Session& session, u64& address, unsigned log_entries, unsigned log_stride) {
  if (log_entries > kMostLog || log_stride > kMostLog) return false;
  address = session.ring_address(address, u64{1} << (log_entries + log_stride));
  return address != 0;
}

using Names = std::span<Object* const>;

constexpr unsigned kLogCqe = 5;
static_assert(proto::kCqeBytes == 1 << kLogCqe);

int as_it_is(const Session&, u32, Names, Body&) { return 0; }

int prepare_cq(const Session& session, u32, Names, Body& body) {
  auto cq = structure_in<proto::QueueAttributes>(body);
  if (!place_ring(session, cq.address, cq.log_entries, kLogCqe)) return EINVAL;
  cq.eqn = session.device().completion_eq();
  cq.context = 0;
  return put_structure(body, cq);
}

int prepare_mr(const Session& session, u32 number, Names names, Body& body) {
  auto mr = structure_in<proto::MrAttributes>(body);
  if (mr.log_page) return EINVAL;
  if (!session.is_mapped(mr.physical, mr.bytes)) return EFAULT;
  mr.physical = session.memory_address(mr.physical);
  mr.pd = number_of(names[0]);
  mr.key = number;
  return put_structure(body, mr);
}

int prepare_mw(const Session&, u32 number, Names names, Body& body) {
  auto mw = structure_in<proto::MwAttributes>(body);
  mw.pd = number_of(names[0]);
  mw.key = number;
  return put_structure(body, mw);
}

int prepare_bind(const Session&, u32, Names names, Body& body) {
  auto mw = structure_in<proto::MwAttributes>(body);
  mw.region_key = number_of(names[0]);
  return put_structure(body, mw);
}

int prepare_modify_cq(const Session& session, u32, Names, Body& body) {
  auto cq = structure_in<proto::QueueAttributes>(body);
  if ((cq.mask & proto::kCqRing) && !place_ring(session, cq.address, cq.log_entries, kLogCqe))
    return EINVAL;
  return put_structure(body, cq);
}

int prepare_qp(const Session& session, u32, Names names, Body& body) {
  auto qp = structure_in<proto::QpCreate>(body);
  if (!place_ring(session, qp.sq_address, qp.sq_log_entries, qp.sq_log_stride)) return EINVAL;
  if (!place_ring(session, qp.rq_address, qp.rq_log_entries, qp.rq_log_stride)) return EINVAL;
  qp.pd = number_of(names[0]);
  qp.send_cq = number_of(names[1]);
  qp.receive_cq = number_of(names[2]);
  qp.srqn = number_of(names[3]);
  qp.xrcd = number_of(names[4]);
  qp.privileged = false;
  qp.context = 0;
  return put_structure(body, qp);
}

int prepare_srq(const Session& session, u32, Names names, Body& body) {
  auto srq = structure_in<proto::SrqAttributes>(body);
  if (!place_ring(session, srq.address, srq.log_entries, srq.log_stride)) return EINVAL;
  srq.pd = number_of(names[0]);
  srq.xrcd = number_of(names[1]);
  srq.cqn = number_of(names[2]);
  srq.context = 0;
  return put_structure(body, srq);
}

// Its keys are those of its SRQs.
int prepare_xrcd(const Session&, u32, Names, Body& body) {
  return put_structure(body, proto::XrcDomainAttributes{});
}

int prepare_modify_srq(const Session& session, u32, Names, Body& body) {
  auto srq = structure_in<proto::SrqAttributes>(body);
  if ((srq.mask & proto::kSrqRing) &&
      !place_ring(session, srq.address, srq.log_entries, srq.log_stride))
    return EINVAL;
  return put_structure(body, srq);
}

int prepare_modify_qp(const Session& session, u32, Names, Body& body) {
  auto qp = structure_in<proto::QpAttributes>(body);
  if ((qp.mask & proto::kQpPath) && !session.has_gid(qp.port, qp.sgid_index)) return EINVAL;
  if ((qp.mask & proto::kQpPath) &&
      !session.complete_path(qp.dgid_high, qp.dgid_low, qp.dmac, qp.udp_source_port))
    return ETIMEDOUT;
  qp.path_bits &= session.path_bits(qp.port);
  if (!(qp.mask & proto::kQpAltPath)) return put_structure(body, qp);
  if (!session.has_gid(qp.alt_port, qp.alt_sgid_index)) return EINVAL;
  if (!session.complete_path(qp.alt_dgid_high, qp.alt_dgid_low, qp.alt_dmac,
                             qp.alt_udp_source_port))
    return ETIMEDOUT;
  qp.alt_path_bits &= session.path_bits(qp.alt_port);
  return put_structure(body, qp);
}

constexpr NameRow kPd{Kind::Pd}, kMaybePd{Kind::Pd, true}, kMaybeCq{Kind::Cq, true},
    kMaybeSrq{Kind::Srq, true}, kMaybeChannel{Kind::Channel, true}, kMaybeMr{Kind::Mr, true},
    kMaybeXrcd{Kind::XrcDomain, true};
// The HCA knows which of them a service needs.
constexpr NameRows kOfQp{kMaybePd, kMaybeCq, kMaybeCq, kMaybeSrq, kMaybeXrcd};
constexpr std::array kRows{
    // clang-format off
    CommandRow{CommandOpcode::QueryPort,       Effect::Port,    Kind::None, {},                          as_it_is},
    CommandRow{CommandOpcode::AllocPd,         Effect::Create,  Kind::Pd,   {},                          as_it_is},
    CommandRow{CommandOpcode::DeallocPd,       Effect::Destroy, Kind::Pd,   {},                          as_it_is},
    CommandRow{CommandOpcode::CreateCq,        Effect::Create,  Kind::Cq,   {kMaybeChannel},             prepare_cq},
    CommandRow{CommandOpcode::ModifyCq,        Effect::Use,     Kind::Cq,   {},                          prepare_modify_cq},
    CommandRow{CommandOpcode::DestroyCq,       Effect::Destroy, Kind::Cq,   {},                          as_it_is},
    CommandRow{CommandOpcode::RegisterMr,      Effect::Create,  Kind::Mr,   {kPd},                       prepare_mr},
    CommandRow{CommandOpcode::ReregisterMr,    Effect::Renew,   Kind::Mr,   {kPd},                       prepare_mr},
    CommandRow{CommandOpcode::DeregisterMr,    Effect::Destroy, Kind::Mr,   {},                          as_it_is},
    CommandRow{CommandOpcode::AllocMw,         Effect::Create,  Kind::Mw,   {kPd},                       prepare_mw},
    CommandRow{CommandOpcode::BindMw,          Effect::Use,     Kind::Mw,   {kMaybeMr},                  prepare_bind},
    CommandRow{CommandOpcode::DeallocMw,       Effect::Destroy, Kind::Mw,   {},                          as_it_is},
    CommandRow{CommandOpcode::AllocXrcd,       Effect::Create,  Kind::XrcDomain, {},                     prepare_xrcd},
    CommandRow{CommandOpcode::DeallocXrcd,     Effect::Destroy, Kind::XrcDomain, {},                     as_it_is},
    CommandRow{CommandOpcode::CreateSrq,       Effect::Create,  Kind::Srq,  {kPd, kMaybeXrcd, kMaybeCq}, prepare_srq},
    CommandRow{CommandOpcode::ModifySrq,       Effect::Use,     Kind::Srq,  {},                          prepare_modify_srq},
    CommandRow{CommandOpcode::QuerySrq,        Effect::Use,     Kind::Srq,  {},                          as_it_is},
    CommandRow{CommandOpcode::DestroySrq,      Effect::Destroy, Kind::Srq,  {},                          as_it_is},
    CommandRow{CommandOpcode::CreateQp,        Effect::Create,  Kind::Qp,   kOfQp,                       prepare_qp},
    CommandRow{CommandOpcode::ModifyQp,        Effect::Use,     Kind::Qp,   {},                          prepare_modify_qp},
    CommandRow{CommandOpcode::QueryQp,         Effect::Use,     Kind::Qp,   {},                          as_it_is},
    CommandRow{CommandOpcode::AttachMulticast, Effect::Use,     Kind::Qp,   {},                          as_it_is},
    CommandRow{CommandOpcode::DetachMulticast, Effect::Use,     Kind::Qp,   {},                          as_it_is},
    CommandRow{CommandOpcode::DestroyQp,       Effect::Destroy, Kind::Qp,   {},                          as_it_is},
    // clang-format on
};

struct StatusRow {
  CommandStatus status;
  int error;
};
constexpr std::array kErrors{
    StatusRow{CommandStatus::Ok, 0},
    StatusRow{CommandStatus::BadOpcode, EOPNOTSUPP},
    StatusRow{CommandStatus::BadObject, EINVAL},
    StatusRow{CommandStatus::BadValue, EINVAL},
    StatusRow{CommandStatus::BadState, EINVAL},
    StatusRow{CommandStatus::NoResources, ENOMEM},
    StatusRow{CommandStatus::Busy, EBUSY},
};
static_assert(kErrors.size() == proto::kCommandStatuses.size());
}  // namespace

const CommandRow* command_row(CommandOpcode opcode) {
  const auto found = std::ranges::find(kRows, opcode, &CommandRow::opcode);
  return found == kRows.end() ? nullptr : &*found;
}

const CommandRow* destroy_row(Kind kind) {
  const auto found = std::ranges::find_if(kRows, [&](const CommandRow& row) {
    return row.effect == Effect::Destroy && row.kind == kind;
  });
  return found == kRows.end() ? nullptr : &*found;
}

int errno_of(CommandStatus status) {
  const auto found = std::ranges::find(kErrors, status, &StatusRow::status);
  return found == kErrors.end() ? EIO : found->error;
}
}  // namespace hca::attach
