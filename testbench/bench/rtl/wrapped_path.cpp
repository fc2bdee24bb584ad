// SPDX-License-Identifier: Apache-2.0
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
// The block that IcrcRtl and its like are, of the fast class.
template <class Top, class In, class Out>
struct FastRtl : rtl::BlockRtl<In, Out> {
  explicit FastRtl(const char* name)
      : rtl::BlockRtl<In, Out>(rtl::kMaxBeatBytes,
                               std::make_unique<rtl::VerilatedTop<Top, In, Out>>(name)) {}
};

class WrappedPath : public HotPath {
 public:
  explicit WrappedPath(const WriteStream& s)
      : payload_beats_(testbench::beats_of(u32(s.payload.size()))),
        received_(payload_beats_ * rtl::kMaxBeatBytes),
        psn_(s.bth.psn),
        context_(s.context()),
        region_(testbench::checked_region(s.region)) {
    for (u32 beat = 0; beat < payload_beats_; ++beat) {
      auto& in = beats_.emplace_back(
          testbench::beat_of<rtl::Descriptor>(s.payload, beat, rtl::kMaxBeatBytes));
      const rtl::DescriptorStart place = in.control;
      in.control = s.descriptor();
      in.control.first = place.first, in.control.last = place.last;
      in.control.bytes = place.bytes;
    }
    responder_.look_ups()->set_pkeys(s.port.pkeys);
  }

  void run(u64 packets) override {
    for (const u64 until = packets_ + packets; packets_ < until; ++cycles_) cycle();
  }
  u64 cycles() const override { return cycles_; }
  u64 packets() const override { return packets_; }
  u32 epsn() const override { return context_.state.epsn; }
  const std::vector<u8>& received() const override { return received_; }

 private:
  void cycle() {
    responder_.begin_cycle(true);
    parser_.begin_cycle(true);
    check_.begin_cycle(true);
    insert_.begin_cycle(true);
    packetizer_.begin_cycle(true);
    look_up();
    if (parser_.out_valid()) {
      const auto parsed = parser_.out();
      if (parsed.control.first) at_ = 0;
      std::copy_n(parsed.data.begin(), parsed.control.bytes, received_.begin() + at_);
      at_ += parsed.control.bytes;
      granted(parsed.control.first, responder_);
      to_judge_.control = parsed.control;
      responder_.drive(&to_judge_);
    } else {
      responder_.drive(nullptr);
    }
    pass(check_, parser_, blocks::IcrcMode::Check);
    pass(insert_, check_, blocks::IcrcMode::Check);
    pass(packetizer_, insert_, blocks::IcrcMode::Generate);
    send();
    responder_.end_cycle();
    parser_.end_cycle();
    check_.end_cycle();
    insert_.end_cycle();
    packetizer_.end_cycle();
  }
  static void granted(bool first, auto& block) {
    if (first && !block.in_ready()) throw std::logic_error("no grant");
  }
  static void pass(const auto& from, auto& to, blocks::IcrcMode mode) {
    if (!from.out_valid()) return to.drive(nullptr);
    auto beat = from.out();
    granted(beat.control.first, to);
    beat.control.mode = u8(mode);
    to.drive(&beat);
  }
  // Answers the requests of the previous cycle.
  void look_up() {
    rtl::LookUpPins& pins = *responder_.look_ups();
    pins.answer(context_asked_ ? &context_ : nullptr, region_asked_ ? &region_ : nullptr);
    if (responder_.out_valid()) {
      context_.state = responder_.out().control.state;
      ++packets_;
    }
    context_asked_ = pins.context_asked().has_value();
    region_asked_ = pins.region_asked().has_value();
  }
  void send() {
    if (!sent_ && !packetizer_.in_ready()) return packetizer_.drive(nullptr);
    rtl::BeatOf<rtl::Descriptor>& beat = beats_[sent_];
    if (!sent_) {
      beat.control.bth.psn = psn_;
      psn_ = proto::psn_add(psn_, 1);
    }
    packetizer_.drive(&beat);
    if (++sent_ == payload_beats_) sent_ = 0;
  }

  FastRtl<Vpacketizer_fast, rtl::Descriptor, rtl::BeatControl> packetizer_{"packetizer"};
  FastRtl<Vicrc_fast, rtl::BeatControl, rtl::BeatControl> insert_{"insert"}, check_{"check"};
  FastRtl<Vrx_parser_fast, rtl::BeatControl, rtl::Parsed> parser_{"rx_parser"};
  FastRtl<Vresponder_check_fast, rtl::Parsed, rtl::Judged> responder_{"responder_check"};
  u32 payload_beats_;
  std::vector<rtl::BeatOf<rtl::Descriptor>> beats_;
  std::vector<u8> received_;
  u32 psn_, sent_ = 0, at_ = 0;
  rtl::BeatOf<rtl::Parsed> to_judge_{};
  rtl::CheckedContext context_;
  rtl::CheckedRegion region_;
  bool context_asked_ = false, region_asked_ = false;
  u64 packets_ = 0, cycles_ = 0;
};
}  // namespace

std::unique_ptr<HotPath> wrapped_path(const WriteStream& stream) {
  return std::make_unique<WrappedPath>(stream);
}
}  // namespace hca::bench
