// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "testbench/programs/files_library/place.h"
#include "testbench/programs/server/file_places.h"

namespace hca::files_library {
namespace {
std::string found(const char* path) {
  const Found at = find_place(path);
  return at.place ? std::string(at.place) + "|" + at.rest : "";
}
}  // namespace

TEST_CASE("a path that leads to the files of HCAs is found, however it is written", "[attach]") {
  const char* const kHca = "/sys/class/infiniband|/hca0/node_guid";
  for (const char* path :
       {"/sys/class/infiniband/hca0/node_guid", "//sys//class/infiniband/hca0/node_guid",
        "/sys/./class/infiniband/hca0/node_guid", "/sys/class/net/../infiniband/hca0/node_guid",
        "/proc/../sys/class/infiniband/hca0/node_guid"})
    CHECK(found(path) == kHca);
  CHECK(found("/sys/class/infiniband") == "/sys/class/infiniband|");
  CHECK(found("/sys/class/infiniband/") == "/sys/class/infiniband|/");
  CHECK(found("/sys/class/infiniband_verbs/uverbs0") == "/sys/class/infiniband_verbs|/uverbs0");
  // What follows is the kernel's to resolve: hca0 is a link.
  CHECK(found("/sys/class/infiniband/hca0/..") == "/sys/class/infiniband|/hca0/..");
}

TEST_CASE("other paths are left alone", "[attach]") {
  for (const char* path :
       {"/", "/sys", "/sys/class", "/sys/class/infiniband_cm", "/sys/class/infinibandx/hca0",
        "/dev/null", "/dev/infinibandx", "/opt/sys/class/infiniband", "/sysclass/infiniband",
        "sys/class/infiniband", ""})
    CHECK(found(path) == "");
  const std::string deep = "/sys/" + std::string(5000, 'x') + "/../class/infiniband";
  CHECK(found(deep.c_str()) == "");
}

TEST_CASE("device nodes have numbers", "[attach]") {
  const auto node = [](const char* path) { return node_of(find_place(path)); };
  CHECK(node("/dev/infiniband/uverbs0") == 0);
  CHECK(node("/dev/infiniband/uverbs1") == 1);
  CHECK(node("/dev//infiniband//uverbs1") == 1);
  for (const char* path :
       {"/dev/infiniband/uverbs", "/dev/infiniband/uverbsx", "/dev/infiniband/uverbs0/x",
        "/dev/infiniband", "/dev/infiniband/umad0", "/sys/class/infiniband_verbs/uverbs0"})
    CHECK(node(path) == -1);
}

TEST_CASE("what changes of a port is read anew, tables are not", "[attach]") {
  using attach::changes;
  CHECK(changes("/sys/class/infiniband/hca0/ports/1/state"));
  CHECK(changes("/sys/class/infiniband/hca0/ports/1/counters/port_xmit_data"));
  CHECK(changes("/sys/class/infiniband/hca0/ports/2/hw_counters/bad_icrc"));
  CHECK_FALSE(changes("/sys/class/infiniband/hca0/ports/1/gids/0"));
  CHECK_FALSE(changes("/sys/class/infiniband/hca0/node_guid"));
}

TEST_CASE("a program sees one HCA or all", "[attach]") {
  using attach::view_of;
  CHECK(view_of("") == "all");
  CHECK(view_of("hca1") == "hca1");
  CHECK(view_of("hca0,hca1") == "all");
}
}  // namespace hca::files_library
