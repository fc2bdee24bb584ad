// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/blocks/memory/protection.h"
#include "testbench/programs/server/numbers.h"
#include "testbench/programs/server/packet_socket.h"
#include "tlm/host_memory/memory_target.h"

namespace hca::attach {
// Memory shared by server and program. The server creates it, so a program cannot shrink it. Pages
// exist once they are touched.
class SharedMemory {
 public:
  static constexpr u64 kBytes = u64{4} << 30;
  // Throws std::runtime_error.
  SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  ~SharedMemory();
  int descriptor() const { return file_.get(); }
  u8* data() const { return data_; }
  SharedControl& control() const { return *reinterpret_cast<SharedControl*>(data_); }
  static bool holds(u64 offset, u64 bytes) {
    return offset >= kRingsOffset && offset <= kBytes && bytes <= kBytes - offset;
  }

 private:
  Descriptor file_;
  u8* data_ = nullptr;
};

// The memory of the programs attached to an HCA, as seen by its DMA: addresses beyond the host's
// own memory, by attachment number (bus_address()). Unmapped addresses, and those of a program that
// has ended, return an error.
class AttachedMemory final : public tlm_::MemoryBeyond, public blocks::HostPages {
 public:
  std::function<u64()> picoseconds;  // the cycle of a write by the HCA
  // `memory`: its /proc/self/mem, opened by the program. Throws std::runtime_error: 65535 are
  // attached.
  u32 attach(const SharedMemory& shared, int memory);
  // Called for each write by the HCA, in its cycle, with the address; `completion`: it is a CQE.
  using Written = std::function<void(u64 address, u64 bytes, bool completion)>;
  void watch(u32 number, Written written) { programs_.at(number).written = std::move(written); }
  // Modifies CQEs that the HCA writes, before the program sees them.
  using Change = std::function<void(std::span<u8> cqes)>;
  void change(u32 number, Change change) { programs_.at(number).change = std::move(change); }
  void detach(u32 number) {
    programs_.erase(number);
    numbers_.give_back(number);
  }
  // Each CQE written into this ring gets its CqeTime at its place in the table at `stamps`. Both
  // are offsets in the shared memory.
  void stamp(u32 number, u64 ring, u64 bytes, u64 stamps) {
    programs_.at(number).stamped[ring] = {bytes, stamps};
  }
  void unstamp(u32 number, u64 ring) { programs_.at(number).stamped.erase(ring); }
  // True if the program has mapped these bytes: its first and last one can be read.
  bool is_mapped(u32 number, u64 address, u64 bytes) const;
  // The same for a bus address; the host's own memory is always mapped.
  bool hold(u64 address, u64 bytes) const override;

  bool read(u64 address, u8* to, u64 bytes) override;
  bool write(u64 address, const u8* from, u64 bytes) override;

 private:
  struct StampedRing {
    u64 bytes = 0, stamps = 0;
  };
  // A page found mapped in its memory. A check is a system call: after 16 consecutive hits a page
  // is checked only on every 16th access, until the program reports an unmapping.
  struct SeenPage {
    u64 page = 0;
    u32 when = 0;   // the program's counter of unmappings
    u32 looks = 0;  // consecutive hits; 0: empty entry
  };
  static constexpr std::size_t kSeenPages = 64;
  struct Program {
    const SharedMemory* shared;
    int memory;
    Written written;
    Change change;
    std::map<u64, StampedRing> stamped;  // by offset
    mutable std::array<SeenPage, kSeenPages> seen{};
  };
  void stamp_entries(const Program& program, u64 offset, u64 bytes) const;
  const Program* find(u64 address) const;
  static bool has_page(const Program& program, u64 address);
  static bool forget_pages(const Program& program);
  std::map<u32, Program> programs_;
  Numbers numbers_{1, 1 << (64 - kAttachmentShift)};
};
}  // namespace hca::attach
