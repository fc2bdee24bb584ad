// SPDX-License-Identifier: Apache-2.0
// Every deliberate mistake in rtl/icrc.sv is noticed at both widths, and docs/rtl.md says by what.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/tests/lockstep/mutants/icrc_mutant_rtl.h"

namespace hca::testbench {
namespace {
IcrcLockstepResult run_mutant(u32 beat_bytes, u32 mutant, bool assertions, u64 seed = 1) {
  IcrcLockstepOptions options;
  options.seed = seed;
  options.cycles = 200'000;
  options.twin.beat_bytes = beat_bytes;
  options.rtl = [=] { return IcrcMutantRtl(beat_bytes, mutant, assertions); };
  return run_icrc_lockstep(options);
}

// What noticed it first. Behind a failed assertion, what the comparison would have said later.
std::string message(u32 beat_bytes, u32 mutant) {
  IcrcLockstepResult r = run_mutant(beat_bytes, mutant, true);
  std::string text;
  if (r.assertion_failed && !r.divergence) {
    text = fmt::format("cycle {}, an assertion of the RTL; ", r.cycles);
    r = run_mutant(beat_bytes, mutant, false);
  }
  if (!r.divergence) return text + "nothing";
  const Divergence& d = *r.divergence;
  return text +
         fmt::format("cycle {}, {}.{}: model {}, RTL {}", d.cycle, d.port, d.field, d.model, d.rtl);
}

std::string text_of(const char* file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}
}  // namespace

TEST_CASE("without a mistake nothing is noticed", "[icrc][mutants]") {
  CHECK(run_mutant(GENERATE(32u, 64u), 0, true).equal());
}

TEST_CASE("every mistake in rtl/icrc.sv is noticed as docs/rtl.md says", "[icrc][mutants]") {
  REQUIRE(icrc_mutants().size() >= 40);
  std::string table = "| mistake | at 512 bits | at 256 bits |\n|---|---|---|\n";
  for (u32 i = 0; i < icrc_mutants().size(); ++i) {
    const std::string wide = message(64, i + 1), narrow = message(32, i + 1);
    CHECK(wide.rfind("nothing") != 0);
    CHECK(narrow.rfind("nothing") != 0);
    table += fmt::format("| {} | {} | {} |\n", icrc_mutants()[i], wide, narrow);
  }
  const std::string page = text_of(HCA_SOURCE_DIR "/docs/rtl.md");
  const bool same = page.find("\n\n" + table + "\n") != std::string::npos;
  if (!same) fmt::print("{}", table);  // as it is now
  CHECK(same);
}

TEST_CASE("every mistake in rtl/icrc.sv is noticed with other seeds too", "[icrc][mutants][slow]") {
  for (u64 seed = 2; seed <= 21; ++seed)
    for (const u32 beat_bytes : {32u, 64u})
      for (u32 i = 0; i < icrc_mutants().size(); ++i) {
        INFO("seed " << seed << ", " << 8 * beat_bytes << " bits: " << icrc_mutants()[i]);
        CHECK_FALSE(run_mutant(beat_bytes, i + 1, true, seed).equal());
      }
}
}  // namespace hca::testbench
