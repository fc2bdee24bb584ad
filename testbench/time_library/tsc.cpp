// SPDX-License-Identifier: Apache-2.0
// The time stamp counter: an instruction that reads it traps, and is given simulated time.
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <array>
#include <cstring>

#include "testbench/time_library/library.h"

namespace hca::time_library {
namespace {
constexpr std::array<u8, 2> kRdtsc{0x0f, 0x31};
constexpr std::array<u8, 3> kRdtscp{0x0f, 0x01, 0xf9};
u64 g_vdso = 0;

// The kernel's own code for clocks in the memory of the program needs the true counter.
bool is_of_kernel(u64 address) {
  constexpr u64 kBytes = 0x4000;
  return g_vdso && address - g_vdso < kBytes;
}
u64 true_counter() {
  trap_time_stamps(false);
  const u64 counter = __builtin_ia32_rdtsc();
  trap_time_stamps(true);
  return counter;
}

void on_fault(int signal, siginfo_t* info, void* at) {
  auto& registers = static_cast<ucontext_t*>(at)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const u8*>(registers[REG_RIP]);
  std::size_t bytes = 0;
  if (info->si_code == SI_KERNEL) {
    if (!std::memcmp(code, kRdtsc.data(), kRdtsc.size()))
      bytes = kRdtsc.size();
    else if (!std::memcmp(code, kRdtscp.data(), kRdtscp.size()))
      bytes = kRdtscp.size();
  }
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
}  // namespace

void trap_time_stamps(bool traps) {
  prctl(PR_SET_TSC, traps ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

void set_up_time_stamps() {
  g_vdso = getauxval(AT_SYSINFO_EHDR);
  take_faults(on_fault);
}
}  // namespace hca::time_library
