// SPDX-License-Identifier: Apache-2.0
// Every deliberate mistake in an RTL block is noticed at both widths, and
// docs/results/rtl_mistakes.md says by what.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "testbench/tests/lockstep/mutants/mutant_rtl.h"

namespace hca::testbench {
namespace {
template <class Pair>
LockstepResult<Pair> run_mutant(u32 beat_bytes, u32 mutant, bool assertions, u64 seed = 1,
                                engine::Cycle cycles = 4'000'000) {
  LockstepOptions<Pair> options;
  options.seed = seed;
  options.cycles = cycles;
  options.twin.beat_bytes = beat_bytes;
  options.rtl = [=] { return Mutants<Pair>::make(beat_bytes, mutant, assertions); };
  return run_lockstep(options);
}

// What noticed it first. Behind a failed assertion, what the comparison would have said later.
template <class Pair>
std::string message(u32 beat_bytes, u32 mutant) {
  LockstepResult<Pair> r = run_mutant<Pair>(beat_bytes, mutant, true);
  std::string text;
  if (r.assertion_failed && !r.divergence) {
    text = fmt::format("cycle {}, an assertion of the RTL; ", r.cycles);
    r = run_mutant<Pair>(beat_bytes, mutant, false);
  }
  return text + (r.divergence ? r.divergence->line() : "nothing");
}

std::string text_of(const char* file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}
}  // namespace

TEMPLATE_TEST_CASE("without a mistake nothing is noticed", "[mutants]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  CHECK(run_mutant<TestType>(GENERATE(32u, 64u), 0, true).equal());
}

TEMPLATE_TEST_CASE("every mistake in the RTL is noticed as docs/results/rtl_mistakes.md says",
                   "[mutants]", IcrcLockstep, PacketizerLockstep, RxParserLockstep,
                   ResponderCheckLockstep, RequesterPsnLockstep, CompletionLockstep) {
  const auto names = Mutants<TestType>::names();
  REQUIRE(names.size() >= 10);
  std::string table = fmt::format(
      "| mistake in `{}` | at 512 bits | at 256 bits |\n|---|---|---|\n", TestType::kName);
  for (u32 i = 0; i < names.size(); ++i) {
    const std::string wide = message<TestType>(64, i + 1), narrow = message<TestType>(32, i + 1);
    CHECK(wide.rfind("nothing") != 0);
    CHECK(narrow.rfind("nothing") != 0);
    table += fmt::format("| {} | {} | {} |\n", names[i], wide, narrow);
  }
  const std::string page = text_of(HCA_SOURCE_DIR "/docs/results/rtl_mistakes.md");
  const bool same = page.find("\n\n" + table + "\n") != std::string::npos;
  if (!same) fmt::print("{}", table);  // as it is now
  CHECK(same);
}

TEMPLATE_TEST_CASE("every mistake in the RTL is noticed with other seeds too", "[mutants][slow]",
                   IcrcLockstep, PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  constexpr engine::Cycle kLong = 1'000'000;
  const auto names = Mutants<TestType>::names();
  for (u64 seed = 2; seed <= 21; ++seed)
    for (const u32 beat_bytes : {32u, 64u})
      for (u32 i = 0; i < names.size(); ++i) {
        INFO("seed " << seed << ", " << 8 * beat_bytes << " bits: " << names[i]);
        CHECK_FALSE(run_mutant<TestType>(beat_bytes, i + 1, true, seed, kLong).equal());
      }
}
}  // namespace hca::testbench
