// SPDX-License-Identifier: Apache-2.0
// A Verilated block with one packet stream in and one out, cycle by cycle. Its SystemVerilog module
// has the ports of rtl/icrc/icrc.sv.
#pragma once
#include <memory>
#include <string>

#include "rtl/common/beat.h"
#include "rtl/common/look_up_pins.h"

namespace hca::rtl {
// The model's pins in a cycle, for a waveform beside the RTL's: scope `model`. Its `in_ready` is
// valid in cycles in which a packet could start.
template <class Out>
struct ExpectedPins {
  u64 cycle = 0;
  bool in_ready = false, out_start = false, out_valid = false;
  BeatOf<Out> out{};  // valid with out_valid
};

// The Verilated module that implements a BlockRtl; verilated_block.h makes it.
template <class In, class Out>
class VerilatedBlock {
 public:
  virtual ~VerilatedBlock() = default;
  virtual void set_reset(bool active) = 0;
  virtual void set_grant(bool packets_out_ready) = 0;
  virtual void set_beat(const BeatOf<In>* packets_in) = 0;
  virtual bool in_ready() = 0;
  virtual bool out_start() = 0;
  virtual bool out_valid() const = 0;
  virtual BeatOf<Out> out() const = 0;
  virtual bool out_has_spare_bits() const { return false; }
  virtual void clock() = 0;
  virtual bool assertion_failed() const = 0;
  virtual bool has_ended() const { return false; }
  virtual void trace_to(const std::string& file) = 0;
  virtual void trace_end() = 0;
  virtual void show_model(const ExpectedPins<Out>&) {}
  virtual PinsOf<Out>* look_ups() = 0;
};

// The block starts after a reset; before the reset each register held a random value. A cycle is
// three calls in this order:
//   begin_cycle  gives the grant after the block; then in_ready(), out_valid() and out() are valid
//   drive        the beat that enters, or none; then out_start() is valid
//   end_cycle    the clock edge
// out_valid() and out() come from registers. In a block in which they do not, they are valid only
// after a call of in_ready() or out_start().
// The contract's assertions of the RTL are on; the first that fails is kept.
template <class In, class Out>
class BlockRtl {
 public:
  using InBeat = BeatOf<In>;
  using OutBeat = BeatOf<Out>;

  u32 beat_bytes() const { return beat_bytes_; }
  // Takes effect from the next cycle on; while active no beat enters.
  void set_reset(bool active) { rtl_->set_reset(active); }
  void begin_cycle(bool packets_out_ready) { rtl_->set_grant(packets_out_ready); }
  bool in_ready() { return rtl_->in_ready(); }
  bool out_valid() const { return rtl_->out_valid(); }
  OutBeat out() const { return rtl_->out(); }  // valid while out_valid()
  // While out_valid(): true if side-band bits that belong to no field are not 0.
  bool out_has_spare_bits() const { return rtl_->out_has_spare_bits(); }
  void drive(const InBeat* packets_in) { rtl_->set_beat(packets_in); }
  bool out_start() { return rtl_->out_start(); }
  void end_cycle() { rtl_->clock(); }

  bool assertion_failed() const { return rtl_->assertion_failed(); }
  // True: the RTL ended by $finish, or by signals that do not settle; it has printed where. Its
  // pins keep their values from then on.
  bool has_ended() const { return rtl_->has_ended(); }

  // Writes a waveform (FST) of all signals from the next cycle on. A cycle is a nanosecond: the
  // n-th end_cycle is the clock edge at n.5 ns, and the values before that edge are shown at n ns.
  // One file in an object's life.
  void trace_to(const std::string& file) { rtl_->trace_to(file); }
  void trace_end() { rtl_->trace_end(); }
  // Call before end_cycle: the values that a waveform shows as the model's.
  void show_model(const ExpectedPins<Out>& pins) { rtl_->show_model(pins); }

  // nullptr: the block has none.
  PinsOf<Out>* look_ups() { return rtl_->look_ups(); }

 protected:
  BlockRtl(u32 beat_bytes, std::unique_ptr<VerilatedBlock<In, Out>> rtl)
      : beat_bytes_(beat_bytes), rtl_(std::move(rtl)) {}

 private:
  u32 beat_bytes_;
  std::unique_ptr<VerilatedBlock<In, Out>> rtl_;
};
}  // namespace hca::rtl
