// SPDX-License-Identifier: Apache-2.0
// WQEs as no driver writes them. Each: a byte of flags, one of its length, its bytes. Flags: the
// queue pair (bits 1:0), its receive queue (4), the right index (8), the region's key in its SGEs
// (16), the EE context of the device (16, RD), the doorbell rings (32).
#include <cstddef>
#include <vector>

#include "model/proto/bytes.h"
#include "model/proto/interface/device.h"
#include "model/proto/transport/ee_context.h"
#include "testbench/fuzz/shared/device.h"

using namespace hca;
using namespace hca::proto;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  fuzz::Input input(data, size);
  fuzz::Device device(input.takes_cycle_model());
  std::array<std::array<u16, 2>, fuzz::Device::kQps> posted{};
  for (u32 i = 0; i < 16 && !input.empty(); ++i) {
    const u64 flags = input.number(1), bytes = input.number(1);
    const auto given = input.bytes(bytes);
    std::vector<u8> wqe(given.begin(), given.end());
    testbench::Qp& qp = device.qp(fuzz::Device::index_of(flags));
    const bool receives = flags & 4;
    u16& count = posted[fuzz::Device::index_of(flags) % fuzz::Device::kQps][receives];
    const u8 log_stride = receives ? qp.rq_log_stride : qp.sq_log_stride;
    const u32 head = receives ? bytes_of<ReceiveWqe>() : bytes_of<SendWqe>();
    wqe.resize(std::clamp<std::size_t>(wqe.size(), head, std::size_t{1} << log_stride));
    if (flags & 8 && receives) {
      ReceiveWqe r = decode<ReceiveWqe>(wqe.data());
      r.index = count, encode(r, wqe.data());
    } else if (flags & 8) {
      SendWqe s = decode<SendWqe>(wqe.data());
      s.index = count, encode(s, wqe.data());
    }
    std::size_t segments = head;
    if (!receives && qp.cap.service == Service::Rd) {
      const auto opcode = std::size_t(decode<SendWqe>(wqe.data()).opcode);
      const std::size_t at = rd_address_offset(kWorkRows[std::min(opcode, kWorkRows.size() - 1)]);
      segments = at + kRdAddressBytes;
      const RdAddress to{device.eecn(), fuzz::Device::kPeerQpn, fuzz::Device::kQkey};
      if (flags & 16 && segments <= wqe.size()) encode(to, wqe.data() + at);
    }
    for (std::size_t at = segments; flags & 16 && at + kSgeBytes <= wqe.size(); at += kSgeBytes) {
      Sge sge = decode<Sge>(wqe.data() + at);
      sge.lkey = device.key(), sge.va = fuzz::Device::kMemory + sge.va % 4096, sge.bytes %= 8192;
      encode(sge, wqe.data() + at);
    }
    const u64 ring = receives ? qp.rq_address : qp.sq_address;
    device.verbs().memory().write(ring + (u64{count++ % 16u} << log_stride), wqe);
    if (!(flags & 32)) continue;
    std::array<u8, 8> bell;
    encode(QueueDoorbell{qp.qpn, count}, bell.data());
    device.model().mmio_write(u32(receives ? BarOffset::ReceiveDoorbell : BarOffset::SendDoorbell),
                              bell);
    device.model().run();
  }
  device.finish();
  return 0;
}
