// SPDX-License-Identifier: Apache-2.0
// Mailbox commands. Each: its opcode (1 byte), its object (4), the length of its body (1), its
// body. Every one is answered.
#include <cstddef>
#include <vector>

#include "model/proto/interface/commands.h"
#include "testbench/fuzz/shared/device.h"

using namespace hca;
using namespace hca::proto;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
  fuzz::Input input(data, size);
  fuzz::Device device(input.takes_cycle_model());
  const u64 at = device.verbs().alloc(kCommandBytes, 4096);
  for (u32 i = 0; i < 32 && !input.empty(); ++i) {
    std::array<u8, kCommandBytes> block{};
    const CommandOpcode opcode = CommandOpcode(input.number(1));
    encode(CommandHeader{opcode, CommandStatus::Ok, false, u32(input.number(4))}, block.data());
    const auto body = input.bytes(input.number(1));
    std::copy(body.begin(), body.end(), block.begin() + kCommandHeaderBytes);
    device.verbs().memory().write(at, block);
    std::array<u8, 8> bell;
    encode(CommandDoorbell{at}, bell.data());
    device.model().mmio_write(u32(BarOffset::CommandDoorbell), bell);
    device.model().run();
    device.verbs().memory().read(at, block.data(), block.size());
    fuzz::require(decode<CommandHeader>(block.data()).done);
  }
  device.model().run();
  return 0;
}
