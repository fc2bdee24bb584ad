// SPDX-License-Identifier: Apache-2.0
// Random steps of the PSNs of a few queue pairs and EE contexts: a requester's operations around the bounds of the
// window, of the outstanding PSNs, and of the PSN space.
#pragma once
#include <memory>
#include <optional>

#include "model/blocks/twins/requester_psn_unit.h"
#include "rtl/requester_psn/psn_step.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
// The twin's state, and the stimulus's copy of it when it makes the next step.
struct PsnQp {
  u32 qpn = 0;  // or the number of an EE context
  u16 path_mtu = 256;
  proto::SendPsns twin{}, ahead{};
  u64 steps = 0;
  u64 last = 0;  // number of the last step, from 1 on, and its kind
  blocks::PsnStep last_step{};
};

struct RequesterPsnPacket : StreamPacket {
  std::shared_ptr<PsnQp> of{};
  blocks::PsnRequest request{};
  blocks::PsnAnswer answer{};
  proto::SendPsns before{};
  // Steps back to the previous one of its queue pair, and its kind. 0: there is none.
  u32 distance = 0;
  blocks::PsnStep step_before{};
  // The answer of the look-up; the state only with the first step of a queue pair.
  engine::Cycle context_late = 0;
  rtl::PsnConfig config{};
  std::optional<proto::SendPsns> fresh{};

  u32 number_of_context() const { return device::context_number(of->qpn); }
};

class RequesterPsnStimulus {
 public:
  explicit RequesterPsnStimulus(u64 seed) : random_(seed) {}
  RequesterPsnPacket next();

  static constexpr u32 kQps = 6;

 private:
  using Packet = RequesterPsnPacket;
  u32 new_number();
  std::shared_ptr<PsnQp> new_qp();
  u32 around(u32 most);
  void choose_step(Packet& p);
  void make_message(Packet& p);
  void make_packet(Packet& p);
  void make_answer(Packet& p);

  engine::Random random_;
  Regime regime_;
  u64 made_ = 0;
  std::array<std::shared_ptr<PsnQp>, kQps> qps_{};
  NewNumbers numbers_;
  u32 last_ = 0;
  u32 late_percent_ = 0;
};
}  // namespace hca::testbench
