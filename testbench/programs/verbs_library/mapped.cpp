// SPDX-License-Identifier: Apache-2.0
// The program's rights to its own memory: the simulation moves bytes past these rights.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
// By /proc/self/maps, whose lines come in the order of addresses: `from-to rwxp ...`.
bool is_mapped(u64 address, u64 bytes, bool writable) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             std::fclose);
  if (!maps) return true;  // nobody can say
  constexpr std::size_t kLine = 4096;
  std::array<char, kLine> line;
  const u64 end = address + bytes;
  while (address < end && std::fgets(line.data(), int(line.size()), maps.get())) {
    u64 from = 0, to = 0;
    char read = 0, write = 0;
    if (std::sscanf(line.data(), "%" SCNx64 "-%" SCNx64 " %c%c", &from, &to, &read, &write) != 4 ||
        to <= address)
      continue;
    if (from > address || read != 'r' || (writable && write != 'w')) return false;
    address = to;
  }
  return address >= end;
}
}  // namespace hca::verbs_library
