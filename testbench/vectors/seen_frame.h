// SPDX-License-Identifier: Apache-2.0
// A frame that the device of a vector sent.
#pragma once
#include <fmt/format.h>

#include <string>

#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/packet.h"
#include "testbench/host/replay_device.h"

namespace hca::testbench {
struct SeenFrame {
  Frame bytes;
  proto::ParsedPacket packet{};
  bool good = false;
};

// The merging rule: of a run of ACKs of one queue pair only the last counts.
inline bool is_plain_ack(const SeenFrame& f) {
  return f.good && f.packet.opcode->operation == proto::Operation::Acknowledge &&
         proto::syndrome_kind(f.packet.aeth.syndrome) == proto::SyndromeKind::Ack;
}

// All of a packet but what counts packets: IPv4 identification and checksum, and so the ICRC.
inline std::string fingerprint(const SeenFrame& f) {
  std::string text;
  const std::size_t from = f.good ? f.packet.transport_offset : 0;
  const std::size_t to = f.good ? f.packet.icrc_offset : f.bytes.size();
  for (std::size_t i = from; i < to; ++i) text += fmt::format("{:02x}", f.bytes[i]);
  return text;
}
}  // namespace hca::testbench
