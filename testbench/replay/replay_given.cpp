// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_given.h"

#include "testbench/packets/opened_frame.h"

namespace hca::testbench {
std::vector<GivenPacket> packets_of_file(const std::string& path) {
  std::vector<GivenPacket> packets;
  for (const CapturedFrame& captured : read_capture(path)) {
    DeviceFrame frame = device_frame(captured);
    packets.push_back({packets.size() + 1, captured.time_ns, frame.link, std::move(frame.bytes),
                       frame.bytes_on_wire, std::move(frame.other)});
  }
  return packets;
}
}  // namespace hca::testbench
