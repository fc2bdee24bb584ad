// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace hca::testbench {

struct PcapngInterface {
  std::string name;  // as the file says, else "interface N"
  int link_type;
};

// The interfaces that a pcapng file describes, in the order of the file; empty for other files and
// for damaged ones (libpcap says what is wrong with those).
std::vector<PcapngInterface> pcapng_interfaces(const std::string& path);

}  // namespace hca::testbench
