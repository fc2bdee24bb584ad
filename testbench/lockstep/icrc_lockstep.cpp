// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_lockstep.h"

#include <fmt/format.h>

#include "testbench/lockstep/describe.h"
#include "testbench/lockstep/pins.h"

namespace hca::testbench {
namespace {
using engine::Cycle;
using rtl::Beat;

constexpr Cycle kWavesBefore = 64;  // cycles of waveform in front of a divergence

// What stands on the RTL's pins in one cycle.
struct Pins {
  bool in_ready = false, out_start = false, out_valid = false;
  Beat out{};
};

class Run {
 public:
  explicit Run(const IcrcLockstepOptions& options)
      : options_(options),
        stalls_(options.seed, options.stall_percent),
        twin_(options.seed, options.twin, options.rooms, stalls_),
        rtl_(options.rtl ? options.rtl() : rtl::IcrcRtl(options.twin.beat_bytes)),
        sender_(options.seed ^ 0x5eed, options.twin.beat_bytes),
        receiver_(options.rooms, stalls_),
        gaps_(options.seed ^ 0x6a95) {
    result_.coverage = IcrcCoverage(beat_bytes());
  }

  IcrcLockstepResult run(Cycle waves_from, const std::string& waves) {
    for (Cycle at = 1; at <= options_.cycles && result_.equal(); ++at) {
      if (!waves.empty() && at == waves_from) rtl_.trace_to(waves);
      cycle(at);
      ++result_.cycles;
    }
    rtl_.trace_end();
    return std::move(result_);
  }

 private:
  // One cycle: the twin, the RTL, the comparison, the clock edge.
  void cycle(Cycle at) {
    twin_.run_cycle(at);
    rtl_.begin_cycle(receiver_.ready());
    const bool idle = !sender_.inside_packet();
    const bool offered = sender_.on_offer(twin_.offers, at), ready = rtl_.in_ready();
    result_.held_cycles += offered && !ready;
    const bool gap = options_.break_contract && !idle && gaps_.chance(1, 50);
    const IcrcPacket* starting = offered ? twin_.offers.front().packet.get() : nullptr;
    const Beat* beat = gap ? nullptr : sender_.beat(twin_.offers, at, ready);
    rtl_.drive(beat);
    Pins pins{ready, rtl_.out_start(), rtl_.out_valid(), {}};
    if (pins.out_valid) pins.out = rtl_.out();
    const Pins real = pins;
    put_fault(at, idle, pins);
    compare_inputs(at, idle, starting, pins);
    compare_outputs(at, pins);
    was_inside_ = beat != nullptr;
    receiver_.end_cycle(at, real.out_start, real.out_valid, real.out.control.first,
                        real.out.control.last);
    rtl_.end_cycle();
    result_.assertion_failed = rtl_.assertion_failed();
  }

  void compare_inputs(Cycle at, bool idle, const IcrcPacket* offered, const Pins& pins) {
    const auto say = [&](const char* port, const char* field, bool model, bool rtl) {
      if (model != rtl)
        differ(at, port, field, fmt::format("{:d}", model), fmt::format("{:d}", rtl),
               offered ? describe(*offered, u32(offered->sent.size())) : "no packet on offer\n");
    };
    if (idle) {  // where a packet could start
      if (twin_.open()) say("packets_out", "ready", twin_.room_behind(), receiver_.ready());
      say("packets_in", "ready", twin_.open() && twin_.room_behind(), pins.in_ready);
      result_.full_rate_starts += pins.out_start && was_inside_;
    }
    say("packets_out", "start", twin_.started(), pins.out_start);
  }

  void compare_outputs(Cycle at, const Pins& pins) {
    const TwinOutput* out = twin_.outputs.empty() ? nullptr : &twin_.outputs.front();
    const bool valid = out && out->first_beat <= at;
    if (valid != pins.out_valid) {
      const std::string which = out ? describe(*out->packet, out->bytes) : "no packet inside\n";
      return differ(at, "packets_out", "valid", fmt::format("{:d}", valid),
                    fmt::format("{:d}", pins.out_valid), which);
    }
    if (!valid) return;
    const u32 index = u32(at - out->first_beat);
    Beat expected = beat_of(out->packet->frame.data(), out->bytes, index, beat_bytes());
    expected.control.mode = u8(out->packet->mode);
    expected.control.framing = u8(out->packet->framing);
    expected.control.vlan = out->packet->vlan;
    expected.control.icrc_ok = out->icrc_ok && expected.control.last;
    expected.control.vcrc_ok = out->vcrc_ok && expected.control.last;
    compare_beats(at, index, *out, expected, pins.out);
    ++result_.beats;
    if (expected.control.last) count(*out), twin_.outputs.pop_front();
  }

