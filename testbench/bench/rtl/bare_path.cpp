// SPDX-License-Identifier: Apache-2.0
// The loop that Verilator's manual shows: pins of the class written, eval(), pins read.
#include <Vicrc_fast.h>  // made by Verilator
#include <Vpacketizer_fast.h>
#include <Vresponder_check_fast.h>
#include <Vrx_parser_fast.h>

#include <stdexcept>

#include "rtl/cpp/verilated_block.h"
#include "testbench/bench/rtl/hot_path.h"
#include "testbench/lockstep/checked_look_ups.h"
#include "testbench/lockstep/pins.h"

namespace hca::bench {
namespace {
using rtl::kMaxBeatBytes;

u32 word_of(blocks::IcrcMode mode) {
  rtl::BeatControl control{};
  control.mode = u8(mode);
  u32 word = 0;
  rtl::put_control(control, word);
  return word;
}
// The PSN byte of the side band, counted from its low end.
constexpr u32 kPsnByte = rtl::SideBand<rtl::Descriptor>::kBytes -
                         proto::bytes_of<rtl::DescriptorStart>() -
                         proto::bytes_of<proto::AddressVector>() - proto::bytes_of<proto::Bth>();
constexpr u32 kStateBytes = proto::bytes_of<rtl::CheckedState>();

class BarePath : public HotPath {
 public:
  explicit BarePath(const WriteStream& s)
      : payload_bytes_(u32(s.payload.size())),
        payload_beats_(testbench::beats_of(payload_bytes_)),
        frame_beats_(testbench::beats_of(s.frame_bytes())),
        received_(payload_beats_ * kMaxBeatBytes),
        psn_(s.bth.psn) {
    for (u32 beat = 0; beat < payload_beats_; ++beat) {
      auto in = testbench::beat_of<rtl::Descriptor>(s.payload, beat, kMaxBeatBytes);
      const rtl::DescriptorStart place = in.control;
      in.control = s.descriptor();
      in.control.first = place.first;
      in.control.last = place.last;
      in.control.bytes = place.bytes;
      Beat& pins = beats_.emplace_back();
      rtl::put_control(in.control, pins.control);
      std::memcpy(&pins.data, in.data.data(), sizeof pins.data);
    }
    start(packetizer_);
    start(insert_);
    start(check_);
    start(parser_);
    start(responder_);
    rtl::put_control(s.context(), responder_.context_i);
    rtl::put_control(testbench::checked_region(s.region), responder_.region_i);
    for (u32 i = 0; i < s.port.pkeys.size(); ++i)
      responder_.pkeys_i.m_storage[i / 2] |= u32{s.port.pkeys[i]} << 16 * (i % 2);
  }
  ~BarePath() override {
    packetizer_.final();
    insert_.final();
    check_.final();
    parser_.final();
    responder_.final();
  }

  void run(u64 packets) override {
    for (const u64 until = packets_ + packets; packets_ < until; ++cycles_) cycle();
  }
  u64 cycles() const override { return cycles_; }
  u64 packets() const override { return packets_; }
  u32 epsn() const override { return rtl::get_control<rtl::CheckedState>(state_).epsn; }
  const std::vector<u8>& received() const override { return received_; }

 private:
  struct Beat {
    std::remove_reference_t<decltype(Vpacketizer_fast::packets_in_i)> control;
    std::remove_reference_t<decltype(Vpacketizer_fast::packets_in_data_i)> data;
  };

  template <class Top>
  static void start(Top& top) {
    top.packets_in_valid_i = 0;
    top.packets_out_ready_i = 1;
    top.rst_ni = 1;
    top.clk_i = 0;
    top.eval();
    top.rst_ni = 0;
    top.eval();
    edge(top);
    top.rst_ni = 1;
    top.eval();
  }
  // Pins that were written count for this edge.
  template <class Top>
  static void edge(Top& top) {
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
  }
  // The output of one block in this cycle is the input of the next one.
  template <class From, class To>
  static bool pass(const From& from, To& to) {
    to.packets_in_valid_i = from.packets_out_valid_o;
    if (!from.packets_out_valid_o) return false;
    to.packets_in_i = from.packets_out_o;
    if constexpr (rtl::HasData<To>) to.packets_in_data_i = from.packets_out_data_o;
    return true;
  }

  // From the last block to the first: each gets its predecessor's output of before the edge.
  void cycle() {
    answer();
    if (pass(parser_, responder_)) {
      if (arrived_ < payload_beats_)
        std::memcpy(&received_[arrived_ * kMaxBeatBytes], &parser_.packets_out_data_o,
                    kMaxBeatBytes);
      if (!arrived_ && !responder_.packets_in_ready_o) throw std::logic_error("no grant");
      arrived_ = arrived_ + 1 == frame_beats_ ? 0 : arrived_ + 1;
    }
    edge(responder_);
    pass(check_, parser_);
    edge(parser_);
    if (pass(insert_, check_)) check_.packets_in_i ^= kToCheck;
    edge(check_);
    pass(packetizer_, insert_);
    edge(insert_);
    send();
    edge(packetizer_);
  }
  // The context as the verdicts of the cycles before left it.
  void answer() {
    responder_.context_valid_i = context_asked_;
    responder_.region_valid_i = region_asked_;
    context_asked_ = responder_.context_ask_valid_o;
    region_asked_ = responder_.region_ask_valid_o;
    if (context_judged_) std::memcpy(&responder_.context_i, &state_, kStateBytes);
    context_judged_ = responder_.packets_out_valid_o;
    if (!context_judged_) return;
    std::memcpy(&state_, &responder_.packets_out_o, kStateBytes);
    ++packets_;
  }
  void send() {
    packetizer_.packets_in_valid_i = sent_ || packetizer_.packets_in_ready_o;
    if (!packetizer_.packets_in_valid_i) return;
    packetizer_.packets_in_i = beats_[sent_].control;
    packetizer_.packets_in_data_i = beats_[sent_].data;
    if (!sent_) {
      std::memcpy(reinterpret_cast<u8*>(&packetizer_.packets_in_i) + kPsnByte, &psn_, 3);
      psn_ = (psn_ + 1) & proto::kPsnMask;
    }
    if (++sent_ == payload_beats_) sent_ = 0;
  }

  static inline const u32 kToCheck =
      word_of(blocks::IcrcMode::Generate) ^ word_of(blocks::IcrcMode::Check);
  VerilatedContext verilated_;
  Vpacketizer_fast packetizer_{&verilated_, "packetizer"};
  Vicrc_fast insert_{&verilated_, "insert"}, check_{&verilated_, "check"};
  Vrx_parser_fast parser_{&verilated_, "rx_parser"};
  Vresponder_check_fast responder_{&verilated_, "responder_check"};
  u32 payload_bytes_, payload_beats_, frame_beats_;
  std::vector<Beat> beats_;  // of a packet, as they stand on the pins
  std::vector<u8> received_;
  std::array<u8, kStateBytes> state_{};
  bool context_asked_ = false, region_asked_ = false, context_judged_ = false;
  u32 psn_, sent_ = 0, arrived_ = 0;  // beats of the packet under way
  u64 packets_ = 0, cycles_ = 0;
};
}  // namespace

std::unique_ptr<HotPath> bare_path(const WriteStream& stream) {
  return std::make_unique<BarePath>(stream);
}
}  // namespace hca::bench
