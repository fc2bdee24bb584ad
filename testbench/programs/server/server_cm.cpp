// SPDX-License-Identifier: Apache-2.0
// Connection management of programs: connections to the server only for that.
#include <algorithm>
#include <cerrno>

#include "testbench/programs/server/server.h"

namespace hca::attach {
namespace {
// How long a request waits for a listener while programs run in real time: a program about to
// listen is slower than the simulation.
constexpr u64 kForListener = 50'000'000'000;  // ps
}  // namespace

u64 Server::cm_patience() const {
  const bool by_day =
      std::ranges::any_of(connections_, [](const Connection& c) { return c.cm && !c.process; });
  return by_day ? kForListener : 0;
}

Reply Server::answer_cm(Connection& connection, const Request& request, Descriptor& made) {
  const bool opens = CmCall(request.names[0]) == CmCall::Open;
  if (!opens) return connection.cm ? connection.cm->handle(request, made) : error_reply(EINVAL);
  const auto wanted = get<CmOpen>(request.body);
  const auto clock = clock_of(wanted.program);
  const u32 devices = wanted.devices & cm_host_->all();
  if (connection.cm || connection.session || connection.process || !devices || !clock)
    return error_reply(EINVAL);
  connection.process = *clock;
  connection.cm = std::make_unique<CmSession>(*cm_host_, devices,
                                              [process = connection.process](const Device& device) {
                                                if (process) process->event(device);
                                              });
  return {};
}
}  // namespace hca::attach
