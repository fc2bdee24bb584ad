// SPDX-License-Identifier: Apache-2.0
// The time stamp counter: an instruction that reads it is given simulated time. It traps, where the
// kernel lets it; elsewhere it is overwritten by one that always does. What a program makes of code
// while it runs is not seen then.
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "testbench/time_library/code.h"
#include "testbench/time_library/library.h"

namespace hca::time_library {
namespace {
constexpr std::array<u8, 2> kRdtsc{0x0f, 0x31};
constexpr std::array<u8, 3> kRdtscp{0x0f, 0x01, 0xf9};
constexpr std::array<u8, 3> kInstead{0xf4, 0x90, 0x90};  // HLT, which no program may, NOPs
u64 g_vdso = 0;
bool g_traps = true;  // the counter, if it is asked to

// What was overwritten, in the order of addresses. A table is never changed: a fault may read it.
struct Place {
  u64 address;
  unsigned bytes;
};
using Places = std::vector<Place>;
std::atomic<const Places*> g_places{nullptr};
std::atomic<u64> g_pieces{0};  // of code: those that were searched
std::atomic_flag g_searches;

unsigned overwritten_at(u64 address) {
  const Places* const places = g_places.load(std::memory_order_acquire);
  if (!places) return 0;
  const auto found = std::ranges::lower_bound(*places, address, {}, &Place::address);
  return found != places->end() && found->address == address ? found->bytes : 0;
}

// The kernel's own code for clocks in the memory of the program needs the true counter.
bool is_of_kernel(u64 address) {
  constexpr u64 kBytes = 0x4000;
  return g_vdso && address - g_vdso < kBytes;
}
u64 true_counter() {
  const bool traps = g_traps;
  if (traps) trap_time_stamps(false);
  const u64 counter = __builtin_ia32_rdtsc();
  if (traps) trap_time_stamps(true);
  return counter;
}

// The bytes of the instruction that read the counter and trapped; 0: it is none.
unsigned trapped_at(const siginfo_t& info, u64 address) {
  if (info.si_code != SI_KERNEL) return 0;
  if (const unsigned bytes = overwritten_at(address)) return bytes;
  const auto* const code = reinterpret_cast<const u8*>(address);
  if (!std::memcmp(code, kRdtsc.data(), kRdtsc.size())) return kRdtsc.size();
  if (!std::memcmp(code, kRdtscp.data(), kRdtscp.size())) return kRdtscp.size();
  return 0;
}

void on_fault(int signal, siginfo_t* info, void* at) {
  auto& registers = static_cast<ucontext_t*>(at)->uc_mcontext.gregs;
  const unsigned bytes = trapped_at(*info, u64(registers[REG_RIP]));
  if (!bytes) return pass_fault_on(signal, info, at);
  const int error = errno;
  const u64 counter = is_of_kernel(u64(registers[REG_RIP])) || !is_open()
                          ? true_counter()
                          : read_clock() / kPicosecondsPerTick;
  registers[REG_RAX] = greg_t(u32(counter)), registers[REG_RDX] = greg_t(counter >> 32);
  if (bytes == kRdtscp.size()) registers[REG_RCX] = 0;
  registers[REG_RIP] += greg_t(bytes);
  errno = error;
}

volatile sig_atomic_t g_tried = 0;
bool traps_here() {
  if (const char* wanted = std::getenv("HCA_TIME_STAMPS"))
    if (!std::strcmp(wanted, "rewrite")) return false;
  struct sigaction before {};
  struct sigaction action {};
  action.sa_sigaction = [](int, siginfo_t*, void*) {
    g_tried = 1;
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  };
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  HCA_NEXT(sigaction)(SIGSEGV, &action, &before);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  __builtin_ia32_rdtsc();
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  HCA_NEXT(sigaction)(SIGSEGV, &before, nullptr);
  return g_tried;
}

void overwrite_time_stamps() {
  // No mutex: those of the program are ours, too. Another thread that is here sees the same code.
  const u64 pieces = pieces_of_code();
  if (g_pieces.load() == pieces || g_searches.test_and_set()) return;
  g_pieces = pieces;
  const Places* const before = g_places.load();
  auto places = std::make_unique<Places>(before ? *before : Places{});
  each_time_stamp([&](u8* code, unsigned bytes) {
    places->push_back({reinterpret_cast<u64>(code), bytes});
  });
  std::ranges::sort(*places, {}, &Place::address);
  const Places& all = *places;
  g_places.store(places.release(), std::memory_order_release);
  for (const Place& place : all) {
    auto* const code = reinterpret_cast<u8*>(place.address);
    if (*code != kInstead[0]) overwrite_code(code, kInstead.data(), place.bytes);
  }
  g_searches.clear();
}
}  // namespace

void trap_time_stamps(bool traps) {
  if (g_traps) prctl(PR_SET_TSC, traps ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

void see_new_code() {
  if (!g_traps) overwrite_time_stamps();
}

void set_up_time_stamps() {
  g_vdso = getauxval(AT_SYSINFO_EHDR);
  g_traps = traps_here();
  take_faults(on_fault);
  see_new_code();
}
}  // namespace hca::time_library
