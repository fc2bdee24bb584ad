// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/vcd_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <stdexcept>

#include "model/proto/wire/framing.h"
#include "testbench/testbed/kernel_time.h"

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
      chips_(testbed.nodes()),
      changes_([this](u64 at, const Change& change) { write(at, change); }) {
  if (!file_) throw std::runtime_error(path + ": cannot be written");
  declare();
  for (Chip& chip : chips_)
    chip.domain->observe(
        &chip,
        [](void* who, Cycle at) {
          Chip& c = *static_cast<Chip*>(who);
          c.file->catch_up(c, at);
        },
        [](void* who, Cycle at) {
          Chip& c = *static_cast<Chip*>(who);
          c.file->sample(c, at);
        });
  for (unsigned wire = 0; wire < testbed.wires(); ++wire)
    testbed.wire(wire).add_tap(
        [this, wire](u8 sender, sc_core::sc_time at, std::span<const u8> frame_bytes) {
          frame(wire, sender, at.value(), frame_bytes.size());
        });
}

VcdFile::~VcdFile() {
  for (Chip& chip : chips_) chip.domain->observe(&chip, nullptr, nullptr);
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
    Chip& chip = chips_[i];
    const Hca& hca = testbed_.node(i).hca;
    chip.file = this, chip.domain = &testbed_.node(i).hca.domain();
    chip.period = hca.period().value(), chip.first = signals_.size();
    // Declared block by block, kept in the order of the list.
    std::map<std::string, std::vector<std::size_t>> blocks;
    const auto& watched = chip.domain->watched();
    for (std::size_t w = 0; w < watched.size(); ++w)
      blocks[chip.domain->name_of(watched[w].level(watched[w].object).owner)].push_back(w);
    signals_.resize(chip.first + watched.size()), chip.values.resize(watched.size());
    file_ << fmt::format("$scope module hca{} $end\n", i);
    for (const auto& [block, list] : blocks) {
      file_ << fmt::format("$scope module {} $end\n", word(block));
      std::map<std::string, unsigned> names;
      for (const std::size_t w : list) {
        const engine::Level level = watched[w].level(watched[w].object);
        std::string name = word(level.object);
        if (const unsigned n = names[name]++) name += fmt::format("_{}", n);
        declare(chip.first + w, name,
                level.of ? unsigned(std::bit_width(level.of)) : kUnlimitedWidth);
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

void VcdFile::catch_up(Chip& chip, Cycle to) {
  if (to <= chip.seen + 1) return;
  const auto& watched = chip.domain->watched();
  for (std::size_t w = 0; w < watched.size(); ++w) {
    if (!watched[w].changes) continue;
    found_.clear();
    watched[w].changes(watched[w].object, chip.seen, to, found_);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      chip.values[w] += u64(std::int64_t(found_[i].by));
      if (i + 1 < found_.size() && found_[i + 1].at == found_[i].at) continue;
      note(chip.first + w, chip.time_of(found_[i].at), {chip.first + w, chip.values[w], false});
    }
  }
  chip.seen = to - 1;
}

void VcdFile::sample(Chip& chip, Cycle at) {
  const auto& watched = chip.domain->watched();
  for (std::size_t w = 0; w < watched.size(); ++w) {
    const u64 used = watched[w].level(watched[w].object).used;
    if (used == chip.values[w]) continue;
    chip.values[w] = used;
    note(chip.first + w, chip.time_of(at), {chip.first + w, used, false});
  }
  chip.seen = at;
  hand_on();
}

// A chip that sleeps has changes, too. None can come for a cycle that lies before the kernel's
// time.
void VcdFile::hand_on() {
  const u64 now = kernel_picoseconds();
  for (Chip& chip : chips_) catch_up(chip, now / chip.period);
  u64 known = now;
  for (const Chip& chip : chips_) known = std::min(known, chip.time_of(chip.seen));
  changes_.hand_on_until(known);
}

// From its first bit to its last one, with what a link has around a frame. Of a frame that ends
// when the next one begins the end comes first. Frames begin at edges of the sender's clock, so the
// time of one counts in whole cycles of it, rounded down: then none overlap.
void VcdFile::frame(unsigned wire, u8 sender, u64 at, std::size_t bytes) {
  const u64 time = testbed_.time_on_link(wire, sender, bytes);
  const u64 period = chips_[testbed_.ends_of_wire(wire)[sender].node].period;
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
  for (Chip& chip : chips_) catch_up(chip, engine::kNever);
  changes_.hand_on_until(~u64{0});
  if (!file_.flush()) throw std::runtime_error(path_ + ": cannot be written");
}
}  // namespace hca::testbench
