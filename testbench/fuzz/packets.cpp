// SPDX-License-Identifier: Apache-2.0
// Packets to a device that is ready for them. Each: a byte of flags, two of its length, its bytes.
// Flags: the queue pair that it is turned to (bits 1:0, 3: as it is), a small PSN (4), the region's
// key and an address in it (8), right CRCs (16), its SRQ, its EE context and its Q_Key (32).
#include <cstddef>
#include <vector>

#include "testbench/fuzz/shared/device.h"

using namespace hca;
using namespace hca::proto;

namespace {
void mend(fuzz::Device& device, std::vector<u8>& frame, u64 flags) {
  ParsedPacket p;
  if (parse(frame, LinkLayer::Ethernet, p) != PacketVerdict::Good) return;
  u8* const transport = frame.data() + p.transport_offset;
  const std::size_t qp = fuzz::Device::index_of(flags);
  if (qp < fuzz::Device::kQps) p.bth.dest_qp = device.qp(qp).qpn;
  if (flags & 4) p.bth.psn &= 0xf;
  encode(p.bth, transport);
  const auto change = [&](auto& header) {
    header.rkey = device.key();
    header.va = fuzz::Device::kMemory + header.va % 4096;
  };
  if (flags & 32) {
    p.xrc_eth.xrc_srq = device.srqn();
    p.rdeth.ee_context = device.eecn();
    p.deth.qkey = fuzz::Device::kQkey;
  }
  if (flags & 8) {
    change(p.reth);
    change(p.atomic_eth);
  }
  write_ext(*p.opcode, p, transport + bytes_of<Bth>());
  if (flags & 16) finish_frame(frame.data(), p);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  fuzz::Input input(data, size);
  fuzz::Device device(input.takes_cycle_model());
  device.post_receives();
  for (u32 i = 0; i < 16 && !input.empty(); ++i) {
    const u64 flags = input.number(1), bytes = input.number(2) % 4609;
    const auto given = input.bytes(bytes);
    std::vector<u8> frame(given.begin(), given.end());
    if (frame.empty()) continue;
    mend(device, frame, flags);
    device.model().inject(frame);
    device.model().run();
  }
  device.finish();
  return 0;
}
