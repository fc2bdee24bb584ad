// SPDX-License-Identifier: Apache-2.0
// The time stamp counter: an instruction that reads it is given simulated time. It traps, where the
// kernel lets it; elsewhere it is overwritten by one that always does. System calls of the code
// itself are overwritten everywhere. What a program makes of code while it runs is not seen then.
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/overwritten.h"
#include "testbench/programs/time_library/system_calls.h"

namespace hca::time_library {
namespace {
constexpr std::array<u8, 2> kRdtsc{0x0f, 0x31};
constexpr std::array<u8, 3> kRdtscp{0x0f, 0x01, 0xf9};
bool g_traps = true;           // the counter, if it is asked to
std::atomic<u64> g_pieces{0};  // of code: those that were searched

// The kernel's own code for clocks in the memory of the program needs the true counter.
bool is_of_kernel(u64 address) {
  constexpr u64 kBytes = 0x4000;
  return kernel_code() && address - kernel_code() < kBytes;
}
u64 true_counter() {
  const bool traps = g_traps;
  if (traps) trap_time_stamps(false);
  const u64 counter = __builtin_ia32_rdtsc();
  if (traps) trap_time_stamps(true);
  return counter;
}

// The instruction that reads the counter and trapped.
Overwritten trapped_at(u64 address) {
  const auto* const code = reinterpret_cast<const u8*>(address);
  if (!std::memcmp(code, kRdtsc.data(), kRdtsc.size())) return {address, unsigned(kRdtsc.size())};
  if (!std::memcmp(code, kRdtscp.data(), kRdtscp.size()))
    return {address, unsigned(kRdtscp.size())};
  return {};
}

void give_time_stamp(greg_t* registers, const Overwritten& place) {
  const u64 counter = is_of_kernel(u64(registers[REG_RIP])) || !is_open()
                          ? true_counter()
                          : read_clock() / kPicosecondsPerTick;
  registers[REG_RAX] = greg_t(u32(counter));
  registers[REG_RDX] = greg_t(counter >> 32);
  if (place.bytes == kRdtscp.size()) registers[REG_RCX] = 0;
  registers[REG_RIP] = greg_t(place.address + place.bytes);
}

void make_system_call(greg_t* registers, const Overwritten& place) {
  const long number = registers[REG_RAX];
  if (!is_open() || !is_timed(number)) {
    registers[REG_RIP] = greg_t(place.as_before);
    return;
  }
  const long result =
      timed_call(number, {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                          registers[REG_R10], registers[REG_R8], registers[REG_R9]});
  registers[REG_RAX] = result == -1 ? -errno : result;
  registers[REG_RIP] = greg_t(place.address + place.bytes);
  registers[REG_RCX] = registers[REG_RIP];
  registers[REG_R11] = registers[REG_EFL];
}

void on_fault(int signal, siginfo_t* info, void* at) {
  greg_t* const registers = static_cast<ucontext_t*>(at)->uc_mcontext.gregs;
  const auto address = u64(registers[REG_RIP]);
  Overwritten trapped;
  if (info->si_code == SI_KERNEL) {
    trapped = overwritten_at(address);
    if (!trapped.bytes) trapped = trapped_at(address);
  }
  if (!trapped.bytes) return pass_fault_on(signal, info, at);
  const int error = errno;
  if (trapped.site == Site::SystemCall)
    make_system_call(registers, trapped);
  else
    give_time_stamp(registers, trapped);
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
}  // namespace

void trap_time_stamps(bool traps) {
  if (g_traps) prctl(PR_SET_TSC, traps ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

void see_new_code() {
  if (g_traps) return;
  const u64 pieces = pieces_of_code();
  if (g_pieces.exchange(pieces) != pieces) overwrite_all(Site::TimeStamp);
}

void set_up_time_stamps() {
  g_traps = traps_here();
  take_faults(on_fault);
  overwrite_all(Site::SystemCall);
  see_new_code();
}
}  // namespace hca::time_library
