// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "model/blocks/lib/per_port.h"
#include "model/blocks/memory/protection_config.h"
#include "model/blocks/memory/read_port.h"
#include "model/device/contexts.h"

namespace hca::blocks {
// The host's page mappings at the addresses of regions. The HCA always sees the current mapping, as
// if it were notified of each change of the host's page tables; this takes no time.
class HostPages {
 public:
  virtual ~HostPages() = default;
  virtual bool hold(u64 address, u64 bytes) const = 0;
};

struct ProtectionCounters {
  u64 lookups = 0, refused = 0;
};

// Checks keys, rights and bounds of memory accesses, translates them, and models the time. Each
// client has its own port. The table of regions is on chip, so each look-up hits.
//
// Contract: an access requested in cycle n is judged and translated in n + latency; one access a
// port each `interval` cycles.
class Protection {
  const device::Contexts& contexts_;  // in one cache line with the counters and the first port

 public:
  Protection(const ProtectionConfig& config, const device::Contexts& contexts)
      : contexts_(contexts),
        requester(config),
        execute(config),
        responder{ReadPort(config), ReadPort(config)} {}

  Cycle look_up(ReadPort& port, Cycle at, u32 key) {
    ++counters.lookups;
    return port.look_up(at, key);
  }
  ProtectionCounters counters;
  ReadPort requester, execute;
  PerPort<ReadPort> responder;
  const proto::Region* find(u32 key) const { return contexts_.find_region(key); }
  // The same for a remote access of these bytes. A region whose pages the host has unmapped there
  // does not count.
  const proto::Region* find(u32 key, u64 va, u64 bytes) const {
    const proto::Region* region = find(key);
    return host_pages && region && !is_there(*region, va, bytes) ? nullptr : region;
  }
  // True: the local access of an SGE is allowed (G22.4).
  bool local(const proto::Sge& sge, const proto::Accessor& who, const proto::QpConfig& qp,
             proto::Rights rights) {
    const auto fault =
        proto::check_access(find(sge.lkey), sge.lkey, who, sge.va, sge.bytes, rights);
    if (fault == proto::AccessFault::None &&
        (!host_pages || is_there(*find(sge.lkey), sge.va, sge.bytes)))
      return true;
    if (proto::uses_reserved_lkey(qp, sge.lkey)) return true;
    ++counters.refused;
    return false;
  }
  // Appends to `runs` the current locations of the next `bytes` of a list of SGEs, and advances in
  // the list.
  void add_runs(const u8* sges, u32& index, u32& offset, u32 bytes,
                std::vector<proto::Run>& runs) const {
    while (bytes) {
      const auto sge = proto::decode<proto::Sge>(sges + index * proto::kSgeBytes);
      if (sge.bytes == offset) {
        ++index;
        offset = 0;
        continue;
      }
      runs.push_back(proto::run_of(find(sge.lkey), sge.lkey, sge.va + offset,
                                   std::min(bytes, sge.bytes - offset)));
      offset += runs.back().bytes;
      bytes -= runs.back().bytes;
    }
  }
  const HostPages* host_pages = nullptr;  // nullptr: the host maps all registered memory

 private:
  // Bytes beyond the region are judged elsewhere.
  bool is_there(const proto::Region& region, u64 va, u64 bytes) const {
    const u64 offset = va - region.start;
    if (region.pages || !bytes || offset > region.bytes || bytes > region.bytes - offset)
      return true;
    return host_pages->hold(region.translate(va), bytes);
  }
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::ProtectionCounters> {
  using C = hca::blocks::ProtectionCounters;
  static constexpr std::string_view block = "protection";
  static constexpr auto rows =
      make_rows(counter("lookups", &C::lookups, "look-ups", "keys looked up"),
                counter("refused", &C::refused, "accesses", "local accesses refused"));
};
