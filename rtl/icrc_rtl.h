// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "rtl/beat.h"

namespace hca::rtl {
// rtl/icrc.sv, cycle by cycle. A cycle is three calls in this order:
//   begin_cycle  gives the grant behind the block; then in_ready(), out_valid() and out() stand
//   drive        the beat that enters, or none; then out_start() stands
//   end_cycle    the clock edge
// The contract's assertions of the RTL are on; the first that fails is kept.
class IcrcRtl {
 public:
  IcrcRtl();  // comes out of reset
  ~IcrcRtl();

  void begin_cycle(bool packets_out_ready);
  bool in_ready() const;
  bool out_valid() const;
  Beat out() const;  // meant while out_valid()
  void drive(const Beat* packets_in);
  bool out_start() const;
  void end_cycle();

  bool assertion_failed() const;

  // Waveform (FST) of all signals from the next cycle on, two time steps a cycle. One file in an
  // object's life.
  void trace_to(const std::string& file);
  void trace_end();

 private:
  struct Verilated;
  std::unique_ptr<Verilated> rtl_;
};
}  // namespace hca::rtl
