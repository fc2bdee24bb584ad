// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/rate.h"

namespace hca::tlm_ {
using engine::Cycle;

// One direction of the link: sends TLPs one after the other at an exact rational rate. Back-to-back
// TLPs keep the fraction of a cycle in which the line became free.
class TlpLine {
 public:
  explicit TlpLine(engine::Rate rate) : free_(rate) {}
  // A TLP of `bytes` that may start in cycle `at`; returns the first cycle in which all of it has
  // left.
  Cycle send(Cycle at, const engine::Rate::Span& bytes) {
    if (at > free_from()) free_.set(at);
    free_.advance(bytes);
    return free_from();
  }
  Cycle send(Cycle at, u64 bytes) { return send(at, free_.span_of(bytes)); }
  // Continues directly after the last transmission.
  void go_on(u64 bytes) { free_.advance(bytes); }
  // A TLP after the first of a train: it starts in `at` or when the line is free, including the
  // fraction of a cycle.
  Cycle send_in_train(Cycle at, u64 bytes) {
    const engine::Rate::Span span = free_.span_of(bytes);
    free_.advance(span);
    free_.not_before(at, span);
    return free_from();
  }
  // The end of the last transmission is at least that of `bytes` that start in cycle `at`.
  void not_before(Cycle at, const engine::Rate::Span& bytes) { free_.not_before(at, bytes); }
  Cycle free_from() const { return free_.edge(); }
  const engine::Rate& rate() const { return free_.rate(); }
  const engine::Rate::Span& span_of(u64 bytes) { return free_.span_of(bytes); }

 private:
  engine::RationalTime free_;
};
}  // namespace hca::tlm_
