// SPDX-License-Identifier: Apache-2.0
// The waveform of a divergence, read back by the library that Verilator writes it with.
#include <gtkwave/fstapi.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "testbench/tests/lockstep/mutants/mutant_rtl.h"

namespace hca::testbench {
namespace {
class Waves {
 public:
  explicit Waves(const std::string& file) : reader_(fstReaderOpen(file.c_str())) {
    REQUIRE(reader_);
    while (const fstHier* h = fstReaderIterateHier(reader_)) {
      if (h->htyp == FST_HT_SCOPE) fstReaderPushScope(reader_, h->u.scope.name, nullptr);
      if (h->htyp == FST_HT_UPSCOPE) fstReaderPopScope(reader_);
      if (h->htyp == FST_HT_VAR)
        signals_[std::string(fstReaderGetCurrentFlatScope(reader_)) + "." + h->u.var.name] =
            h->u.var.handle;
    }
  }
  ~Waves() { fstReaderClose(reader_); }
  Waves(const Waves&) = delete;

  // Bits, the most significant first, in the cycle `at`, or at the clock edge after it.
  std::string value(const std::string& signal, u64 at, bool edge = false) const {
    for (const auto& [name, handle] : signals_) {
      if (name != signal && !name.starts_with(signal + " [")) continue;
      std::vector<char> text(2048);
      return fstReaderGetValueFromHandleAtTime(reader_, 10 * at + 5 * edge, handle, text.data());
    }
    for (const auto& [name, handle] : signals_) UNSCOPED_INFO(name);
    FAIL("no signal " << signal);
    return {};
  }
  u64 first() const { return fstReaderGetStartTime(reader_); }
  u64 last() const { return fstReaderGetEndTime(reader_); }
  int unit() const { return fstReaderGetTimescale(reader_); }

 private:
  void* reader_;
  std::map<std::string, fstHandle> signals_;
};
std::string bits(u64 number, unsigned count) {
  std::string out;
  for (unsigned i = count; i--;) out += number >> i & 1 ? '1' : '0';
  return out;
}
}  // namespace

// "every ICRC is good": the model's icrc_ok is 0, the RTL's is bit 15 of beat_t.
TEST_CASE("a waveform has the values of model and RTL in the cycle of the divergence",
          "[lockstep][waves]") {
  const u32 beat_bytes = GENERATE(32u, 64u);
  const auto names = Mutants<IcrcLockstep>::names();
  const auto mutant = std::ranges::find(names, "every ICRC is good");
  REQUIRE(mutant != names.end());
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("hca_waves_{}_{}.fst", beat_bytes, getpid());
  LockstepOptions<IcrcLockstep> options;
  options.twin.beat_bytes = beat_bytes;
  options.waves = file.string();
  options.rtl = [&] {
    return Mutants<IcrcLockstep>::make(beat_bytes, u32(mutant - names.begin()) + 1, true);
  };
  const auto r = run_lockstep(options);
  REQUIRE(r.divergence);
  REQUIRE(r.divergence->where() == "packets_out.icrc_ok");
  const engine::Cycle at = r.divergence->cycle;
  const Waves waves(file.string());
  CHECK(waves.unit() == -10);  // 100 ps
  CHECK(waves.first() == 10 * (at > 63 ? at - 63 : 1));
  CHECK(waves.last() == 10 * (at + 16) + 5);
  CHECK(waves.value("model.cycle", at) == bits(at, 64));
  CHECK(waves.value("model.packets_out_valid", at) == "1");
  CHECK(waves.value("icrc.packets_out_valid_o", at) == "1");
  CHECK(waves.value("model.packets_out.icrc_ok", at) == "0");
  const std::string beat = waves.value("icrc.packets_out_o", at);
  REQUIRE(beat.size() == 24);
  CHECK(beat[23 - 15] == '1');
  CHECK(waves.value("model.packets_out.bytes", at) == beat.substr(24 - 7));
  CHECK(waves.value("model.packets_out_data", at) == waves.value("icrc.packets_out_data_o", at));
  CHECK(waves.value("icrc.clk_i", at) == "0");
  CHECK(waves.value("icrc.clk_i", at, true) == "1");
  // The cycles before were equal.
  for (engine::Cycle c = waves.first() / 10; c < at; ++c)
    CHECK(waves.value("model.packets_out_valid", c) == waves.value("icrc.packets_out_valid_o", c));
  std::filesystem::remove(file);
}
}  // namespace hca::testbench