  void compare_beats(Cycle at, u32 index, const TwinOutput& out, const Beat& model,
                     const Beat& rtl) {
    if (model == rtl) return;
    const auto say = [&](std::string_view field, unsigned m, unsigned r, std::string_view format) {
      if (m != r)
        differ(at, "packets_out", std::string(field), fmt::format(fmt::runtime(format), m),
               fmt::format(fmt::runtime(format), r),
               fmt::format("beat {} of {}, {}", index, beats_of(out.bytes, beat_bytes()),
                           describe(*out.packet, out.bytes)));
    };
    const auto &m = model.control, &r = rtl.control;
    say("first", m.first, r.first, "{}");
    say("last", m.last, r.last, "{}");
    say("bytes", m.bytes, r.bytes, "{}");
    for (u32 i = 0; i < beat_bytes(); ++i)
      say(fmt::format("data[{}:{}] (byte {} of the frame)", 8 * i + 7, 8 * i,
                      index * beat_bytes() + i),
          model.data[i], rtl.data[i], "{:#04x}");
    say("icrc_ok", m.icrc_ok, r.icrc_ok, "{}");
    say("vcrc_ok", m.vcrc_ok, r.vcrc_ok, "{}");
    say("mode", m.mode, r.mode, "{}");
    say("framing", m.framing, r.framing, "{}");
    say("vlan", m.vlan, r.vlan, "{}");
  }

  void differ(Cycle at, const char* port, std::string field, std::string model, std::string rtl,
              std::string packet) {
    if (!result_.divergence)  // the first one counts
      result_.divergence = {
          at, port, std::move(field), std::move(model), std::move(rtl), std::move(packet)};
  }

  void count(const TwinOutput& out) {
    ++result_.packets;
    result_.coverage.count(*out.packet, out.icrc_ok, out.vcrc_ok);
    switch (out.packet->mode) {
      case blocks::IcrcMode::Bypass:
        ++result_.bypassed;
        break;
      case blocks::IcrcMode::Generate:
        ++result_.generated;
        break;
      case blocks::IcrcMode::Check:
        ++(out.good() ? result_.good : result_.bad);
        result_.bad_vcrc += out.icrc_ok && !out.good();
        break;
    }
  }

  void put_fault(Cycle at, bool idle, Pins& pins) {
    using Kind = PinFault::Kind;
    const PinFault& fault = options_.fault;
    if (fault.kind == Kind::None || at < fault.from || result_.fault_at) return;
    auto& control = pins.out.control;
    const bool beat = pins.out_valid, last = beat && control.last;
    const auto put = [&](bool shows, auto change) {
      if (shows) change(), result_.fault_at = at;
    };
    switch (fault.kind) {
      case Kind::None:
        break;
      case Kind::DataBit:
        put(beat, [&] { pins.out.data[fault.bit / 8] ^= u8(1u << fault.bit % 8); });
        break;
      case Kind::BytesField:
        put(last, [&] { control.bytes ^= 1; });
        break;
      case Kind::FirstField:
        put(beat, [&] { control.first = !control.first; });
        break;
      case Kind::LastField:
        put(beat, [&] { control.last = !control.last; });
        break;
      case Kind::ModeField:
        put(beat, [&] { control.mode ^= 1; });
        break;
      case Kind::FramingField:
        put(beat, [&] { control.framing ^= 1; });
        break;
      case Kind::VlanField:
        put(beat, [&] { control.vlan = !control.vlan; });
        break;
      case Kind::IcrcOk:
        put(last, [&] { control.icrc_ok = !control.icrc_ok; });
        break;
      case Kind::VcrcOk:
        put(last, [&] { control.vcrc_ok = !control.vcrc_ok; });
        break;
      case Kind::BeatLost:
        put(beat, [&] { pins.out_valid = false; });
        break;
      case Kind::BeatInvented:
        put(!beat, [&] { pins.out_valid = true; });
        break;
      case Kind::ReadyLost:
        put(idle && pins.in_ready, [&] { pins.in_ready = false; });
        break;
      case Kind::ReadyInvented:
        put(idle && !pins.in_ready, [&] { pins.in_ready = true; });
        break;
      case Kind::StartLost:
        put(pins.out_start, [&] { pins.out_start = false; });
        break;
    }
  }

  u32 beat_bytes() const { return rtl_.beat_bytes(); }

  IcrcLockstepOptions options_;
  Stalls stalls_;
  IcrcTwin twin_;
  rtl::IcrcBlock rtl_;
  PinSender sender_;
  PinReceiver receiver_;
  engine::Random gaps_;
  bool was_inside_ = false;  // the cycle before held a beat
  IcrcLockstepResult result_;
};
}  // namespace

std::string Divergence::text() const {
  return fmt::format("cycle {}, {}.{}: model {}, RTL {}\n  {}", cycle, port, field, model, rtl,
                     packet);
}

IcrcLockstepResult run_icrc_lockstep(const IcrcLockstepOptions& options) {
  IcrcLockstepResult result = Run(options).run(0, "");
  if (result.equal() || options.waves.empty()) return result;
  // The same run again: from the same seed it goes the same way.
  Run(options).run(std::max(result.cycles, kWavesBefore) - kWavesBefore + 1, options.waves);
  result.waves = options.waves;
  return result;
}
}  // namespace hca::testbench
