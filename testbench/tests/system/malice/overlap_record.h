// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/tests/system/malice/overlap_device.h"

namespace hca::testbench::malice::overlap {
// Runs a burst on a device with time, and records the external observations in order. A host that
// reuses memory does so at the moment of the completion that permits it.
class Recorder {
 public:
  Recorder(Device& device, const Burst& burst);
  History run();

 private:
  void answered();
  void answered(const Device::Answer& answer);
  void completed(u8 actor, u32 number, proto::WcStatus status);
  void reuse(const Operation& operation);
  void end(u32 operation, Fate fate);

  Device& device_;
  const Burst burst_;
  History history_;
  std::array<std::vector<u32>, kActors> all_, completed_;  // operations: all; those with a CQE
  u32 moment_ = 0;
};
}  // namespace hca::testbench::malice::overlap
