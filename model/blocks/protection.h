// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "model/blocks/contexts.h"
#include "model/blocks/per_port.h"
#include "model/blocks/read_port.h"
#include "model/blocks/stage_config.h"

namespace hca::blocks {
inline constexpr engine::KnobRule kPowerOfTwo{[](u64 n) { return std::has_single_bit(n); },
                                              "is no power of two", "a power of two"};

struct ProtectionConfig {
  Cycle latency = 2, interval = 1;
  u32 page = 2 << 20;
};
struct ProtectionCounters {
  u64 lookups = 0, refused = 0;
};

// Keys, rights, bounds and translation of memory accesses, and the time that they take. Each client
// has a port of its own. The table of regions is on chip: each look-up hits.
//
// Contract: an access asked for in cycle n is judged and translated in n + latency; one access a
// port each `interval` cycles.
class Protection {
 public:
  Protection(const ProtectionConfig& config, const Contexts& contexts)
      : requester(config),
        execute(config),
        responder{ReadPort(config), ReadPort(config)},
        contexts_(contexts) {}

  Cycle look_up(ReadPort& port, Cycle at, u32 key) {
    ++counters.lookups;
    return port.look_up(at, key);
  }
  ReadPort requester, execute;
  PerPort<ReadPort> responder;
  const proto::Region* find(u32 key) const { return contexts_.find_region(key); }
  // Whether the local access of an SGE is allowed (G22.4).
  bool local(const proto::Sge& sge, const proto::Accessor& who, const proto::QpConfig& qp,
             u8 rights) {
    const auto fault =
        proto::check_access(find(sge.lkey), sge.lkey, who, sge.va, sge.bytes, rights);
    if (fault == proto::AccessFault::None) return true;
    if (proto::uses_reserved_lkey(qp, sge.lkey)) return true;
    ++counters.refused;
    return false;
  }
  ProtectionCounters counters;

 private:
  const Contexts& contexts_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ProtectionConfig> {
  static constexpr std::string_view block = "protection";
  static constexpr std::string_view sentence = "keys, rights, bounds and translation";
  using C = hca::blocks::ProtectionConfig;
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("of a look-up", "between two look-ups of one port"),
      make_rows(knob("page", &C::page, Unit::Bytes, 4096, 1 << 30, hca::blocks::kPowerOfTwo,
                     "of a region without a page list, as the MTT has it")));
};
template <>
struct hca::engine::Counters<hca::blocks::ProtectionCounters> {
  using C = hca::blocks::ProtectionCounters;
  static constexpr std::string_view block = "protection";
  static constexpr auto rows =
      make_rows(counter("lookups", &C::lookups, "look-ups", "keys looked up"),
                counter("refused", &C::refused, "accesses", "local accesses refused"));
};
