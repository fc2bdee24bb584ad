// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <string>

#include "testbench/programs/files_library/calls.h"
#include "testbench/programs/server/file_places.h"
#include "testbench/programs/server/packet_socket.h"

namespace hca::files_library {
namespace {
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

__attribute__((constructor)) void set_up() {
  const std::string socket = variable(attach::kSocketVariable);
  if (socket.empty()) return;
  const std::string shown = variable(attach::kDevicesVariable);
  const std::string folder =
      socket + attach::kFilesSuffix + "/" + std::string(attach::view_of(shown));
  char canonical[PATH_MAX];
  if (HCA_NEXT(realpath)(folder.c_str(), canonical)) set_root(canonical);
}
}  // namespace

void refresh(const Place& place) {
  static std::atomic<bool> has_asked{false};
  if (!place.is_ours() || (!place.changes() && has_asked.exchange(true))) return;
  has_asked = true;
  const int error = errno;
  attach::Request request;
  request.verb = attach::Verb::RefreshFiles;
  request.cookie = std::strtoul(variable(attach::kRunVariable).c_str(), nullptr, 10);
  attach::Reply reply;
  const attach::Descriptor server = attach::connect_to(variable(attach::kSocketVariable));
  // Without a server the files stay as they are.
  if (server && attach::send_message(server.get(), request))
    attach::receive_message(server.get(), reply);
  errno = error;
}
}  // namespace hca::files_library
