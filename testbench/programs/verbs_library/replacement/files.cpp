// SPDX-License-Identifier: Apache-2.0
// The functions of the replacement of libibverbs.so.1 besides the verbs: programs find them in it
// though the public header does not declare them.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string>

#include "testbench/programs/server/packet_socket.h"

#define HCA_EXPORT extern "C" __attribute__((visibility("default")))

HCA_EXPORT const char* ibv_get_sysfs_path() { return "/sys"; }

// Text of a file without the end of its line. Its length; -1: it cannot be read.
HCA_EXPORT int ibv_read_sysfs_file(const char* folder, const char* name, char* text,
                                   std::size_t room) {
  const hca::attach::Descriptor file(
      open((std::string(folder) + "/" + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || !room) return -1;
  ssize_t length = read(file.get(), text, room - 1);
  if (length < 0) return -1;
  if (length && text[length - 1] == '\n') --length;
  text[length] = 0;
  return int(length);
}

// True: destroying an object of a device that is gone is no error. It applies to devices of the
// kernel.
HCA_EXPORT bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy = false;

// Rings are shared only with the simulation, and memory is reached through the parent's.
HCA_EXPORT int ibv_dontfork_range(void*, std::size_t) { return 0; }
HCA_EXPORT int ibv_dofork_range(void*, std::size_t) { return 0; }
