// SPDX-License-Identifier: Apache-2.0
// The look-ups of rtl/responder_check.sv, beside its streams.
#pragma once
#include <optional>
#include <span>

#include "rtl/judged.h"

namespace hca::rtl {
class LookUpPins {
 public:
  virtual ~LookUpPins() = default;
  // The answers of this cycle, or none; behind begin_cycle() of the BlockRtl.
  virtual void answer(const CheckedContext* context, const CheckedRegion* region) = 0;
  // What is asked for in this cycle: a QPN, an R_Key.
  virtual std::optional<u32> context_asked() const = 0;
  virtual std::optional<u32> region_asked() const = 0;
  // The P_Key table of the port.
  virtual void set_pkeys(std::span<const u16> pkeys) = 0;
};
}  // namespace hca::rtl
