// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/knob.h"

namespace hca::tlm_ {
struct WireConfig {
  u64 latency = 5'000;         // ps
  u64 rate = 100'000'000'000;  // bits per second: the duration of a held back frame
  u32 metres = 0;
  u64 metre_latency = 5'000;  // ps
  bool fec = false;
  u64 fec_latency = 100'000;  // ps
  u32 bit_errors = 0;         // 1 bit in 10 to this power; 0: none
  u64 down_from = 0;          // ps of simulated time: when the cable breaks
  u64 down_for = 0;           // ps; 0: it never breaks
  u32 down_times = 1;         // how often it breaks
  u64 down_every = 0;         // ps from one break to the next

  // The delay of a bit from one port to the other; ps.
  u64 one_way() const { return latency + metres * metre_latency + (fec ? fec_latency : 0); }
  bool breaks() const { return down_for && down_times; }
  // At this time, in ps.
  bool is_broken(u64 at) const {
    const u64 since = at - down_from;  // if `at` is earlier: a huge number
    if (since < down_for || down_times <= 1 || at < down_from) return since < down_for && breaks();
    return since / down_every < down_times && since % down_every < down_for;
  }
};
}  // namespace hca::tlm_

template <>
struct hca::engine::Knobs<hca::tlm_::WireConfig> {
  using Config = tlm_::WireConfig;
  static constexpr std::string_view block = "wire";
  static constexpr std::string_view sentence = "the cable between two ports";
  static constexpr auto rows = make_rows(
      knob("latency", &Config::latency, Unit::Picoseconds, 1'000, 1'000'000'000'000,
           "latency of a bit, one way"),
      knob("metres", &Config::metres, Unit::Count, 0, 1'000'000,
           "length of the cable; each metre adds metre_latency"),
      knob("metre_latency", &Config::metre_latency, Unit::Picoseconds, 0, 100'000,
           "latency of a bit in a metre: 4.9 ns in glass, 4.3 ns in a copper pair"),
      knob("fec", &Config::fec,
           "forward error correction: adds fec_latency, corrects all bit errors"),
      knob("fec_latency", &Config::fec_latency, Unit::Picoseconds, 0, 10'000'000,
           "latency of a bit in encoder and decoder"),
      knob("bit_errors", &Config::bit_errors, Unit::Count, 0, 18,
           "one bit error in 10 to this power bits; the FCS drops the frame; 0: no errors"),
      knob("down_from", &Config::down_from, Unit::Picoseconds, 0, 1'000'000'000'000'000,
           "simulated time at which the cable breaks: the ports at both ends go Down, with their "
           "events, and frames in it or entering it are lost"),
      knob("down_for", &Config::down_for, Unit::Picoseconds, 0, 1'000'000'000'000'000,
           "duration of a break; 0: it never breaks"),
      knob("down_times", &Config::down_times, Unit::Count, 0, 1'000, "number of breaks"),
      knob("down_every", &Config::down_every, Unit::Picoseconds, 0, 1'000'000'000'000'000,
           "time from one break to the next, if there are several: longer than down_for"));
};

namespace hca::tlm_ {
// Checks knobs against each other; throws engine::ConfigError.
void check_wire(const WireConfig& config);
}  // namespace hca::tlm_
