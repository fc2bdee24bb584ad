// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/contexts.h"
#include "model/blocks/stage_config.h"

namespace hca::blocks {
struct QpContextConfig {
  Cycle latency = 2, interval = 1;
};
struct QpContextCounters {
  u64 lookups = 0;
};

// The contexts of queue pairs, and the time that a look-up takes. Each client has a read port of
// its own, so that none can see another's order. The cache in front of host memory holds every
// context: each look-up hits.
//
// Contract: a look-up in cycle n answers in n + latency; one look-up a port each `interval` cycles.
class QpContext {
 public:
  enum class Port : u8 { Requester, Responder, Response, Count };
  explicit QpContext(const QpContextConfig& config)
      : ports_{make(config), make(config), make(config)} {}

  Cycle look_up(Port port, Cycle at, u32 qpn) {
    ++counters.lookups;
    const Cycle out = ports_[unsigned(port)].enter(at);
    probes[unsigned(port)].event(out, Step::Passed, qpn);
    return out;
  }
  Contexts contexts;
  QpContextCounters counters;
  std::array<engine::Probe, unsigned(Port::Count)> probes;

 private:
  static engine::Stage make(const QpContextConfig& c) { return {c.latency, c.interval}; }
  std::array<engine::Stage, unsigned(Port::Count)> ports_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::QpContextConfig> {
  static constexpr std::string_view block = "qp_context";
  static constexpr std::string_view sentence = "contexts of queue pairs";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::QpContextConfig>(
      "of a look-up", "between two look-ups of one port");
};
template <>
struct hca::engine::Counters<hca::blocks::QpContextCounters> {
  using C = hca::blocks::QpContextCounters;
  static constexpr std::string_view block = "qp_context";
  static constexpr auto rows =
      std::make_tuple(counter("lookups", &C::lookups, "look-ups", "contexts looked up"));
};
