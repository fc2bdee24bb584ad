// SPDX-License-Identifier: Apache-2.0
// Deliberate mistakes belong to the device: code that builds and judges packets around it makes
// none.
#pragma once
#include <utility>

namespace hca::testbench {
#ifdef HCA_MUTANTS
// Mistakes are enabled during its lifetime.
class InDevice {
 public:
  InDevice() : before_(std::exchange(now_, true)) {}
  ~InDevice() { now_ = before_; }
  InDevice(const InDevice&) = delete;
  static bool now() { return now_; }

 private:
  bool before_;
  static inline bool now_ = false;
};
#else
struct InDevice {
  InDevice() {}
};
#endif
}  // namespace hca::testbench
