// SPDX-License-Identifier: Apache-2.0
#include "rtl/icrc_rtl.h"

#include <verilated.h>
#include <verilated_fst_c.h>

#include <cstring>
#include <stdexcept>

#include <Vicrc.h>  // made by Verilator

namespace hca::rtl {
namespace {
template <class Pins>
void put_beat(Pins& pins, const Beat& beat) {
  std::memcpy(&pins[0], beat.data.data(), kBeatBytes);
  u8 control[2];
  proto::encode(beat.control, control);
  pins[kControlWord] = u32(control[0]) << 8 | control[1];
}
template <class Pins>
Beat get_beat(const Pins& pins) {
  Beat beat;
  std::memcpy(beat.data.data(), &pins[0], kBeatBytes);
  const u32 word = pins[kControlWord];
  const u8 control[2] = {u8(word >> 8), u8(word)};
  beat.control = proto::decode<BeatControl>(control);
  return beat;
}
}  // namespace

struct IcrcRtl::Verilated {
  VerilatedContext context;
  std::unique_ptr<Vicrc> top;
  std::unique_ptr<VerilatedFstC> waves;  // before `top` goes

  void eval() {
    ::Verilated::threadContextp(&context);
    top->eval();
  }
  void dump() {
    if (waves) waves->dump(context.time());
  }
};

IcrcRtl::IcrcRtl() : rtl_(std::make_unique<Verilated>()) {
  rtl_->context.traceEverOn(true);
  rtl_->context.fatalOnError(false);  // a failed assertion is reported, not the end of the program
  rtl_->top = std::make_unique<Vicrc>(&rtl_->context, "icrc");
  Vicrc& top = *rtl_->top;
  top.clk_i = 0, top.rst_ni = 1, top.packets_in_valid_i = 0, top.packets_out_ready_i = 0;
  put_beat(top.packets_in_i, {});
  rtl_->eval();
  top.rst_ni = 0;
  rtl_->eval();
  top.clk_i = 1;
  rtl_->eval();
  top.clk_i = 0, top.rst_ni = 1;
  rtl_->eval();
}
IcrcRtl::~IcrcRtl() {
  trace_end();
  rtl_->top->final();
}

void IcrcRtl::begin_cycle(bool packets_out_ready) {
  Vicrc& top = *rtl_->top;
  top.packets_out_ready_i = packets_out_ready;
  top.packets_in_valid_i = 0;
  rtl_->eval();
}
bool IcrcRtl::in_ready() const { return rtl_->top->packets_in_ready_o; }
bool IcrcRtl::out_valid() const { return rtl_->top->packets_out_valid_o; }
Beat IcrcRtl::out() const { return get_beat(rtl_->top->packets_out_o); }

void IcrcRtl::drive(const Beat* packets_in) {
  Vicrc& top = *rtl_->top;
  top.packets_in_valid_i = packets_in != nullptr;
  if (packets_in) {
    put_beat(top.packets_in_i, *packets_in);
    rtl_->eval();
  }
}
bool IcrcRtl::out_start() const { return rtl_->top->packets_out_start_o; }

void IcrcRtl::end_cycle() {
  Vicrc& top = *rtl_->top;
  rtl_->dump();
  rtl_->context.timeInc(1);
  top.clk_i = 1;
  rtl_->eval();
  rtl_->dump();
  rtl_->context.timeInc(1);
  top.clk_i = 0;
  rtl_->eval();
}

bool IcrcRtl::assertion_failed() const { return rtl_->context.gotError(); }

void IcrcRtl::trace_to(const std::string& file) {
  if (rtl_->waves) throw std::logic_error("icrc: a waveform is being written");
  rtl_->waves = std::make_unique<VerilatedFstC>();
  rtl_->top->trace(rtl_->waves.get(), 99);
  rtl_->waves->open(file.c_str());
  if (!rtl_->waves->isOpen()) throw std::runtime_error(file + ": cannot be written");
}
void IcrcRtl::trace_end() {
  if (!rtl_->waves) return;
  rtl_->waves->close();
  rtl_->waves.reset();
}
}  // namespace hca::rtl
