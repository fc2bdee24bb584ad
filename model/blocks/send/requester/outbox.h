// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/requester_part.h"

namespace hca::blocks {
class EeService;

// Queues the requester's items for the scheduler and for `command`: their links take one item a
// cycle.
class RequesterOutbox : RequesterPart {
 public:
  explicit RequesterOutbox(const RequesterPart& shared) : RequesterPart(shared) {}

  // The scheduler does not know EE contexts.
  EeService* ee_service = nullptr;
  void note(const SchedulerNote& note) {
    if (device::is_ee(note.qpn)) [[unlikely]]
      return note_ee(note);
    notes_.push(note);
  }
  void fault(const Fault& fault) {
    faults_.push(fault);
    ++for_command_;
  }
  // Adds a work request for `command`; the caller fills it in.
  device::LocalWork& add_work() {
    ++for_command_;
    return works_.add();
  }
  // Call at the end of each tick.
  void push() {
    if (!notes_.empty()) push_note();
    if (for_command_) [[unlikely]]
      push_to_command();
  }

 private:
  void note_ee(const SchedulerNote& note);
  void push_note();
  void push_to_command();

  Ring<SchedulerNote> notes_;
  u32 for_command_ = 0;  // items in faults_ and works_
  Ring<Fault> faults_;
  Ring<device::LocalWork> works_;
};
}  // namespace hca::blocks
