// SPDX-License-Identifier: Apache-2.0
// The options and output of a lockstep run, for `hca rtl BLOCK` and for programs with a user's RTL.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/replay/load_frames.h"

namespace hca::cli {
template <class Pair>
void print(const testbench::LockstepOptions<Pair>& options,
           const testbench::LockstepResult<Pair>& r) {
  fmt::print("{}: {} bits, {} cycles compared, seed {}, stall {} %, {} rooms at the output\n",
             Pair::kName, 8 * options.twin.beat_bytes, r.cycles, options.seed,
             options.stall_percent, options.rooms);
  if (options.given.any()) fmt::print("  frames given {}, sent in turn\n", options.given.size());
  fmt::print("  packets {} ({}), beats {}\n", r.packets, r.counts.text(), r.beats);
  fmt::print(
      "  starts directly after another packet {}, cycles held without a grant {}, resets {}\n",
      r.full_rate_starts, r.held_cycles, r.resets);
  if (options.break_contract || options.withdraw_grants)
    fmt::print(
        "  the contract is broken on purpose: later differences are not errors of the RTL\n");
}

template <class Pair>
void print(const testbench::LockstepOptions<Pair>& options,
           const testbench::ElasticResult<Pair>& r) {
  fmt::print("{}: {} bits, {} cycles, seed {}, elastic buffers on both sides\n", Pair::kName,
             8 * options.twin.beat_bytes, r.cycles, options.seed);
  fmt::print("  packets {} ({}), beats {}, resets {}\n", r.packets, r.counts.text(), r.beats,
             r.resets);
  if (r.packets)
    fmt::print(
        "  first beat in to first beat out: {} to {} cycles, by the unit's contract {}; the unit "
        "needs {} cycles for these packets\n  beats held inside of packets: {} cycles\n",
        r.least_latency, r.most_latency, options.twin.latency, r.twin_cycles, r.held_beats);
}

// For both kinds of runs.
template <class Result>
void print_end(const Result& r, double seconds) {
  if (!r.divergence) fmt::print("{}", r.coverage.text());
  fmt::print("  divergences {}, failed assertions {}\n", int(r.divergence.has_value()),
             int(r.assertion_failed));
  fmt::print("  {:.2f} s, {:.2f} M cycles/s\n", seconds, double(r.cycles) / seconds / 1e6);
  if (r.divergence) fmt::print("first divergence: {}", r.divergence->text());
  if (r.assertion_failed) fmt::print("an assertion of the RTL failed in cycle {}\n", r.cycles);
  if (r.ended) fmt::print("the RTL has ended the simulation in cycle {}\n", r.cycles);
  if (!r.waves.empty())
    fmt::print("waveform: {}, a cycle a nanosecond from cycle {} on\n", r.waves, r.waves_from);
}

// `Run`: run_lockstep or run_elastic.
template <auto Run, class Pair>
int run(const testbench::LockstepOptions<Pair>& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = Run(options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print(options, result);
  print_end(result, seconds.count());
  if (!result.packets && result.equal())
    fmt::print("no packet was compared: more cycles, or fewer resets\n");
  return result.equal() && result.packets ? kSucceeded : kCheckFailed;
}

// The output file of the run can be written: its folder exists.
inline CLI::Validator in_a_folder() {
  return {[](const std::string& file) -> std::string {
            if (file.empty()) return "a file has a name";
            const auto folder = std::filesystem::absolute(file).parent_path();
            return std::filesystem::is_directory(folder)
                       ? ""
                       : fmt::format("{}: there is no folder {}", file, folder.string());
          },
          "FILE"};
}

// Gaps between packets, and stalls of an elastic buffer.
template <class Pair>
void add_stalls(CLI::App& block, testbench::LockstepOptions<Pair>& options) {
  block
      .add_option("--stall", options.stall_percent,
                  "percent of the cycles in which the receiver takes no packet")
      ->capture_default_str()
      ->check(CLI::Range(0, 99));
  block.add_option("--rooms", options.rooms, "packets for which the receiver has room")
      ->capture_default_str()
      ->check(CLI::Range(1, 8));
  block.add_flag("--break-contract", options.break_contract,
                 "leave gaps inside packets, or start those of one beat without a grant: the "
                 "RTL's assertion fires");
  block.add_flag("--break-stall", options.withdraw_grants,
                 "the receiver stalls during a grant: the RTL's assertion fires");
}

// The options of a run, and the run itself. `rtl`: a replacement for our RTL; `elastic`: it may
// stall inside packets.
template <class Pair>
void add_lockstep(CLI::App& block, int& exit_code, testbench::RtlMaker<Pair> rtl = {},
                  bool elastic = false) {
  auto options = std::make_shared<testbench::LockstepOptions<Pair>>();
  options->cycles = 1'000'000;
  block.add_option("--cycles", options->cycles, "cycles to compare")
      ->capture_default_str()
      ->check(CLI::Range(u64{1}, u64{1'000'000'000'000}, "1 to 10^12"));
  block.add_option("--seed", options->seed, "of packets, gaps and stalls")
      ->capture_default_str()
      ->check(CLI::Range(u64{0}, ~u64{0} >> 1, "0 to 2^63 - 1"));
  if (!elastic) add_stalls(block, *options);
  block.add_option("--latency", options->twin.latency, "of the model, cycles")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  block.add_option("--interval", options->twin.interval, "of the model, cycles")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  block
      .add_option_function<u32>(
          "--width", [options](u32 bits) { options->twin.beat_bytes = bits / 8; },
          "of the datapath, bits")
      ->default_str("512")
      ->check(CLI::IsMember({256, 512}));
  block
      .add_option("--reset-every", options->reset_every,
                  "cycles: a reset comes mostly within a sixteenth of them, each eighth time "
                  "within twice, each 256th after 64 times as many; 0: none; none with --packets")
      ->capture_default_str()
      ->check(CLI::Range(u64{0}, u64{1'000'000'000}, "0 to 10^9"));
  block.add_option("--fst", options->waves, "waveform of the cycles around the first divergence")
      ->check(in_a_folder());
  constexpr bool kTakesFrames = !requires { Pair::kTakes; };
  auto packets = std::make_shared<std::vector<std::string>>();
  block.add_option("--packets", *packets,
                   kTakesFrames
                       ? "captures and vectors whose frames are sent in turn instead of random ones"
                       : "not for this block, which takes no frames");
  block.callback([=, &exit_code] {
    if constexpr (!kTakesFrames)
      if (!packets->empty())
        throw CLI::ValidationError("--packets",
                                   fmt::format("{} takes no frames but {}; icrc, packetizer, "
                                               "rx_parser and responder_check take frames",
                                               Pair::kName, Pair::kTakes));
    if (!packets->empty())
      options->given = testbench::GivenFrames(testbench::load_frames(*packets));
    // Copies the value: capturing `options` itself would create a reference cycle.
    if (rtl) options->rtl = [rtl, bytes = options->twin.beat_bytes] { return rtl(bytes); };
    if constexpr (!testbench::kLooksUp<Pair>)
      if (elastic) return void(exit_code = run<testbench::run_elastic<Pair>>(*options));
    exit_code = run<testbench::run_lockstep<Pair>>(*options);
  });
}
}  // namespace hca::cli
