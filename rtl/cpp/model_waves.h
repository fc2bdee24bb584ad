// SPDX-License-Identifier: Apache-2.0
// Writes the model's pins beside the RTL's signals into a waveform of Verilator: scope `model`,
// with the names of the RTL's ports, and the number of the cycle.
#pragma once
#include <verilated_fst_c.h>

#include <string>
#include <vector>

#include "rtl/common/side_band.h"
#include "rtl/cpp/block_rtl.h"

namespace hca::rtl {
template <class Out>
class ModelWaves {
 public:
  // `data_bits`: bits of a beat's data; 0: the beats have none.
  explicit ModelWaves(u32 data_bits) {
    add("cycle", 64), add("packets_in_ready", 1);
    add("packets_out_start", 1), add("packets_out_valid", 1);
    Band::for_each_part([&](std::string_view part, const proto::HeaderInfo& header, unsigned) {
      for (const proto::FieldInfo& f : header)
        add("packets_out." + (part.empty() ? "" : std::string(part) + ".") + std::string(f.name),
            f.bits);
    });
    if (data_bits) add("packets_out_data", data_bits);
  }
  ModelWaves(const ModelWaves&) = delete;

  // Call before the file is opened.
  void add_to(VerilatedFst& trace) {
    trace.addInitCb([](void* self, VerilatedFst* to,
                       u32 code) { static_cast<ModelWaves*>(self)->declare(*to, code); },
                    this);
    trace.addFullCb(
        [](void* self, VerilatedFst::Buffer* to) {
          static_cast<ModelWaves*>(self)->write(*to, true);
        },
        this);
    trace.addChgCb(
        [](void* self, VerilatedFst::Buffer* to) {
          static_cast<ModelWaves*>(self)->write(*to, false);
        },
        this);
  }
  void show(const ExpectedPins<Out>& pins) {
    std::size_t at = 0;
    const auto put = [&](u64 value) { set(signals_[at++], value); };
    put(pins.cycle), put(pins.in_ready), put(pins.out_start), put(pins.out_valid);
    std::array<u8, Band::kBytes> bits;
    Band::encode(pins.out.control, bits.data());
    Band::for_each_part([&](std::string_view, const proto::HeaderInfo& header, unsigned from) {
      for (const proto::FieldInfo& f : header) set(signals_[at++], bits.data() + from, f);
    });
    if (at < signals_.size())
      std::memcpy(signals_[at].words.data(), pins.out.data.data(), signals_[at].bits / 8);
  }

 private:
  using Band = SideBand<Out>;
  struct Signal {
    std::string name;
    u32 bits, code;
    std::vector<WData> words;  // the least significant first
  };
  void add(std::string name, u32 bits) {
    signals_.push_back({std::move(name), bits, 0, std::vector<WData>((bits + 31) / 32)});
  }
  static void set(Signal& signal, u64 value) {
    for (WData& word : signal.words) word = WData(value), value >>= 32;
  }
  static void set(Signal& signal, const u8* header, const proto::FieldInfo& field) {
    for (u32 left = field.bits, word = 0; left; ++word) {
      const u32 bits = std::min(left, 32u);
      signal.words[word] = WData(proto::get_bits(header, field.bit_at + left - bits, bits));
      left -= bits;
    }
  }
  void declare(VerilatedFst& to, u32 code) {
    to.pushNamePrefix("model ");
    for (Signal& s : signals_) {
      s.code = code;
      const int high = int(s.bits) - 1;
      if (s.bits == 1)
        to.declBit(code, s.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_SV_LOGIC, false, -1);
      else if (s.bits <= 32)
        to.declBus(code, s.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_SV_LOGIC, false, -1, high, 0);
      else
        to.declArray(code, s.name.c_str(), -1, FST_VD_IMPLICIT, FST_VT_SV_LOGIC, false, -1, high,
                     0);
      code += u32(s.words.size());
    }
    to.popNamePrefix();
  }
  void write(VerilatedFst::Buffer& to, bool all) {
    for (const Signal& s : signals_) {
      u32* const old = to.oldp(s.code);
      const int bits = int(s.bits);
      if (all)
        bits <= 32 ? to.fullIData(old, s.words[0], bits) : to.fullWData(old, s.words.data(), bits);
      else
        bits <= 32 ? to.chgIData(old, s.words[0], bits) : to.chgWData(old, s.words.data(), bits);
    }
  }
  std::vector<Signal> signals_;
};
}  // namespace hca::rtl
