// SPDX-License-Identifier: Apache-2.0
// One device of a replay runner, its host, and a hand-written peer: frames are built and judged one
// by one.
#pragma once
#include <memory>
#include <vector>

#include "testbench/tests/system/malice/peer.h"

namespace hca::testbench::malice {
class Bench {
 public:
  // Queue pairs of RC: `own` and `sibling` of one PD, `stranger` of another.
  explicit Bench(const ReplayRunner& runner);

  enum class Who : u8 { Own, Sibling, Stranger };
  static constexpr std::size_t kWho = 3;
  static constexpr u32 kFirstPsn = 0xfffffe;

  const Pd* pd_of(Who who) const { return who == Who::Stranger ? stranger_pd_ : own_pd_; }
  Qp& qp(Who who) { return *ends_[std::size_t(who)].qp; }
  // Through Reset to RTS: no work request is left, PSNs begin anew.
  void restore(Who who);
  // The PSN that the queue pair expects next, and the PSN of its next request.
  u32 expected(Who who) const { return ends_[std::size_t(who)].expected; }
  u32 next(Who who) const { return ends_[std::size_t(who)].next; }
  void took_request(Who who);  // it executed a request of a single packet
  void sent_request(Who who);  // it sent such a request, which is acknowledged

  // A frame from the peer of `own`; the payload bytes count up from 1.
  Frame frame(u8 opcode, u32 psn, const proto::ExtHeaders& ext = {}, u32 payload = 0) const;
  // Passes the frame to the device and lets it work.
  void give(const Frame& frame);
  std::vector<Frame> sent() { return device_->take_frames(); }
  std::vector<Wc> completions();

  // True if the device accepts the command.
  template <class Body>
  bool command(proto::CommandOpcode opcode, u32 object, const Body& body) {
    const VerbsContext::Command command = verbs.begin(opcode, object, body);
    device_->run();
    return verbs.done(command) && verbs.status(command) == proto::CommandStatus::Ok;
  }
  void ring(proto::BarOffset bell, std::span<const u8> bytes) {
    device_->mmio_write(u32(bell), bytes);
    device_->run();
  }
  tlm_::HostMemory& memory() { return device_->memory(); }
  void run() { device_->run(); }

 private:
  struct End {
    Qp* qp = nullptr;
    u32 expected = kFirstPsn, next = kFirstPsn;
  };
  void make(Who who);

  std::unique_ptr<ReplayDevice> device_;

 public:
  VerbsContext verbs;

 private:
  const Pd *own_pd_ = nullptr, *stranger_pd_ = nullptr;
  Cq* cq_ = nullptr;
  std::array<End, kWho> ends_;
};
}  // namespace hca::testbench::malice
