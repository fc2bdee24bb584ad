// SPDX-License-Identifier: Apache-2.0
// The memory regions of a vector, and their required contents.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testbench/vectors/symbols.h"
#include "tlm/host_memory/host_memory.h"

namespace hca::testbench {
// Byte i of a pattern; neighbouring blocks of 256 bytes differ.
constexpr u8 pattern(u64 seed, u64 i) { return u8(seed + i + (i >> 8)); }

struct MemoryPlace {
  u64 va = 0, physical = 0, bytes = 0;
  std::vector<u8> expected;  // its first bytes, at most kCompared
  // Bytes that a packet found bad too late may have changed (cut_through).
  std::vector<std::pair<u64, u64>> may_differ;  // offset, bytes
};

class Contents {
 public:
  static constexpr u64 kCompared = 4 << 20;
  static constexpr u64 kMaxBytes = 1 << 20;  // of one value

  explicit Contents(tlm_::HostMemory& memory) : memory_(memory) {}
  MemoryPlace& add(const std::string& name, const MemoryPlace& place, u64 seed);
  const MemoryPlace& find(const JsonAt& name) const;

  // {"hex": ..}, {"bytes": n, "seed": s}, {"of": region, "at": offset, "bytes": n}: the currently
  // expected bytes. A string is hex.
  std::vector<u8> bytes_of(const JsonAt& json, const Symbols& symbols) const;
  // A step "memory": from now on these bytes are expected in a region.
  void expect(const JsonAt& json, const Symbols& symbols);
  // A step "write_memory": the host writes.
  void write(const JsonAt& json, const Symbols& symbols);
  void may_change(u64 va, u64 bytes);

  // The first wrong byte, as text.
  std::optional<std::string> difference() const;
  const std::map<std::string, MemoryPlace>& places() const { return places_; }

 private:
  std::pair<MemoryPlace*, u64> place_of(const JsonAt& json, u64 bytes, const Symbols& symbols);
  tlm_::HostMemory& memory_;
  std::map<std::string, MemoryPlace> places_;
};
}  // namespace hca::testbench
