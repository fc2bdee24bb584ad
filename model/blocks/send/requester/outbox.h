// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/requester_part.h"

namespace hca::blocks {
// What the requester has to say to the scheduler and to `command`: links take one item a cycle.
class RequesterOutbox : RequesterPart {
 public:
  explicit RequesterOutbox(const RequesterPart& shared) : RequesterPart(shared) {}

  void note(const SchedulerNote& note) { notes_.push(note); }
  void fault(const Fault& fault) {
    faults_.push(fault);
    ++for_command_;
  }
  // A work request for `command`, to be filled in.
  device::LocalWork& add_work() {
    ++for_command_;
    return works_.add();
  }
  // At the end of each tick.
  void push() {
    if (!notes_.empty()) push_note();
    if (for_command_) [[unlikely]]
      push_to_command();
  }

 private:
  void push_note();
  void push_to_command();

  Ring<SchedulerNote> notes_;
  u32 for_command_ = 0;  // faults_ and works_
  Ring<Fault> faults_;
  Ring<device::LocalWork> works_;
};
}  // namespace hca::blocks
