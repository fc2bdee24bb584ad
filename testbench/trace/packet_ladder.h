// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// The first frames of each queue pair in both directions, as they leave the wire.
class PacketLadder {
 public:
  static constexpr std::size_t kMost = 2000;

  explicit PacketLadder(Testbed& testbed) : testbed_(testbed) {}
  // A frame of so many bytes with a good packet; `receiver`: the receiving node; `picoseconds`: the
  // time there.
  void frame(unsigned receiver, u64 picoseconds, std::size_t bytes,
             const proto::ParsedPacket& packet);
  // A list of {"client_qpn", "server_qpn", "frames": [[ps, sender (0: the client), opcode, PSN,
  // syndrome or null, bytes]]}, by bundle and queue pair.
  nlohmann::json json() const;

 private:
  struct Rung {
    u64 picoseconds;
    std::string_view opcode;
    u32 psn;
    int syndrome;  // -1: none
    std::size_t bytes;
  };
  Testbed& testbed_;
  std::map<std::pair<unsigned, u32>, std::vector<Rung>> rungs_;  // by receiver and DestQP
};
}  // namespace hca::testbench
