// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/memory/qp_context.h"
#include "model/blocks/receive/response_check_config.h"
#include "model/device/port_counts.h"

namespace hca::blocks {
struct ResponseCheckCounters {
  u64 good = 0, wrong_service = 0, bad_qp_state = 0, wrong_path = 0, wrong_vl = 0, bad_pkey = 0;
};

// Validates the headers of responses; the requester interprets them. It is activated as part of the
// receive segment of its port; each port has one.
//
// Contract: a response known good in cycle n reaches the requester in n + look-up + latency; one
// each `interval` cycles.
class ResponseCheck {
 public:
  ResponseCheck(const ResponseCheckConfig& config, QpContext& context, device::Contexts& contexts,
                unsigned port = 0)
      : port_(context.response[port]),
        context_(context),
        counts_(contexts),
        stage_(config.latency, config.interval) {}

  ResponseCheckCounters counters;
  engine::Probe probe;

  // Fills `out` and returns the cycle in which the response leaves; kNever: it is dropped. A
  // response with data keeps its packet.
  Cycle check(Packet& packet, Cycle at, Acknowledgement& out);

 private:
  bool good(const Packet& packet, const proto::QpConfig& qp);

  ReadPort& port_;
  QpContext& context_;
  const device::PortCounts counts_;
  engine::Stage stage_;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::ResponseCheckCounters> {
  using C = hca::blocks::ResponseCheckCounters;
  static constexpr std::string_view block = "response_check";
  static constexpr auto rows = make_rows(
      counter("good", &C::good, "packets", "responses passed to the requester"),
      counter("wrong_service", &C::wrong_service, "packets", "dropped: another transport service"),
      counter("bad_qp_state", &C::bad_qp_state, "packets", "dropped: state of the queue pair"),
      counter("wrong_path", &C::wrong_path, "packets", "dropped: not the peer's addresses"),
      counter("wrong_vl", &C::wrong_vl, "packets", "dropped: virtual lane"),
      counter("bad_pkey", &C::bad_pkey, "packets", "dropped: P_Key"));
};
