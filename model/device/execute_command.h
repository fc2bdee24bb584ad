// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "model/device/contexts.h"
#include "model/proto/interface/commands.h"
#include "model/proto/interface/events.h"

namespace hca::device {
// Executes one command block in place: header and structure in, header and result out. The effect
// lists the runner's tasks: flush or clear the queues of a queue pair, or let them continue; write
// the message of a vector.
struct CommandEffect {
  u32 qpn = 0;
  bool flush = false, clear = false, resume = false;
  bool start = false;     // it left RTR for RTS
  bool drain = false;     // it entered SQD
  bool recover = false;   // it left SQE for RTS
  bool migrates = false;  // it goes to its alternate path (device::migrate())
  // An EE context (its EE context number) that entered Error, Reset, or was destroyed: its messages
  // end, and with this status the work requests of queue pairs that ask for it.
  std::optional<u32> ended_eec{};
  proto::WcStatus ended_status{};
  std::optional<u32> changed_eec{};  // it may go on
  // A key, a queue or a queue pair was removed: the command is written back when the earlier judged
  // accesses have ended.
  bool takes_away = false;
  std::optional<u32> key{};  // the removed key
  bool message = false;
  u16 vector = 0;
  std::optional<proto::Event> event{};  // to raise
  std::optional<u32> cqn{};             // a CQ that was changed or destroyed: its event may be due
  // SetPort: the events to report for the port.
  proto::PortEvents port_events = 0;
  u32 port = 0;
};
// T15: the cable of a port breaks, and the port is Down; or it is repaired, and the port has the
// state that SetPort requested last. Returns the events to report. `port`: from 1 on.
proto::PortEvents change_cable(Contexts& contexts, u32 port, bool is_broken);
// ERR-18: the device fails as a whole. Returns the queue pairs that enter Error; empty if it had
// failed before.
std::vector<u32> fail_device(Contexts& contexts);
CommandEffect execute_command(Contexts& contexts, u8* block, std::span<const u64> pages = {});
// The page list that must be read from host memory before the execution.
proto::PageList page_list_of(const u8* block);
}  // namespace hca::device
