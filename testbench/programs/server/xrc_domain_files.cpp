// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/xrc_domain_files.h"

#include <sys/stat.h>

#include <algorithm>

namespace hca::attach {
std::optional<u32> XrcDomainFiles::find(const Descriptor& file) const {
  struct stat wanted;
  if (fstat(file.get(), &wanted)) return std::nullopt;
  for (const Row& row : rows_) {
    struct stat its;
    if (fstat(row.file.get(), &its)) continue;
    if (its.st_dev == wanted.st_dev && its.st_ino == wanted.st_ino) return row.number;
  }
  return std::nullopt;
}

void XrcDomainFiles::remove(u32 number) {
  std::erase_if(rows_, [&](const Row& row) { return row.number == number; });
}
}  // namespace hca::attach
