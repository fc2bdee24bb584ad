// SPDX-License-Identifier: Apache-2.0
// Reports to the server that the program unmaps memory, so that it need not check each access to a
// region. Unmapping inside the C library is not noticed here.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>

#include "testbench/programs/server/interposed.h"
#include "testbench/programs/server/kernel_call.h"
#include "testbench/programs/verbs_library/library.h"

namespace hca::verbs_library {
namespace {
// Called from any context, even inside an allocator: nothing here allocates memory.
struct Told {
  OpenedHere here;
  std::atomic_flag busy;
  std::array<attach::SharedControl*, 64> devices{};  // that are open
  // No handler of a signal runs meanwhile: it may unmap memory as well.
  template <class Call>
  void locked(Call call) {
    constexpr u64 kAll = ~u64{0};
    u64 before = 0;
    attach::kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &kAll, &before, sizeof before);
    while (busy.test_and_set(std::memory_order_acquire)) attach::kernel_call(SYS_sched_yield);
    call(devices);
    busy.clear(std::memory_order_release);
    attach::kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  }
};
std::atomic<Told*> g_told{nullptr};
thread_local bool t_heard = false;

void tell() {
  t_heard = true;
  Told* const told = g_told.load(std::memory_order_acquire);
  if (!told || !told->here) return;  // in a child
  told->locked([](auto& devices) {
    for (attach::SharedControl* device : devices)
      if (device) device->unmapped.fetch_add(2, std::memory_order_release);
  });
}

// This library is the first in which the program looks for it.
bool hears() {
  constexpr std::size_t kPage = 4096;
  auto* const unmap = reinterpret_cast<decltype(::munmap)*>(dlsym(RTLD_DEFAULT, "munmap"));
  void* const page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  t_heard = false;
  if (page != MAP_FAILED) unmap(page, kPage);
  return t_heard;
}
}  // namespace

void tell_unmapping(Context& context) {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  if (!hears()) return;
  Told* told = g_told;
  if (!told || !told->here) g_told = told = new Told;
  told->locked([&](auto& devices) {
    const auto free = std::ranges::find(devices, nullptr);
    if (free == devices.end()) return;
    *free = &context.control();
    context.control().unmapped.store(1);  // odd: it is told
  });
}
void forget_unmapping(Context& context) {
  Told* const told = g_told;
  if (told && told->here)
    told->locked(
        [&](auto& devices) { std::ranges::replace(devices, &context.control(), nullptr); });
}
}  // namespace hca::verbs_library

using namespace hca::verbs_library;
using hca::attach::kernel_call;

HCA_INSTEAD int munmap(void* address, std::size_t bytes) noexcept {
  const auto error = kernel_call(SYS_munmap, address, bytes);
  if (!error) tell();
  return int(error);
}
HCA_INSTEAD void* mremap(void* address, std::size_t bytes, std::size_t wanted, int flags,
                         ...) noexcept {
  std::va_list rest;
  va_start(rest, flags);
  void* const place = flags & MREMAP_FIXED ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  const long moved = kernel_call(SYS_mremap, address, bytes, wanted, flags, place);
  if (moved != -1) tell();
  return reinterpret_cast<void*>(moved);
}
HCA_INSTEAD int shmdt(const void* address) noexcept {
  const auto error = kernel_call(SYS_shmdt, address);
  if (!error) tell();
  return int(error);
}
