// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/per_port.h"
#include "model/blocks/memory/qp_context_config.h"
#include "model/blocks/memory/read_port.h"
#include "model/device/contexts.h"

namespace hca::blocks {
struct QpContextCounters {
  u64 lookups = 0;
};

// The contexts of queue pairs, and the time of a look-up. Each client has its own read port, so no
// client can see the order of another's look-ups. Here every context is on chip: each look-up hits.
//
// Contract: a look-up in cycle n is answered in n + latency; one look-up a port each `interval`
// cycles.
class QpContext {
 public:
  QpContext(const QpContextConfig& config, const device::Contexts& of_device)
      : contexts(of_device),
        requester(config),
        responder{ReadPort(config), ReadPort(config)},
        response(responder) {}

  Cycle look_up(ReadPort& port, Cycle at, u32 qpn) {
    ++counters.lookups;
    return port.look_up(at, qpn);
  }
  const device::Contexts& contexts;
  QpContextCounters counters;
  ReadPort requester;
  PerPort<ReadPort> responder, response;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::QpContextCounters> {
  using C = hca::blocks::QpContextCounters;
  static constexpr std::string_view block = "qp_context";
  static constexpr auto rows =
      make_rows(counter("lookups", &C::lookups, "look-ups", "contexts looked up"));
};
