// SPDX-License-Identifier: Apache-2.0
// Drives the class that Verilator generates as a VerilatedBlock. For the sources of wrappers only.
#pragma once
#include <verilated.h>
#include <verilated_fst_c.h>
#if VM_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>
#endif

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "rtl/common/side_band.h"
#include "rtl/cpp/block_rtl.h"
#include "rtl/cpp/model_waves.h"
#include "rtl/cpp/verilated_ends.h"

namespace hca::rtl {
// The first byte of a pin holds bit 0, that of a header its most significant bits.
template <class Control, class Pins>
void put_control(const Control& control, Pins& pins) {
  constexpr unsigned kBytes = SideBand<Control>::kBytes;
  static_assert(sizeof(Pins) >= kBytes);
  u8 bytes[kBytes];
  SideBand<Control>::encode(control, bytes);
  std::reverse(bytes, bytes + kBytes);
  std::memcpy(&pins, bytes, kBytes);
}
template <class Control, class Pins>
Control get_control(const Pins& pins) {
  constexpr unsigned kBytes = SideBand<Control>::kBytes;
  static_assert(sizeof(Pins) >= kBytes);
  u8 bytes[kBytes];
  std::memcpy(bytes, &pins, kBytes);
  std::reverse(bytes, bytes + kBytes);
  Control control{};
  SideBand<Control>::decode(bytes, control);
  return control;
}

// True: a bit that belongs to no field is set.
template <class Control, class Pins>
bool has_spare_bits(const Pins& pins) {
  Pins fields = pins;
  put_control(get_control<Control>(pins), fields);
  return std::memcmp(&fields, &pins, SideBand<Control>::kBytes) != 0;
}

template <class Top>
concept HasContexts = requires(Top& top) {
  top.context_valid_i;
};
template <class Top>
concept HasRegions = requires(Top& top) {
  top.region_valid_i;
};
template <class Top>
concept HasData = requires(Top& top) {
  top.packets_in_data_i;
};
template <class Top>
concept HasWaves = requires(Top& top, VerilatedFstC* waves) {
  top.trace(waves, 99);
};

// The context look-ups of the top. `changed` is called when its pins have changed.
template <class Top, class Changed, class Pins>
class VerilatedContexts : public Pins {
 public:
  VerilatedContexts(Top& top, Changed changed) : top_(top), changed_(changed) {
    top_.context_valid_i = 0;
  }
  void answer(const typename Pins::Context* context) override {
    top_.context_valid_i = context != nullptr;
    if (context) put_control(*context, top_.context_i);
    changed_();
  }
  std::optional<u32> context_asked() const override {
    return top_.context_ask_valid_o ? std::optional<u32>(top_.context_ask_o) : std::nullopt;
  }

 private:
  Top& top_;
  Changed changed_;
};
template <class Top, class Changed>
class VerilatedLookUps : public LookUpPins {
 public:
  VerilatedLookUps(Top& top, Changed changed) : top_(top), changed_(changed) {
    top_.context_valid_i = 0, top_.region_valid_i = 0;
    for (auto& word : top_.pkeys_i.m_storage) word = 0;
    top_.rd_i = 0;
  }
  void answer(const CheckedContext* context, const CheckedRegion* region) override {
    top_.context_valid_i = context != nullptr, top_.region_valid_i = region != nullptr;
    if (context) put_control(*context, top_.context_i);
    if (region) put_control(*region, top_.region_i);
    changed_();
  }
  std::optional<u32> context_asked() const override {
    return top_.context_ask_valid_o ? std::optional<u32>(top_.context_ask_o) : std::nullopt;
  }
  u32 queue_asked() const override { return top_.context_queue_o; }
  std::optional<u32> region_asked() const override {
    return top_.region_ask_valid_o ? std::optional<u32>(top_.region_ask_o) : std::nullopt;
  }
  void set_pkeys(std::span<const u16> pkeys) override {
    for (std::size_t i = 0; i < pkeys.size(); ++i) {
      auto& word = top_.pkeys_i.m_storage[i / 2];
      const unsigned at = 16 * (i % 2);
      word = (word & ~(u32{0xffff} << at)) | u32{pkeys[i]} << at;
    }
    changed_();
  }
  void set_rd(bool has_rd) override {
    top_.rd_i = has_rd;
    changed_();
  }

 private:
  Top& top_;
  Changed changed_;
};

// The top is evaluated at the clock edge, and before a read of an output that depends on its pins
// in the same cycle; registered outputs are read as they are.
template <class Top, class In, class Out>
class VerilatedTop : public VerilatedBlock<In, Out> {
 public:
  explicit VerilatedTop(const char* name) {
    context_.traceEverOn(true);
#if !VM_COVERAGE                                  // coverage counts what packets do
    context_.randReset(2), context_.randSeed(1);  // registers begin with any value
#endif
    context_.fatalOnError(false);  // a failed assertion is reported and does not end the program
    top_ = std::make_unique<Top>(&context_, name);
    top_->clk_i = 0, top_->rst_ni = 1, top_->packets_in_valid_i = 0, top_->packets_out_ready_i = 0;
    [[maybe_unused]] const auto changed = [this] { stale_ = true; };
    using Changed [[maybe_unused]] = decltype(changed);
    if constexpr (HasRegions<Top>)
      look_ups_ = std::make_unique<VerilatedLookUps<Top, Changed>>(*top_, changed);
    else if constexpr (HasContexts<Top>)
      look_ups_ = std::make_unique<VerilatedContexts<Top, Changed, PinsOf<Out>>>(*top_, changed);
    put({});
    eval();
    top_->rst_ni = 0;
    eval();
    top_->clk_i = 1;
    eval();
    top_->clk_i = 0, top_->rst_ni = 1;
    context_.timeInc(kHalfCycle);  // the first cycle is at 1 ns
    stale_ = true;
  }
  ~VerilatedTop() override {
    end_waves();
    Verilated::threadContextp(&context_);  // the top removes itself from this context
    top_->final();
#if VM_COVERAGE  // writes the counts for verilator_coverage into the current folder
    const auto counts = std::string(top_->modelName()) + "_" + std::to_string(getpid()) + ".dat";
    context_.coveragep()->write(counts.c_str());
#endif
  }

