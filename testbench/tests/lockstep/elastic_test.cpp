// SPDX-License-Identifier: Apache-2.0
// Packets of a block that stalls inside of them are compared by order and content.
#include "testbench/lockstep/elastic.h"

#include <catch2/catch.hpp>
#include <deque>
#include <functional>

#include "testbench/lockstep/icrc_lockstep.h"

namespace hca::testbench {
namespace {
// An `icrc` in C++ that takes a beat in two cycles of three, and leaves a gap before each one that
// it sends. `spoil(packet, frame)` may change the output; false: the packet is lost.
using Spoil = std::function<bool(u64 packet, std::vector<u8>& frame)>;
class SlowIcrc : public rtl::VerilatedBlock<rtl::BeatControl, rtl::BeatControl> {
 public:
  explicit SlowIcrc(Spoil spoil) : spoil_(std::move(spoil)) {}
  void set_reset(bool) override { frame_.clear(), left_.clear(); }
  void set_grant(bool) override { beat_ = nullptr; }
  void set_beat(const rtl::Beat* beat) override {
    if (beat) now_ = *beat, beat_ = &now_;
  }
  bool in_ready() override { return cycle_ % 3 != 0 && packets_ < takes; }
  bool out_start() override { return false; }
  bool out_valid() const override { return !left_.empty() && cycle_ % 2; }
  rtl::Beat out() const override { return left_.front(); }
  void clock() override {
    if (out_valid()) left_.pop_front();
    if (beat_ && in_ready()) take();
    ++cycle_;
  }
  bool assertion_failed() const override { return false; }
  void trace_to(const std::string&) override {}
  void trace_end() override {}
  rtl::NoPins* look_ups() override { return nullptr; }

  u64 takes = ~u64{0};         // packets
  bool looks_at_each = false;  // beat, where the first one alone counts

 private:
  void take() {
    if (now_.control.first || looks_at_each) first_ = now_.control;
    frame_.insert(frame_.end(), now_.data.begin(), now_.data.begin() + now_.control.bytes);
    if (!now_.control.last) return;
    const u32 bytes = u32(frame_.size());
    frame_.resize(bytes + 8);
    blocks::IcrcItem item{.frame = frame_.data(),
                          .bytes = bytes,
                          .mode = blocks::IcrcMode(first_.mode),
                          .framing = proto::Framing(first_.framing),
                          .vlan = first_.vlan};
    // What a later beat says may be of a longer frame, or of none.
    const bool is_known =
        first_.mode <= u32(blocks::IcrcMode::Check) && first_.framing < proto::kFramingCount;
    if (!looks_at_each || (is_known && bytes >= proto::kMaxHeaderBytes)) item.process();
    frame_.resize(item.bytes);
    if (spoil_(packets_++, frame_)) send(item);
    frame_.clear();
  }
  void send(const blocks::IcrcItem& item) {
    for (u32 i = 0; i < beats_of(u32(frame_.size())); ++i) {
      rtl::Beat beat = beat_of<rtl::BeatControl>(frame_, i, rtl::kMaxBeatBytes);
      beat.control.mode = first_.mode, beat.control.framing = first_.framing;
      beat.control.vlan = first_.vlan;
      beat.control.icrc_ok = item.icrc_ok && beat.control.last;
      beat.control.vcrc_ok = item.vcrc_ok && beat.control.last;
      left_.push_back(beat);
    }
  }
  Spoil spoil_;
  rtl::Beat now_{};
  const rtl::Beat* beat_ = nullptr;
  rtl::BeatControl first_{};
  std::vector<u8> frame_;
  std::deque<rtl::Beat> left_;
  u64 cycle_ = 0, packets_ = 0;
};
class SlowRtl : public rtl::BlockRtl<rtl::BeatControl, rtl::BeatControl> {
 public:
  explicit SlowRtl(std::unique_ptr<SlowIcrc> block)
      : BlockRtl(rtl::kMaxBeatBytes, std::move(block)) {}
};

template <class Block = SlowIcrc>
ElasticResult<IcrcLockstep> run(const Spoil& spoil, engine::Cycle reset_every = 0,
                                u64 takes = ~u64{0}, bool looks_at_each = false) {
  LockstepOptions<IcrcLockstep> options;
  options.cycles = 60'000, options.reset_every = reset_every;
  options.rtl = [&] {
    auto block = std::make_unique<Block>(spoil);
    block->takes = takes, block->looks_at_each = looks_at_each;
    return SlowRtl(std::move(block));
  };
  return run_elastic(options);
}
// Keeps over a reset what is inside.
class UnresetIcrc : public SlowIcrc {
 public:
  using SlowIcrc::SlowIcrc;
  void set_reset(bool) override {}
};
const Spoil kNothing = [](u64, std::vector<u8>&) { return true; };
}  // namespace

TEST_CASE("a block that stalls and leaves gaps is equal", "[elastic]") {
  const auto r = run(kNothing);
  CHECK_FALSE(r.divergence);
  CHECK(r.packets > 1000);
  CHECK(r.held_beats > 1000);
  CHECK(r.cycles == 60'000);
  CHECK(r.twin_cycles < r.cycles);  // which needs neither stalls nor gaps
}

TEST_CASE("side band that does not count is random for it, too", "[elastic]") {
  CHECK(run(kNothing, 0, ~u64{0}, true).divergence);
}

TEST_CASE("a bit that differs, a packet that is lost and one that never comes are told",
          "[elastic]") {
  const auto bit = run([](u64 packet, std::vector<u8>& frame) {
    frame[7] ^= packet == 100;
    return true;
  });
  REQUIRE(bit.divergence);
  CHECK(bit.packets == 100);
  CHECK(bit.divergence->where().rfind("packets_out.data[63:56]", 0) == 0);
  const auto lost = run([](u64 packet, std::vector<u8>&) { return packet != 100; });
  REQUIRE(lost.divergence);
  CHECK(lost.packets == 100);
  const auto stops = run([](u64 packet, std::vector<u8>&) { return packet < 100; });
  REQUIRE(stops.divergence);
  CHECK(stops.packets == 100);
  CHECK(stops.divergence->line().find("packets_out.valid: model 1, RTL 0 for 10000 cycles") !=
        std::string::npos);
}

TEST_CASE("a block that takes no packet any more, or never one, is told", "[elastic]") {
  const u64 takes = GENERATE(0u, 100u);
  const auto r = run(kNothing, GENERATE(0u, 4000u), takes);
  REQUIRE(r.divergence);
  CHECK(r.packets <= takes);
  CHECK(r.divergence->line().find("packets_in.ready: model 1, RTL 0 for 10000 cycles") !=
        std::string::npos);
}

TEST_CASE("a reset loses what is inside, and a block that keeps it is told", "[elastic]") {
  const auto r = run(kNothing, 400);
  CHECK_FALSE(r.divergence);
  CHECK(r.resets > 100);
  CHECK(r.packets > 1000);
  CHECK(run<UnresetIcrc>(kNothing, 400).divergence);
}
}  // namespace hca::testbench
