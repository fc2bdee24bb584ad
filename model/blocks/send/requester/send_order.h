// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/engines.h"
#include "model/blocks/lib/per_port.h"
#include "model/blocks/send/ready_queues.h"
#include "model/blocks/send/requester/rate_limits.h"

namespace hca::blocks {
// The queue pairs that can send, each listed once: by engine, by port, and by virtual lane if the
// packetizer has buffers for each lane.
class SendOrder : RequesterPart {
 public:
  struct Places {
    const RequesterConfig& config;
    unsigned lanes = 1;  // lanes with packet buffers of their own
    SchedulerPolicy policy = SchedulerPolicy::RoundRobin;
    ReadyQueues::Weights weights{};
    std::array<u32, 16> lane_of_sl{};
  };
  // `of_ports`: the links of the ports, one each.
  SendOrder(const RequesterPart& shared, RateLimits& rates, const PortLinks<AckLink>& of_ports,
            const Places& places)
      : RequesterPart(shared),
        rates_(rates),
        of_ports_(of_ports),
        lanes_(places.lanes),
        has_places_(has_lanes() ||
                    Engines::limits(places.config.engines, places.config.engine_interval)),
        engines_(places.config.engines, places.config.engine_interval, places.config.assignment),
        lane_of_sl_(places.lane_of_sl) {
    const u32 count = kMaxPorts * places.config.engines * lanes_;
    active_.reserve(count);
    for (u32 i = 0; i < count; ++i) active_.emplace_back(places.policy, places.weights);
  }

  // Lists the queue pair for its turn, if it can send.
  [[gnu::always_inline]] void list(u32 qpn, SendQueue& q);
  void activate(u32 qpn, SendQueue& q);
  // Lists the queue pairs whose rate limit lets them go on.
  void resume_paced();

  // True: there are several places, not only at(0).
  bool several() const { return of_ports_.count() > 1 || has_places_; }
  unsigned count() const { return of_ports_.count() * lanes_ * engines_.count(); }
  ReadyQueues& at(unsigned place) { return active_[place]; }
  ReadyQueues& of(u32 qpn) {
    if (!several()) [[likely]]
      return active_[0];
    const proto::QpConfig& qp = contexts_.qps[qpn];
    const unsigned of_port = engines_.of(qpn) * of_ports_.count() + port_of(qp);
    return active_[of_port * lanes_ + lane_of(qp)];
  }
  unsigned engine_of(unsigned place) const { return place / (of_ports_.count() * lanes_); }
  unsigned port_at(unsigned place) const { return place % (of_ports_.count() * lanes_) / lanes_; }
  unsigned lane_at(unsigned place) const { return place % lanes_; }
  bool has_lanes() const { return lanes_ > 1; }
  // The lane whose packet buffers the queue pair uses, by its SL.
  u8 lane_of(const proto::QpConfig& qp) const {
    return has_lanes() ? u8(lane_of_sl_[qp.service_level]) : u8(0);
  }

  // The engines. has_places_ is checked first: it lies beside the members that each packet needs.
  const Engines& engines() const { return engines_; }
  void take_engine(u32 qpn) {
    if (has_places_ && engines_.limit()) [[unlikely]]
      engines_.take(engines_.of(qpn), now());
  }

 private:
  void list_by_class(u32 qpn, SendQueue& q);

  RateLimits& rates_;
  const PortLinks<AckLink>& of_ports_;
  std::vector<ReadyQueues> active_;  // by engine, then port, then lane
  const unsigned lanes_;
  const bool has_places_;  // active_ has several places on one port
  Engines engines_;
  const std::array<u32, 16> lane_of_sl_;
};

inline void SendOrder::list(u32 qpn, SendQueue& q) {
  if (q.active || !q.head || q.failing || q.in_error) return;
  ReadyQueues& active = of(qpn);
  if (q.pace || !active.rotates()) [[unlikely]]
    return list_by_class(qpn, q);
  q.active = true;
  active.rotation().push(qpn);
}
}  // namespace hca::blocks
