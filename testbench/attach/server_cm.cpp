// SPDX-License-Identifier: Apache-2.0
// Connection management of programs: connections to the server that are for that alone.
#include <algorithm>

#include "testbench/attach/server.h"

namespace hca::attach {
namespace {
// So long a request waits for a listener while programs run by the time of day: who is about to
// listen is seldom as quick as the simulation.
constexpr u64 kForListener = 50'000'000'000;
}  // namespace

Reply Server::answer_cm(Connection& connection, const Request& request, Descriptor& made) {
  if (CmCall(request.names[0]) != CmCall::Open) {
    Reply reply;
    if (connection.cm) return connection.cm->handle(request, made);
    return reply.error = EINVAL, reply;
  }
  Reply reply;
  const auto wanted = get<CmOpen>(request.body);
  const auto clock = std::ranges::find_if(connections_, [&](const Connection& c) {
    return c.is_clock && c.process->number() == wanted.program;
  });
  const u32 devices = wanted.devices & cm_host_->all();
  if (connection.cm || connection.session || connection.process || !devices ||
      (wanted.program && clock == connections_.end()))
    return reply.error = EINVAL, reply;
  if (wanted.program) connection.process = clock->process;
  for (const auto& device : devices_) device->cm().set_patience(wanted.program ? 0 : kForListener);
  connection.cm = std::make_unique<CmSession>(*cm_host_, devices,
                                              [process = connection.process](const Device& device) {
                                                if (process) process->event(device);
                                              });
  return reply;
}
}  // namespace hca::attach
