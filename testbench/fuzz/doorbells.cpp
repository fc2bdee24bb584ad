// SPDX-License-Identifier: Apache-2.0
// Writes to the BAR. Each: two bytes of the offset, one of the length, its bytes. The rings hold
// what an application posted before it went mad.
#include <cstddef>
#include <vector>

#include "model/proto/interface/device.h"
#include "testbench/fuzz/shared/device.h"

using namespace hca;

namespace {
constexpr std::size_t kBellBytes = proto::bytes_of<proto::QueueDoorbell>();
constexpr std::size_t kIndexHigh = kBellBytes - 2, kIndexLow = kBellBytes - 1;  // ProducerIndex
constexpr u8 kMostAhead = 31;  // twice the entries of a queue, nearly

bool rings_queue(u32 offset) {
  using enum proto::BarOffset;
  const auto at = proto::BarOffset(offset % proto::kUserPageBytes);
  return at == SendDoorbell || at == ReceiveDoorbell || at == SharedDoorbell || at == PushBuffer;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  fuzz::Input input(data, size);
  fuzz::Device device(input.takes_cycle_model());
  device.post_receives();
  for (std::size_t i = 0; i < 2; ++i) {
    const testbench::SgeList sge{fuzz::Device::kMemory, 700, device.key()};
    testbench::SendWr wr;
    wr.sg_list = {&sge, 1}, wr.send_flags = testbench::kSignaled;
    device.verbs().post_send(device.qp(i), wr);
  }
  u16 index = fuzz::Device::kReceives;
  for (u32 i = 0; i < 32 && !input.empty(); ++i) {
    const u32 offset = u32(input.number(2));
    const auto bytes = input.bytes(input.number(1));
    std::vector<u8> write(bytes.begin(), bytes.end());
    // An index far ahead, which is one that goes back as well: each WQE up to there is flushed.
    if (rings_queue(offset) && write.size() >= kBellBytes && !input.is_rare()) {
      index = u16(index + (write[kIndexLow] & kMostAhead));
      write[kIndexHigh] = u8(index >> 8), write[kIndexLow] = u8(index);
    }
    device.model().mmio_write(offset, write);
    device.model().run();
  }
  device.model().run();
  return 0;
}
