// SPDX-License-Identifier: Apache-2.0
// A packet for parsing and error tests: RC SEND Only in any framing.
#pragma once
#include <algorithm>
#include <memory>

#include "model/proto/wire/packet.h"
#include "testbench/tests/proto/hex.h"

namespace hca::test {

using namespace proto;
using enum PacketVerdict;

inline Gid gid(std::string_view text) {
  const std::vector<u8> bytes = hex(text);
  Gid g;
  std::copy(bytes.begin(), bytes.end(), g.bytes.begin());
  return g;
}

inline AddressVector address(Framing framing) {
  AddressVector av;
  av.framing = framing;
  av.source_mac = 0x0A0000000001;
  av.destination_mac = 0x0A0000000002;
  av.source_lid = 0x0011;
  av.destination_lid = 0x0022;
  av.service_level = 3;
  av.virtual_lane = 1;
  av.traffic_class = 0xAB;
  av.flow_label = 0x12345;
  av.hop_limit = 7;
  av.udp_source_port = 0xC123;
  if (framing == Framing::RoceV2Ip4) {
    av.source_gid = gid_of_ipv4(0xC0A80007);
    av.destination_gid = gid_of_ipv4(0xC0A80008);
  } else {
    av.source_gid = gid("FE800000000000000000000000000001");
    av.destination_gid = gid("FE800000000000000000000000000002");
  }
  return av;
}

// RC SEND Only, DestQP 0x000123, PSN 5; PadCnt from the payload.
inline std::vector<u8> send_only(const AddressVector& av, u32 payload_bytes, u16 ip_id = 0) {
  const Path path = make_path(av);
  const OpcodeRow& row = *opcode_row(0x04);
  std::vector<u8> frame(frame_bytes(path, row, payload_bytes), 0x77);
  Bth bth{};
  bth.pkey = 0xFFFF;
  bth.dest_qp = 0x123;
  bth.psn = 5;
  write_headers(path, row, bth, {}, payload_bytes, frame.data(), ip_id);
  finish_frame(frame.data(), shape_of(path, row, payload_bytes));
  return frame;
}
inline std::vector<u8> send_only(Framing framing, u32 payload_bytes) {
  return send_only(address(framing), payload_bytes);
}

// Parses an exact-size copy of the frame, so that AddressSanitizer detects a read beyond its end.
inline PacketVerdict verdict_of(const std::vector<u8>& frame, LinkLayer link) {
  const std::unique_ptr<u8[]> exact(new u8[frame.size()]);
  std::copy(frame.begin(), frame.end(), exact.get());
  ParsedPacket packet;
  const PacketVerdict verdict = parse({exact.get(), frame.size()}, link, packet);
  if (verdict != Good) return verdict;
  if (!icrc_good({exact.get(), frame.size()}, packet)) return BadIcrc;
  if (link == LinkLayer::InfiniBand && !vcrc_good({exact.get(), frame.size()}, packet))
    return BadVcrc;
  return Good;
}

inline std::vector<u8> head(const std::vector<u8>& frame, std::size_t size) {
  return {frame.begin(), frame.begin() + std::ptrdiff_t(size)};
}

}  // namespace hca::test
