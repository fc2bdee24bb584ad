// SPDX-License-Identifier: Apache-2.0
// What the server says of its devices, and of how far the programs of an `hca run` have come.
#include "testbench/attach/server.h"

namespace hca::attach {
Reply Server::list() const {
  DeviceList list;
  for (const auto& device : devices_) {
    device->name().copy(list.name[list.count].data(), kNameBytes - 1);
    list.node_guid[list.count++] = device->info().node_guid;
  }
  Reply reply;
  put(reply.body, list);
  return reply;
}

Reply Server::answer_run(Connection& connection, const Request& request) {
  Reply reply;
  if (request.verb == Verb::BeginRun) connection.run = ++last_run_;
  reply.number = connection.run;
  put(reply.body, connection.steps);
  return reply;
}
// A run that has ended is counted nowhere.
void Server::count(u32 run, u32 RunSteps::*step) {
  for (Connection& connection : connections_)
    if (run && connection.run == run) ++(connection.steps.*step);
}
}  // namespace hca::attach
