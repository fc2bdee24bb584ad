// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/xrc_domain_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace hca::attach {
namespace {
Descriptor nameless() { return Descriptor(memfd_create("xrc", MFD_CLOEXEC)); }
Descriptor same_as(const Descriptor& file) { return Descriptor(dup(file.get())); }
}  // namespace

TEST_CASE("a domain is found by the inode of its file until it is removed", "[attach]") {
  const Descriptor one = nameless(), other = nameless();
  XrcDomainFiles files;
  CHECK_FALSE(files.find(one));
  files.add(7, same_as(one));
  files.add(9, same_as(other));
  CHECK(files.find(same_as(one)) == 7u);
  CHECK(files.find(other) == 9u);
  CHECK_FALSE(files.find(nameless()));
  CHECK_FALSE(files.find(Descriptor()));
  files.remove(7);
  CHECK_FALSE(files.find(one));
  CHECK(files.find(other) == 9u);
}
}  // namespace hca::attach
