// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "testbench/host/host_cpu.h"

namespace hca::testbench {
// Programs that share a core: they alternate, action by action.
class ProgramGroup : public Program {
 public:
  void add(Program& program) { programs_.push_back(&program); }
  Cycle act(Cycle now) override {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      Program& program = *programs_[next_];
      next_ = next_ + 1 == programs_.size() ? 0 : next_ + 1;
      if (const Cycle taken = program.act(now)) return taken;
    }
    return 0;
  }
  Cycle wakes_at() const override {
    Cycle at = engine::kNever;
    for (const Program* program : programs_) at = std::min(at, program->wakes_at());
    return at;
  }
  bool waits_for_events() const override {
    return std::all_of(programs_.begin(), programs_.end(),
                       [](const Program* p) { return p->waits_for_events(); });
  }
  bool finished() const override {
    return std::all_of(programs_.begin(), programs_.end(),
                       [](const Program* p) { return p->finished(); });
  }
  bool failed() const override {
    return std::any_of(programs_.begin(), programs_.end(),
                       [](const Program* p) { return p->failed(); });
  }

 private:
  std::vector<Program*> programs_;
  std::size_t next_ = 0;
};
}  // namespace hca::testbench
