// SPDX-License-Identifier: Apache-2.0
// Connection management of programs: connections to the server that are for that alone.
#include <cerrno>

#include "testbench/attach/server.h"

namespace hca::attach {
namespace {
// So long a request waits for a listener while programs run by the time of day: who is about to
// listen is seldom as quick as the simulation.
constexpr u64 kForListener = 50'000'000'000;
}  // namespace

Reply Server::answer_cm(Connection& connection, const Request& request, Descriptor& made) {
  if (CmCall(request.names[0]) != CmCall::Open)
    return connection.cm ? connection.cm->handle(request, made) : refused(EINVAL);
  const auto wanted = get<CmOpen>(request.body);
  const auto clock = clock_of(wanted.program);
  const u32 devices = wanted.devices & cm_host_->all();
  if (connection.cm || connection.session || connection.process || !devices || !clock)
    return refused(EINVAL);
  connection.process = *clock;
  for (const auto& device : devices_) device->cm().set_patience(wanted.program ? 0 : kForListener);
  connection.cm = std::make_unique<CmSession>(*cm_host_, devices,
                                              [process = connection.process](const Device& device) {
                                                if (process) process->event(device);
                                              });
  return {};
}
}  // namespace hca::attach
