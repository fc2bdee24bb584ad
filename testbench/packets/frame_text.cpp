// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/frame_text.h"

#include <fmt/format.h>

#include "model/proto/wire/packet.h"

namespace hca::testbench {
using namespace proto;

std::string hex_text(std::span<const u8> bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

std::string describe_frame(std::span<const u8> frame, LinkLayer link) {
  ParsedPacket p;
  const PacketVerdict verdict = parse(frame, link, p);
  if (verdict != PacketVerdict::Good)
    return fmt::format("{} bytes, {}", frame.size(), verdict_row(verdict).name);
  std::string text =
      fmt::format("{} {} QP {:#x} PSN {}{}", name_of(p.opcode->service), p.opcode->name,
                  p.bth.dest_qp, p.bth.psn, p.bth.ack_req ? " A" : "");
  if (p.has(Ext::XrcEth)) text += fmt::format(" SRQ {:#x}", p.xrc_eth.xrc_srq);
  if (p.has(Ext::Reth))
    text += fmt::format(" VA {:#x} R_Key {:#x} DMALen {}", p.reth.va, p.reth.rkey, p.reth.dma_len);
  if (p.has(Ext::Aeth))
    text += fmt::format(" syndrome {:#04x} MSN {}", p.aeth.syndrome, p.aeth.msn);
  if (p.payload_bytes) text += fmt::format(", {} bytes", p.payload_bytes);
  return text;
}
}  // namespace hca::testbench
