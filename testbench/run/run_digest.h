// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <vector>

#include "model/engine/probe.h"

namespace hca::testbench {
// The hash of a run up to a moving end: events at or after the end count only once the end has
// moved. Some of them have been executed already, with long quanta more than with short ones.
class RunDigest : public engine::ProbeSink {
 public:
  void event(const engine::Event& event) override {
    if (event.at < end_)
      digest_.event(event);
    else
      later_.push_back(event);
  }
  void until(engine::Cycle end) {
    end_ = end;
    for (const engine::Event& e : std::exchange(later_, {})) event(e);
  }
  u64 value() const { return digest_.value(); }

 private:
  engine::DigestSink digest_;
  engine::Cycle end_ = engine::kNever;
  std::vector<engine::Event> later_;
};
}  // namespace hca::testbench
