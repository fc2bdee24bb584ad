// SPDX-License-Identifier: Apache-2.0
// Members of multicast groups (C9-59, G25).
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

namespace {
MulticastMember member_of(const Call& c) {
  const auto a = decode<MulticastAttributes>(c.body);
  return {make_gid(a.gid_high, a.gid_low), a.lid, c.header.object};
}
}  // namespace

CommandStatus attach_multicast(Call& c) {
  Contexts& x = c.contexts;
  const QpConfig* qp = x.find_qp(c.header.object);
  if (!qp) return CommandStatus::BadObject;
  const MulticastMember member = member_of(c);
  if (qp->service != Service::Ud || qp->qpn < x.limits.first_qp || !is_multicast(member.gid) ||
      (member.lid && !is_multicast_lid(member.lid)))
    return CommandStatus::BadValue;
  if (x.attached(member)) return CommandStatus::BadState;
  if (x.members.size() >= x.limits.multicast_members) return CommandStatus::NoResources;
  x.members.push_back(member);
  return CommandStatus::Ok;
}

CommandStatus detach_multicast(Call& c) {
  const MulticastMember member = member_of(c);
  if (!c.contexts.attached(member)) return CommandStatus::BadObject;
  std::erase(c.contexts.members, member);
  return CommandStatus::Ok;
}
}  // namespace hca::device
