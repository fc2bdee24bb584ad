// SPDX-License-Identifier: Apache-2.0
// The look-ups of a block, beside its streams. The side band of its packets_out names them: Pins.
#pragma once
#include <optional>
#include <span>

#include "model/proto/types.h"

namespace hca::rtl {
// Look-ups of contexts only.
template <class C>
class ContextPins {
 public:
  using Context = C;
  virtual ~ContextPins() = default;
  // Gives the answer of this cycle, or none; call after begin_cycle() of the BlockRtl.
  virtual void answer(const Context* context) = 0;
  // The look-up of this cycle: a number.
  virtual std::optional<u32> context_asked() const = 0;
};

struct CheckedContext;
struct CheckedRegion;
// The look-ups of rtl/responder_check/responder_check.sv.
class LookUpPins {
 public:
  virtual ~LookUpPins() = default;
  // Gives the answers of this cycle, or none; call after begin_cycle() of the BlockRtl.
  virtual void answer(const CheckedContext* context, const CheckedRegion* region) = 0;
  // The look-ups of this cycle: a QPN, or with bit 24 the number of an EE context; an R_Key.
  virtual std::optional<u32> context_asked() const = 0;
  // The SRQN of XRCETH with that QPN; 0: none. With an EE context DestQP.
  virtual u32 queue_asked() const = 0;
  virtual std::optional<u32> region_asked() const = 0;
  // Sets the P_Key table of the port.
  virtual void set_pkeys(std::span<const u16> pkeys) = 0;
  // The device has RD: requests of that service are for EE contexts.
  virtual void set_rd(bool has_rd) = 0;
};

// A block without look-ups.
struct NoPins {};
template <class Out>
struct PinsBeside {
  using Type = NoPins;
};
template <class Out>
requires requires { typename Out::Pins; }
struct PinsBeside<Out> {
  using Type = typename Out::Pins;
};
template <class Out>
using PinsOf = typename PinsBeside<Out>::Type;
}  // namespace hca::rtl
