// SPDX-License-Identifier: Apache-2.0
#include "testbench/programs/server/attached_memory.h"
#include "testbench/programs/server/kernel_call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace hca::attach {
SharedMemory::SharedMemory() : file_(memfd_create("hca rings", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  void* at = MAP_FAILED;
  if (file_ && !ftruncate(file_.get(), off_t(kBytes)) &&
      !fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
  if (at == MAP_FAILED)
    throw std::runtime_error(std::string("shared memory of a program: ") + std::strerror(errno));
  data_ = static_cast<u8*>(at);
}
SharedMemory::~SharedMemory() { munmap(data_, kBytes); }

namespace {
constexpr unsigned kLogPage = 12;
bool can_read(int memory, u64 address) {
  u8 byte;
  return pread(memory, &byte, 1, off_t(address)) == 1;
}
constexpr u64 kOffsetMask = (u64{1} << kAttachmentShift) - 1;

// Copies from front to back: a program that polls the last byte sees the others.
template <class Move>
bool move_all(Move move, u64 address, u64 bytes) {
  for (u64 done = 0; done < bytes;) {
    const ssize_t moved = move(done, address + done, bytes - done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return false;
    done += u64(moved);
  }
  return true;
}
}  // namespace

u32 AttachedMemory::attach(const SharedMemory& shared, int memory) {
  const std::optional<u32> number = numbers_.take();
  if (!number) throw std::runtime_error("65535 programs are attached to an HCA");
  programs_[*number] = {&shared, memory, {}, {}, {}, {}};
  return *number;
}

const AttachedMemory::Program* AttachedMemory::find(u64 address) const {
  const auto found = programs_.find(u32(address >> kAttachmentShift));
  return found == programs_.end() ? nullptr : &found->second;
}

bool AttachedMemory::is_mapped(u32 number, u64 address, u64 bytes) const {
  const Program* program = find(bus_address(number, 0));
  if (!program || address >= kSharedBit || bytes > kSharedBit - address) return false;
  return !bytes ||
         (can_read(program->memory, address) && can_read(program->memory, address + bytes - 1));
}

// One that was read too often for that to be by chance is trusted for a while.
bool AttachedMemory::has_page(const Program& program, u64 address) {
  constexpr u32 kFirstLooks = 16, kBetweenLooks = 16;
  const u64 page = address >> kLogPage;
  const u32 told = program.shared->control().unmapped.load(std::memory_order_acquire);
  SeenPage& seen = program.seen[page % kSeenPages];
  const bool is_it = told && seen.looks && seen.page == page && seen.when == told;
  if (is_it && ++seen.looks > kFirstLooks && seen.looks % kBetweenLooks) return true;
  const bool there = can_read(program.memory, address);
  if (!is_it || !there) seen = {page, told, there};
  return there;
}

// Something that was there is not any more.
bool AttachedMemory::forget_pages(const Program& program) {
  program.seen = {};
  return false;
}

bool AttachedMemory::hold(u64 address, u64 bytes) const {
  const u64 number = address >> kAttachmentShift, offset = address & kOffsetMask;
  if (!number || offset & kSharedBit) return true;
  const Program* program = find(address);
  const u64 last = offset + bytes - 1;
  return program && has_page(*program, offset) &&
         ((offset ^ last) >> kLogPage == 0 || has_page(*program, last));
}

bool AttachedMemory::read(u64 address, u8* to, u64 bytes) {
  const Program* program = find(address);
  const u64 offset = address & kOffsetMask;
  if (!program) return false;
  if (!(offset & kSharedBit)) {
    const auto move = [&](u64 done, u64 at, u64 left) {
      return pread(program->memory, to + done, left, off_t(at));
    };
    return move_all(move, offset, bytes) || forget_pages(*program);
  }
  if (!SharedMemory::holds(offset ^ kSharedBit, bytes)) return false;
  std::memcpy(to, program->shared->data() + (offset ^ kSharedBit), bytes);
  return true;
}

void AttachedMemory::stamp_entries(const Program& program, u64 offset, u64 bytes) const {
  const auto behind = program.stamped.upper_bound(offset);
  if (behind == program.stamped.begin()) return;
  const auto& [at, ring] = *std::prev(behind);
  constexpr u64 kPerSecond = 1'000'000'000;
  timespec day{};
  kernel_call(SYS_clock_gettime, CLOCK_REALTIME, &day);
  const CqeTime now{picoseconds() / 1000, u64(day.tv_sec) * kPerSecond + u64(day.tv_nsec)};
  for (u64 entry = offset - at; entry < std::min(ring.bytes, offset - at + bytes);
       entry += proto::kCqeBytes)
    std::memcpy(program.shared->data() + ring.stamps + entry / proto::kCqeBytes * sizeof now, &now,
                sizeof now);
}

bool AttachedMemory::write(u64 address, const u8* from, u64 bytes) {
  const Program* program = find(address);
  const u64 offset = address & kOffsetMask;
  if (!program) return false;
  if (program->written) program->written(offset, bytes, offset & kSharedBit);
  if (!(offset & kSharedBit)) {
    const auto move = [&](u64 done, u64 at, u64 left) {
      return pwrite(program->memory, from + done, left, off_t(at));
    };
    return move_all(move, offset, bytes) || forget_pages(*program);
  }
  if (!SharedMemory::holds(offset ^ kSharedBit, bytes)) return false;
  stamp_entries(*program, offset ^ kSharedBit, bytes);
  u8* const to = program->shared->data() + (offset ^ kSharedBit);
  std::vector<u8> changed;
  if (program->change && bytes % proto::kCqeBytes == 0) {
    changed.assign(from, from + bytes);
    program->change(changed);
    from = changed.data();
  }
  // The last byte marks an entry as new: it becomes visible after the others.
  if (bytes > 1) std::memcpy(to, from, bytes - 1);
  if (bytes) __atomic_store_n(to + bytes - 1, from[bytes - 1], __ATOMIC_RELEASE);
  return true;
}
}  // namespace hca::attach
