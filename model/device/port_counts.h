// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/device/contexts.h"

namespace hca::device {
// Counts drops, refusals and repetitions of the ports. `counter`: nullptr counts nothing.
class PortCounts {
 public:
  explicit PortCounts(Contexts& contexts)
      : ports_(&contexts.ports), drops_(&contexts.drops), transport_(&contexts.transport) {}

  // `port`: from 1 on.
  void drop(u32 port, u64 proto::DropCounters::*counter) const {
    if (!counter) return;
    ++((*drops_)[port - 1].*counter);
    proto::PortAttributes& attributes = (*ports_)[port - 1];
    if (counter == &proto::DropCounters::bad_pkey) count_violation(attributes.bad_pkeys);
    if (counter == &proto::DropCounters::bad_qkey) count_violation(attributes.bad_qkeys);
  }
  // Only for a queue pair with a reliable service.
  void add(const proto::QpConfig& qp, u64 proto::TransportCounters::*counter) const {
    if (counter && qp.reliable) ++((*transport_)[qp.port - 1u].*counter);
  }
  void add(const proto::QpConfig& qp, proto::RequestCause cause) const {
    add(qp, proto::counter_of(cause));
  }
  void timeout(const proto::QpConfig& qp) const { add(qp, &proto::TransportCounters::timeouts); }
  void implied_nak(const proto::QpConfig& qp) const {
    add(qp, &proto::TransportCounters::implied_naks);
  }

 private:
  // G18.2, G19.2.
  static void count_violation(u16& violations) {
    if (violations != 0xffff) ++violations;
  }
  std::vector<proto::PortAttributes>* ports_;
  std::vector<proto::DropCounters>* drops_;
  std::vector<proto::TransportCounters>* transport_;
};
}  // namespace hca::device
