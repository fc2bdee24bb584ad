// SPDX-License-Identifier: Apache-2.0
// What programs share: XRC domains, by a file, and their target queue pairs, by their numbers.
#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "testbench/programs/server/session.h"

namespace hca::attach {
using proto::CommandOpcode;
using proto::CommandStatus;

bool Session::has_other_users(const Object& object) const {
  return device_.users_of(object.kind, object.number) > 1;
}

Reply Session::open_xrc_domain(const Request& request, std::vector<Descriptor> given) {
  if (given.size() != 1) return error_reply(EINVAL);
  const u32 oflags = request.object;
  Reply reply;
  if (const std::optional<u32> number = device_.xrc_domain_files().find(given[0])) {
    if (oflags & O_EXCL) return error_reply(EINVAL);
    reply.number = *number;
    reply.handle = add(Kind::XrcDomain, *number, request, {}).handle;
    return reply;
  }
  if (!(oflags & O_CREAT)) return error_reply(EAGAIN);
  reply = create(*command_row(CommandOpcode::AllocXrcd), request);
  if (!reply.error) device_.xrc_domain_files().add(reply.number, std::move(given[0]));
  return reply;
}

Reply Session::open_qp(const Request& request) {
  Object* const domain = find(request.names[0], Kind::XrcDomain);
  if (!domain) return error_reply(EINVAL);
  Body body{};
  if (device_.execute(CommandOpcode::QueryQpCreate, request.object, body) != CommandStatus::Ok)
    return error_reply(EINVAL);
  const auto qp = proto::decode<proto::QpCreate>(body.data());
  if (!qp.is_target || qp.xrcd != domain->number) return error_reply(EINVAL);
  Reply reply;
  reply.number = request.object;
  reply.handle = add(Kind::Qp, reply.number, request, {domain}).handle;
  return reply;
}
}  // namespace hca::attach
