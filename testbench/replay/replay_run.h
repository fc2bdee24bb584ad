// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/replay/replay.h"

namespace hca::testbench {
struct RunEnd {
  std::size_t items;  // timeline items that were processed
  bool may_lose;      // a frame seems to be lost between the recording point and the device
};
// One run over one timeline. `losses`: frames assumed lost are not delivered.
RunEnd run_replay(const Capture& capture, End end, const ReplayRunner& runner,
                  const Timeline& timeline, bool losses, ReplayReport& report);
}  // namespace hca::testbench
