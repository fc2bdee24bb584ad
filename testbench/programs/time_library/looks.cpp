// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/time_library/looks.h"
#include "testbench/programs/server/kernel_call.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "testbench/programs/time_library/clock.h"

namespace hca::time_library {
namespace {
// Regions that were registered; they may be gone. Where there is no room the last one grows.
struct Range {
  std::atomic<u64> begin{0}, end{0};
};
constexpr std::size_t kRanges = 1024;
std::array<Range, kRanges> g_ranges;
std::atomic<std::size_t> g_used{0};

bool is_registered(u64 address) {
  const std::size_t used = std::min(g_used.load(std::memory_order_acquire), kRanges);
  return std::any_of(g_ranges.begin(), g_ranges.begin() + std::ptrdiff_t(used),
                     [&](const Range& r) { return address >= r.begin && address < r.end; });
}

// By /proc/self/maps, `from-to rwxs ...`; read without a buffer of the C library: in a signal.
class Maps {
 public:
  Maps()
      : file_(int(
            attach::kernel_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC))) {}
  ~Maps() {
    if (file_ >= 0) attach::kernel_call(SYS_close, file_);
  }
  Maps(const Maps&) = delete;
  bool is_shared(u64 address) {
    while (at_ || fill()) {
      const u64 from = number('-'), to = number(' ');
      const char shared = (next(), next(), next(), next());
      while (const char c = next())
        if (c == '\n') break;
      if (address >= from && address < to) return shared == 's';
      if (!to) return false;
    }
    return false;
  }

 private:
  bool fill() {
    const long bytes =
        file_ < 0 ? 0 : attach::kernel_call(SYS_read, file_, text_.data(), text_.size());
    at_ = text_.data();
    end_ = at_ + std::max(bytes, 0L);
    return at_ != end_;
  }
  char next() {
    if (at_ == end_ && !fill()) return 0;
    return *at_++;
  }
  u64 number(char last) {
    u64 value = 0;
    for (char c; (c = next()) && c != last;)
      value = value << 4 | u64(c <= '9' ? c - '0' : c - 'a' + 10);
    return value;
  }
  int file_;
  std::array<char, 4096> text_{};
  const char *at_ = nullptr, *end_ = nullptr;
};

u64 value_at(u64 address, u32 bytes) {
  u64 value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min<u64>(bytes, sizeof value));
  return value;
}
}  // namespace

bool is_shared(u64 address) { return Maps().is_shared(address); }

void may_be_written(u64 address, u64 bytes) {
  const std::size_t used = std::min(g_used.load(std::memory_order_acquire), kRanges);
  for (std::size_t i = 0; i < used; ++i)
    if (address >= g_ranges[i].begin && address + bytes <= g_ranges[i].end) return;
  const std::size_t place = std::min(g_used.fetch_add(1), kRanges - 1);
  Range& range = g_ranges[place];
  const bool grows = range.end.load();
  range.begin = grows ? std::min(range.begin.load(), address) : address;
  range.end = std::max(range.end.load(), address + bytes);
}

void Looks::load(ZydisRegister in, u64 address, u32 bytes) {
  constexpr u32 kSoon = 4;
  std::swap(loaded_[0], loaded_[1]);
  loaded_[0] = {ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, in), address, bytes,
                kSoon};
}
void Looks::look_at(ZydisRegister loaded) {
  const ZydisRegister in = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, loaded);
  for (const Loaded& l : loaded_)
    if (l.left && l.in == in) return look(l.address, l.bytes);
}
void Looks::look(u64 address, u32 bytes) {
  const u64 value = value_at(address, bytes);
  for (std::size_t i = 0; i < used_; ++i)
    if (Word& w = words_[i]; w.address == address) {
      ++w.looks, w.changed |= w.value != value;
      return;
    }
  if (used_ < words_.size()) words_[used_++] = {address, value, bytes, 1, false};
}
void Looks::note_written(u64 address, u64 bytes) {
  for (std::size_t i = 0; i < used_; ++i)
    words_[i].changed |=
        address < words_[i].address + words_[i].bytes && words_[i].address < address + bytes;
}
bool Looks::waits(u32 steps) const {
  constexpr u32 kRound = 64;  // instructions
  return std::any_of(words_.begin(), words_.begin() + std::ptrdiff_t(used_), [&](const Word& w) {
    return !w.changed && w.looks >= steps / kRound &&
           (is_registered(w.address) || is_shared(w.address));
  });
}
}  // namespace hca::time_library

void hca_time_may_be_written(hca::u64 address, hca::u64 bytes) {
  hca::time_library::may_be_written(address, bytes);
}
