// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/programs/server/event_sink.h"
#include "testbench/programs/server/general_services.h"

namespace hca::attach {
// The kernel's part of connection management for an HCA: owns QP 1, handles received datagrams by
// interrupt, and keeps time. `period`: ps, of the HCA's clock.
class CmPort final : public EventSink {
 public:
  // State shared by all HCAs.
  struct Host {
    std::function<cm::Listener(const cm::Mad&)> find_listener;
    std::function<u64()> patience;  // ps: how long a request waits for a listener
    std::function<std::optional<u64>(const proto::Gid&)> mac_of;
  };
  CmPort(testbench::Testbed& testbed, unsigned index, const proto::PortAttributes& port,
         const testbench::CompChannel& events, const cm::Settings& settings, u64 period);

  u32 cqn() const { return services_.cqn(); }
  cm::Agent& agent() { return agent_; }
  const cm::Place& place() const { return place_; }
  const proto::PortAttributes& port() const { return port_; }
  void set_host(Host host) { host_ = std::move(host); }

  // Called by the core that runs it: handles what is due now.
  void act(engine::Cycle now);
  engine::Cycle wakes_at() const;

  void completion_event(u32 cqn) override;
  void async_event(proto::EventType, Kind, u32) override {}

 private:
  testbench::Node& node_;
  const proto::PortAttributes port_;
  const u64 period_;
  cm::Place place_;
  Host host_;
  cm::Agent agent_;
  cm::GeneralServices services_;
  engine::Cycle polls_at_ = engine::kNever;
};
}  // namespace hca::attach
