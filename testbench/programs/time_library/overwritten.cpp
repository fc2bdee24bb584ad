// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/time_library/overwritten.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <span>

#include "testbench/programs/server/kernel_call.h"

namespace hca::time_library {
namespace {
constexpr u8 kInstead = 0xf4;

// Sorted by address. It is never changed or freed, because a fault may read it. Not on the
// program's heap, whose lock the caller may hold.
struct Places {
  std::size_t used = 0, left_out = 0;
  std::array<Overwritten, 16384> all;

  std::span<const Overwritten> span() const { return {all.data(), used}; }
  void add(const Overwritten& place) {
    if (used < all.size())
      all[used++] = place;
    else
      ++left_out;
  }
};
constinit std::atomic<const Places*> g_places{nullptr};
constinit std::atomic_flag g_searches;

Places* new_places() {
  void* const at = mmap(nullptr, sizeof(Places), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : new (at) Places;
}

void tell_left_out(const Places& places) {
  std::array<char, 128> line{};
  const int bytes =
      std::snprintf(line.data(), line.size(),
                    "hca: %zu instructions see real time: no more than %zu are overwritten\n",
                    places.left_out, places.all.size());
  attach::kernel_call(SYS_write, STDERR_FILENO, line.data(), bytes);
}

// SYSCALL as ours are (kernel_call.h), and a jump to where the program goes on: no register is
// another one, so that it may be any call.
struct AsBefore {
  std::array<u8, 3> call{0x3e, 0x0f, 0x05};
  std::array<u8, 6> jump{0xff, 0x25, 7, 0, 0, 0};  // to what lies seven bytes after it
  std::array<u8, 7> unused{};
  u64 after = 0;
};
static_assert(sizeof(AsBefore) == 24);

void make_as_before(std::span<Overwritten> places) {
  const std::size_t bytes = places.size() * sizeof(AsBefore);
  void* const at =
      bytes ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : MAP_FAILED;
  if (at == MAP_FAILED) return;
  auto* code = static_cast<AsBefore*>(at);
  for (Overwritten& place : places) {
    new (code) AsBefore{.after = place.address + place.bytes};
    place.as_before = reinterpret_cast<u64>(code++);
  }
  mprotect(at, bytes, PROT_READ | PROT_EXEC);
}
}  // namespace

Overwritten overwritten_at(u64 address) {
  const Places* const places = g_places.load(std::memory_order_acquire);
  if (!places) return {};
  const auto all = places->span();
  const auto found = std::ranges::lower_bound(all, address, {}, &Overwritten::address);
  return found != all.end() && found->address == address ? *found : Overwritten{};
}

void overwrite_all(Site site) {
  // No mutex: those of the program are ours, too. Another thread that is here sees the same code.
  if (g_searches.test_and_set()) return;
  Places* const places = new_places();
  if (!places) return g_searches.clear();
  if (const Places* const before = g_places.load())
    for (const Overwritten& place : before->span()) places->add(place);
  const std::size_t known = places->used;
  each_site(site, [&](u8* code, unsigned bytes) {
    if (*code != kInstead) places->add({reinterpret_cast<u64>(code), bytes, site});
  });
  if (places->left_out) tell_left_out(*places);
  if (site == Site::SystemCall)
    make_as_before(std::span(places->all).subspan(known, places->used - known));
  std::ranges::sort(places->all.begin(), places->all.begin() + std::ptrdiff_t(places->used), {},
                    &Overwritten::address);
  g_places.store(places, std::memory_order_release);
  for (const Overwritten& place : places->span()) {
    auto* const code = reinterpret_cast<u8*>(place.address);
    const bool can_be = place.site == Site::TimeStamp || place.as_before;
    if (can_be && *code != kInstead) overwrite_code(code, kInstead);
  }
  g_searches.clear();
}
}  // namespace hca::time_library
