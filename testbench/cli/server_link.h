// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "testbench/programs/server/packet_socket.h"

namespace hca::cli {
// Requests of this process to an `hca serve`.
class ServerLink {
 public:
  // Waits this many seconds for a server that is not ready yet. Throws std::runtime_error.
  ServerLink(const std::string& socket, double seconds = 0);
  attach::Reply ask(attach::Verb verb, u64 cookie = 0) const;
  attach::Reply ask(const attach::Request& request) const;

 private:
  const std::string socket_;
  attach::Descriptor end_;
};
}  // namespace hca::cli
