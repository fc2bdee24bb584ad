// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/vcd_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
namespace {

// Names of signals and scopes have no blanks.
std::string word(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (!std::isalnum(u8(c))) c = '_';
  return text;
}

// "!", "\"", ... : printable characters, as short as possible.
std::string identifier(std::size_t n) {
  constexpr std::size_t kFirst = '!', kCount = '~' - '!' + 1;
  std::string id;
  do id += char(kFirst + n % kCount);
  while (n /= kCount);
  return id;
}

std::string binary(u64 value) {
  std::string text;
  for (unsigned bit = std::max(1u, unsigned(std::bit_width(value))); bit-- > 0;)
    text += value >> bit & 1 ? '1' : '0';
  return text;
}

constexpr unsigned kUnlimitedWidth = 32, kWireWidth = 8;
}  // namespace

VcdFile::VcdFile(const std::string& path, Testbed& testbed)
    : path_(path),
      file_(path),
      testbed_(testbed),
      changes_([this](u64 at, const Change& change) { write(at, change); }),
      levels_(
          testbed,
          [this](unsigned chip, std::size_t watched, u64 at, u64 value) {
            const std::size_t signal = first_[chip] + watched;
            note(signal, at, {signal, value, false});
          },
          [this] { changes_.hand_on_until(levels_.catch_up()); }) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  declare();
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    testbed.wire(wire).add_tap(
        [this, wire](u8 sender, sc_core::sc_time at, const proto::FrameView& frame_bytes) {
          frame(wire, sender, at.value(), frame_bytes.size());
        });
}

void VcdFile::declare(std::size_t signal, const std::string& name, unsigned width) {
  if (signal >= signals_.size()) signals_.resize(signal + 1);
  signals_[signal].width = width;
  signals_[signal].id = identifier(signal);
  file_ << fmt::format("$var reg {} {} {} $end\n", width, signals_[signal].id, name);
}

void VcdFile::declare() {
  file_ << "$version hca run $end\n$timescale 1 ps $end\n";
  for (unsigned i = 0; i < testbed_.nodes(); ++i) {
    const engine::Domain& domain = testbed_.node(i).hca.domain();
    const std::size_t first = first_.emplace_back(signals_.size());
    // Declared block by block, kept in the order of the list.
    std::map<std::string, std::vector<std::size_t>> blocks;
    const auto& watched = domain.watched();
    for (std::size_t w = 0; w < watched.size(); ++w)
      blocks[domain.name_of(watched[w].level(watched[w].object).owner)].push_back(w);
    signals_.resize(first + watched.size());
    file_ << fmt::format("$scope module hca{} $end\n", i);
    for (const auto& [block, list] : blocks) {
      file_ << fmt::format("$scope module {} $end\n", word(block));
      std::map<std::string, unsigned> names;
      for (const std::size_t w : list) {
        const engine::Level level = watched[w].level(watched[w].object);
        std::string name = word(level.object);
        if (const unsigned n = names[name]++) name += fmt::format("_{}", n);
        declare(first + w, name, level.of ? unsigned(std::bit_width(level.of)) : kUnlimitedWidth);
      }
      file_ << "$upscope $end\n";
    }
    file_ << "$upscope $end\n";
  }
  wire_ = signals_.size();
  for (unsigned wire = 0; wire < testbed_.wires(); ++wire) {
    file_ << fmt::format("$scope module {} $end\n", testbed_.name_of_wire(wire));
    for (unsigned end = 0; end < kEnds; ++end)
      declare(wire_ + wire * kEnds + end,
              fmt::format("from_hca{}", testbed_.ends_of_wire(wire)[end].node), kWireWidth);
    file_ << "$upscope $end\n";
  }
  file_ << "$enddefinitions $end\n#0\n$dumpvars\n";
  for (const Signal& s : signals_) file_ << fmt::format("b0 {}\n", s.id);
  file_ << "$end\n";
}

// Changes at the same time have the order of the signals, independent of the order of execution; on
// a wire a frame ends before the next one begins.
void VcdFile::note(std::size_t signal, u64 picoseconds, Change change) {
  const bool begins = change.adds && change.value == 1;
  changes_.add(picoseconds, u32(2 * signal + begins), change);
}

// From its first bit to its last one, with what a link has around a frame. Of a frame that ends
// when the next one begins the end comes first. Frames begin at edges of the sender's clock, so the
// time of one counts in whole cycles of it, rounded down: then none overlap.
void VcdFile::frame(unsigned wire, u8 sender, u64 at, std::size_t bytes) {
  const u64 time = testbed_.time_on_link(wire, sender, bytes);
  const u64 period = testbed_.node(testbed_.ends_of_wire(wire)[sender].node).hca.period().value();
  const std::size_t signal = wire_ + wire * kEnds + sender;
  note(signal, at, {signal, 1, true});
  note(signal, at + time / period * period, {signal, ~u64{0}, true});
}

void VcdFile::write(u64 picoseconds, const Change& change) {
  Signal& signal = signals_[change.signal];
  const u64 value = change.adds ? signal.value + change.value : change.value;
  if (signal.value == value) return;
  signal.value = value;
  if (picoseconds != written_at_) file_ << '#' << (written_at_ = picoseconds) << '\n';
  file_ << 'b' << binary(value) << ' ' << signal.id << '\n';
}

void VcdFile::close() {
  levels_.finish();
  changes_.hand_on_until(~u64{0});
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
