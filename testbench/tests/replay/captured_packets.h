// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "testbench/packets/pcap_file.h"
#include "testbench/replay/replay_learn.h"

namespace hca::testbench {
using Packets = std::vector<GivenPacket>;

// The packets of a capture of vectors/captures, in order.
inline Packets packets_of(const std::string& name) {
  Packets all;
  for (CapturedFrame& f :
       read_capture(std::string(HCA_SOURCE_DIR) + "/vectors/captures/" + name + ".pcap"))
    all.push_back({all.size() + 1, f.time_ns, f.link, std::move(f.bytes), f.bytes_on_wire});
  return all;
}
}  // namespace hca::testbench