  void set_reset(bool active) override { top_->rst_ni = !active, stale_ = true; }
  void set_grant(bool packets_out_ready) override {
    top_->packets_out_ready_i = packets_out_ready;
    top_->packets_in_valid_i = 0;
    stale_ = true;
  }
  void set_beat(const BeatOf<In>* packets_in) override {
    if (!packets_in) return;
    top_->packets_in_valid_i = 1;
    put(*packets_in);
    stale_ = true;
  }
  bool in_ready() override {
    settle();
    return top_->packets_in_ready_o;
  }
  bool out_start() override {
    settle();
    return top_->packets_out_start_o;
  }
  bool out_valid() const override { return top_->packets_out_valid_o; }
  BeatOf<Out> out() const override {
    BeatOf<Out> beat;
    beat.control = get_control<Out>(top_->packets_out_o);
    if constexpr (HasData<Top>)
      std::memcpy(beat.data.data(), &top_->packets_out_data_o, sizeof(top_->packets_out_data_o));
    return beat;
  }
  bool out_has_spare_bits() const override { return has_spare_bits<Out>(top_->packets_out_o); }
  void clock() override {
    settle();
    context_.timeInc(kHalfCycle);
    dump();
    context_.timeInc(kHalfCycle);
    top_->clk_i = 1;
    eval();
    dump();
    top_->clk_i = 0;
    stale_ = true;
  }
  bool assertion_failed() const override { return context_.gotError(); }
  bool has_ended() const override { return context_.gotFinish(); }

  void trace_to(const std::string& file) override {
    if (waves_) throw std::logic_error("a waveform is being written");
    if constexpr (HasWaves<Top>) {
      waves_ = std::make_unique<VerilatedFstC>();
      top_->trace(waves_.get(), 99);
      u32 data_bits = 0;
      if constexpr (HasData<Top>) data_bits = 8 * sizeof(top_->packets_out_data_o);
      model_ = std::make_unique<ModelWaves<Out>>(data_bits);
      model_->add_to(*waves_->spTrace());
    } else {
      throw std::logic_error("Verilated without waveforms");
    }
    waves_->set_time_unit("1ns"), waves_->set_time_resolution("100ps");
    waves_->open(file.c_str());
    if (!waves_->isOpen()) throw std::runtime_error(file + ": cannot be written");
  }
  void trace_end() override { end_waves(); }
  void show_model(const ExpectedPins<Out>& pins) override {
    if (waves_) model_->show(pins);
  }
  PinsOf<Out>* look_ups() override { return look_ups_.get(); }

  Top& top() { return *top_; }

 private:
  void put(const BeatOf<In>& beat) {
    put_control(beat.control, top_->packets_in_i);
    if constexpr (HasData<Top>)
      std::memcpy(&top_->packets_in_data_i, beat.data.data(), sizeof(top_->packets_in_data_i));
  }
  void settle() {
    if (stale_) eval();
  }
  void eval() {
    stale_ = false;
    if (has_ended()) return;  // a second $finish would end the program
    Verilated::threadContextp(&context_);
    try {
      top_->eval();
    } catch (const RtlEnded&) {  // has_ended() reports it
    }
  }
  void dump() {
    if (waves_) waves_->dump(context_.time());
  }
  void end_waves() {
    if (!waves_) return;
    waves_->close();
    waves_.reset();
  }

  static constexpr unsigned kHalfCycle = 5;  // in units of 100 ps

  VerilatedContext context_;
  bool stale_ = true;  // pins have changed since the last evaluation
  std::unique_ptr<Top> top_;
  std::unique_ptr<PinsOf<Out>> look_ups_;
  std::unique_ptr<VerilatedFstC> waves_;  // destroyed before `top_`
  std::unique_ptr<ModelWaves<Out>> model_;
};

// Makes a block of one of the two widths; `set_up` gets its top before it is used.
template <class Top256, class Top512, class In, class Out, class SetUp>
std::unique_ptr<VerilatedBlock<In, Out>> make_block(const char* name, u32 beat_bytes,
                                                    SetUp&& set_up) {
  const auto make = [&]<class Top>() -> std::unique_ptr<VerilatedBlock<In, Out>> {
    auto block = std::make_unique<VerilatedTop<Top, In, Out>>(name);
    set_up(block->top());
    return block;
  };
  if (beat_bytes == 32) return make.template operator()<Top256>();
  if (beat_bytes == 64) return make.template operator()<Top512>();
  throw std::invalid_argument(std::string(name) + ": a beat has 32 or 64 bytes, not " +
                              std::to_string(beat_bytes));
}
}  // namespace hca::rtl
