// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>

#include "testbench/cm/agent.h"
#include "testbench/testbed/testbed.h"

namespace hca::cm {
// The general services interface of an HCA's first port: QP 1 of the model, which sends and
// receives management datagrams like any queue pair.
class GeneralServices {
 public:
  using Received = std::function<void(const Mad&, const Place&)>;
  // `mac_of`: the MAC address of a GID. Throws std::runtime_error if the HCA refuses a command.
  GeneralServices(testbench::Node& node, const proto::PortAttributes& port,
                  const testbench::CompChannel& events,
                  std::function<u64(const proto::Gid&)> mac_of, Received received);
  u32 cqn() const { return cq_.cqn; }
  void send(const Mad& mad, const Place& to);
  // Handles received and sent datagrams, and waits for the next event.
  void poll();

 private:
  void modify(const proto::QpAttributes& change);
  void post_receive(u64 slot);
  void post(const Mad& mad, const Place& to);
  void received(u64 slot, const testbench::Wc& wc);

  testbench::Node& node_;
  const proto::Framing framing_;
  const std::function<u64(const proto::Gid&)> mac_of_;
  const Received received_;
  testbench::Cq& cq_;
  testbench::Qp& qp_;
  u64 buffers_, outgoing_;
  std::deque<std::pair<Mad, Place>> waiting_;  // for room in the send queue
};
}  // namespace hca::cm
