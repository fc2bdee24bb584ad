// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "testbench/cli/commands.h"
#include "testbench/load_frames.h"
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/packetizer_lockstep.h"
#include "testbench/lockstep/requester_psn_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"
#include "testbench/lockstep/sv_package.h"

namespace hca::cli {
namespace {
template <class Pair>
void print(const testbench::LockstepOptions<Pair>& options,
           const testbench::LockstepResult<Pair>& r, double seconds) {
  fmt::print("{}: {} bits, {} cycles compared, seed {}, stall {} %, {} rooms behind\n", Pair::kName,
             8 * options.twin.beat_bytes, r.cycles, options.seed, options.stall_percent,
             options.rooms);
  if (options.given.any()) fmt::print("  frames given {}, sent in turn\n", options.given.size());
  fmt::print("  packets {} ({}), beats {}\n", r.packets, r.counts.text(), r.beats);
  fmt::print("  starts right behind another packet {}, cycles held without a grant {}\n",
             r.full_rate_starts, r.held_cycles);
  fmt::print("{}", r.coverage.text());
  fmt::print("  divergences {}, failed assertions {}\n", int(r.divergence.has_value()),
             int(r.assertion_failed));
  fmt::print("  {:.2f} s, {:.2f} M cycles/s\n", seconds, double(r.cycles) / seconds / 1e6);
  if (r.divergence) fmt::print("first divergence: {}", r.divergence->text());
  if (r.assertion_failed) fmt::print("an assertion of the RTL failed in cycle {}\n", r.cycles);
  if (!r.waves.empty()) fmt::print("waveform: {}\n", r.waves);
}

template <class Pair>
int run(const testbench::LockstepOptions<Pair>& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = testbench::run_lockstep(options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print(options, result, seconds.count());
  return result.equal() ? kSucceeded : kCheckFailed;
}

// The subcommand of one block.
template <class Pair>
void add_block(CLI::App& rtl, int& exit_code) {
  CLI::App* block = rtl.add_subcommand(
      Pair::kName,
      fmt::format("rtl/{}.sv against {}, compared in every cycle", Pair::kName, Pair::kTwin));
  auto options = std::make_shared<testbench::LockstepOptions<Pair>>();
  options->cycles = 1'000'000;
  block->add_option("--cycles", options->cycles, "cycles to compare")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  block->add_option("--seed", options->seed, "of packets, gaps and stalls")->capture_default_str();
  block
      ->add_option("--stall", options->stall_percent,
                   "percent of the cycles in which the receiver takes no packet")
      ->capture_default_str()
      ->check(CLI::Range(0, 99));
  block->add_option("--rooms", options->rooms, "packets for which the receiver has room")
      ->capture_default_str()
      ->check(CLI::Range(1, 8));
  block->add_option("--latency", options->twin.latency, "of the model, cycles")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  block->add_option("--interval", options->twin.interval, "of the model, cycles")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  block
      ->add_option_function<u32>(
          "--width", [options](u32 bits) { options->twin.beat_bytes = bits / 8; },
          "of the datapath, bits")
      ->default_str("512")
      ->check(CLI::IsMember({256, 512}));
  block->add_flag("--break-contract", options->break_contract,
                  "leave gaps inside packets, or start those of one beat without a grant: the "
                  "RTL's assertion fires");
  block->add_option("--fst", options->waves, "waveform of the cycles around the first divergence");
  auto packets = std::make_shared<std::vector<std::string>>();
  if constexpr (std::is_constructible_v<typename Pair::Stimulus, u64, testbench::GivenFrames>)
    block->add_option("--packets", *packets,
                      "captures and vectors whose frames are sent in turn instead of random ones");
  block->callback([options, packets, &exit_code] {
    if (!packets->empty())
      options->given = testbench::GivenFrames(testbench::load_frames(*packets));
    exit_code = run(*options);
  });
}
}  // namespace

void add_rtl(CLI::App& app, int& exit_code) {
  CLI::App* rtl = app.add_subcommand("rtl", "RTL blocks in lockstep with the model");
  rtl->require_subcommand(1);
  add_block<testbench::IcrcLockstep>(*rtl, exit_code);
  add_block<testbench::PacketizerLockstep>(*rtl, exit_code);
  add_block<testbench::RxParserLockstep>(*rtl, exit_code);
  add_block<testbench::RequesterPsnLockstep>(*rtl, exit_code);
  add_block<testbench::ResponderCheckLockstep>(*rtl, exit_code);

  CLI::App* package = rtl->add_subcommand("package", "print rtl/hca_pkg.sv, made from the tables");
  package->callback([&exit_code] {
    fmt::print("{}", testbench::hca_pkg_sv());
    exit_code = kSucceeded;
  });
}
}  // namespace hca::cli
