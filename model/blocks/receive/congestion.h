// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/numbered_values.h"
#include "model/blocks/packet.h"
#include "model/blocks/receive/congestion_config.h"
#include "model/engine/rate.h"
#include "model/proto/transport/congestion_rules.h"

namespace hca::blocks {
struct CongestionCounters {
  u64 marked = 0, cnps = 0, cns = 0;
};

// The notification point of RoCEv2 (G26.2): a packet that arrives with Congestion Experienced draws
// a CNP to its sender, at most one in `cnp_interval` for each queue pair. A FECN that no answer
// follows draws a CN (G26.1). It is activated as part of the port's receive segment.
//
// Contract: the CNP or CN for a packet of cycle n leaves for responder_reply in n + latency; one
// each `interval` cycles.
class Congestion {
 public:
  Congestion(const CongestionConfig& config, u64 clock_hz)
      : stage_(config.latency, config.interval),
        cnp_cycles_(engine::cycles_from_picoseconds(config.cnp_interval, clock_hz)) {}

  CongestionCounters counters;
  engine::Probe probe;

  // The cycle in which a CNP for this packet leaves; kNever: no CNP is due.
  Cycle notify(const Packet& packet, Cycle at) {
    if (!proto::draws_cnp(packet.frame(), packet.parsed)) return kNever;
    ++counters.marked;
    if (at < next_[packet.qpn]) return kNever;
    next_[packet.qpn] = at + cnp_cycles_;
    ++counters.cnps;
    const Cycle out = stage_.enter(at);
    probe.event(out, Step::Passed, packet.qpn, packet.psn);
    return out;
  }

  // The cycle in which the CN for this packet leaves.
  Cycle notify_fecn(const Packet& packet, Cycle at) {
    ++counters.cns;
    const Cycle out = stage_.enter(at);
    probe.event(out, Step::Passed, packet.qpn, packet.psn);
    return out;
  }

 private:
  engine::Stage stage_;
  Cycle cnp_cycles_;
  NumberedValues<Cycle> next_;  // by QP: earliest cycle of the next CNP
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::CongestionCounters> {
  using C = hca::blocks::CongestionCounters;
  static constexpr std::string_view block = "congestion";
  static constexpr auto rows =
      make_rows(counter("marked", &C::marked, "packets", "packets with Congestion Experienced"),
                counter("cnps", &C::cnps, "packets", "CNPs requested"),
                counter("cns", &C::cns, "packets", "CNs requested: FECNs that no answer follows"));
};
