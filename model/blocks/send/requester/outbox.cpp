// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/outbox.h"

#include "model/blocks/send/requester/ee_service.h"

namespace hca::blocks {
[[gnu::cold]] void RequesterOutbox::note_ee(const SchedulerNote& note) { ee_service->note(note); }

void RequesterOutbox::push_note() {
  if (!outputs_.notes_out->can_push()) return;
  outputs_.notes_out->push(notes_.pop());
  if (!notes_.empty()) outputs_.notes_out->wake_when_free();
}

void RequesterOutbox::push_to_command() {
  if (!faults_.empty() && outputs_.faults_out->can_push()) {
    outputs_.faults_out->push(faults_.pop());
    --for_command_;
    if (!faults_.empty()) outputs_.faults_out->wake_when_free();
  }
  if (!works_.empty() && outputs_.works_out->can_push()) {
    outputs_.works_out->push(works_.pop());
    --for_command_;
    if (!works_.empty()) outputs_.works_out->wake_when_free();
  }
}
}  // namespace hca::blocks
