// SPDX-License-Identifier: Apache-2.0
// The places in /sys and /dev at which programs look for HCAs, and the folder of `hca serve` with
// their replacements. Shared by the server, which writes those files, and the library, which
// redirects to them.
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// Each HCA is a PCI function on a bus of a domain that real machines do not use.
inline constexpr std::string_view kPciRoot = "/sys/devices/pci8000:00";
inline std::string pci_address(std::size_t index) {
  return "8000:00:0" + std::to_string(index + 1) + ".0";
}
// The character devices of the verbs: 231 is their major number in Linux, minor numbers begin at
// 192.
inline constexpr unsigned kVerbsMajor = 231, kVerbsMinor = 192;
inline constexpr std::string_view kNodeFolder = "/dev/infiniband";
inline constexpr std::string_view kNodePrefix = "/dev/infiniband/uverbs";

// Paths at or below these are redirected to the files of the server.
inline constexpr std::array<std::string_view, 9> kPlaces{
    "/sys/class/infiniband",
    "/sys/class/infiniband_verbs",
    "/sys/class/infiniband_mad",
    kPciRoot,
    "/sys/bus/pci/devices/8000:00:01.0",
    "/sys/bus/pci/devices/8000:00:02.0",
    "/sys/dev/char/231:192",
    "/sys/dev/char/231:193",
    kNodeFolder,
};
// Files that change while the server runs: it rewrites them before they are read.
inline constexpr std::array<std::string_view, 5> kChanging{"/state", "/phys_state", "/rate",
                                                           "/counters/", "/hw_counters/"};
constexpr bool changes(std::string_view path) {
  const std::size_t port = path.find("/ports/");
  if (port == path.npos) return false;
  for (std::string_view part : kChanging)
    if (path.find(part, port) != path.npos) return true;
  return false;
}

// Beside the socket: contains a folder for each selection of HCAs that a program may see.
inline constexpr char kFilesSuffix[] = ".files";
inline constexpr std::string_view kAllDevices = "all";
// `shown`: comma-separated names; empty: all.
constexpr std::string_view view_of(std::string_view shown) {
  return shown.empty() || shown.find(',') != shown.npos ? kAllDevices : shown;
}
}  // namespace hca::attach
