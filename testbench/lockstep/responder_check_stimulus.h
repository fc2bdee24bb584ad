// SPDX-License-Identifier: Apache-2.0
// Random requests for the checker, to a few queue pairs and EE contexts in turn: mostly the requests that the state
// of the queue pair expects, else with an error that one of the rules finds.
#pragma once
#include <map>
#include <memory>
#include <optional>

#include "model/blocks/twins/responder_check_unit.h"
#include "rtl/responder_check/judged.h"
#include "rtl/rx_parser/parsed.h"
#include "testbench/lockstep/given_frames.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
// The twin's state, and the stimulus's copy of it when it makes the next packet.
struct CheckedSrq {
  u32 srqn = 0;
  proto::SharedQueue twin{}, ahead{};
  u64 last_taken = 0;  // number of the last packet that took a WQE, from 1 on, and its queue pair
  u32 last_taker = 0;
  bool fresh = true;  // nothing was judged by it
};
// A queue pair of RD: only its attributes and its receive queue.
struct CheckedRdQueue {
  proto::QpConfig config{};
  proto::ReceiveState twin{}, ahead{};
  u64 last_taken = 0;  // number of the last packet that took a WQE, from 1 on, and its EE context
  u32 last_taker = 0;
  bool fresh = true;
};
// All of them by QPN, as the twin or the stimulus sees them.
class CheckedRdQueues : public blocks::RdQueues {
 public:
  CheckedRdQueues(proto::ReceiveState CheckedRdQueue::*side) : side_(side) {}
  proto::ReceiveState& of(u32 qpn) override { return *all.at(qpn).*side_; }
  std::map<u32, std::shared_ptr<CheckedRdQueue>> all{};

 private:
  proto::ReceiveState CheckedRdQueue::*side_;
};
struct CheckedQp {
  proto::QpConfig config{};
  proto::AddressVector address{};
  proto::ReceiveState twin{}, ahead{};
  std::shared_ptr<CheckedSrq> srq{};  // of XRC each request has its own
  u64 packets = 0;                    // requests that were made for it
  u64 last = 0;                       // number of the last one, from 1 on, and its result
  proto::RequestAction last_action{};
};

// A distance larger than any inside the block: no write-back is in flight any more.
inline constexpr u64 kRequestsFarApart = 40;
// This many requests in a row have the same P_Key table.
inline constexpr u64 kRequestsWithPkeys = 500;

struct ResponderCheckPacket : StreamPacket {
  std::vector<u8> frame;
  proto::LinkLayer link{};
  proto::ParsedPacket parsed{};
  rtl::Parsed headers{};  // beside its beats
  bool judged = false;    // a request, or of a reserved opcode
  std::shared_ptr<const proto::PortAttributes> port{};
  std::shared_ptr<CheckedQp> of{};
  std::shared_ptr<CheckedSrq> srq{};
  u32 named_srq = 0;    // XRC
  bool has_rd = false;  // the device; all packets with the same P_Key table agree
  // RD: DestQP; that queue pair if it exists, and if it is of RD also its receive queue.
  u32 dest_qp = 0;
  std::shared_ptr<proto::QpConfig> named{};
  std::shared_ptr<CheckedRdQueue> rd{};
  std::shared_ptr<CheckedRdQueues> queues{};
  proto::QpConfig qp{};
  proto::Region region{};
  bool has_region = false;
  u32 rq_posted = 0, reads_finished = 0;
  bool rq_failed = false;
  engine::Cycle context_late = 0, region_late = 0;
  blocks::CheckedRequest checked{};
  proto::ReceiveState before{};  // as it is judged
  // Packets back to the previous request of its queue pair, and its result; to the previous one of
  // another queue pair that took a WQE of its SRQ. 0: there is none.
  // The same of another EE context and a queue pair of RD.
  u32 distance = 0, shared_distance = 0, rd_distance = 0;
  proto::RequestAction action_before{};
  // The answers of the look-ups; the state only with the first packet of a queue pair or SRQ.
  rtl::CheckedConfig config{};
  std::optional<rtl::CheckedState> fresh{};
  struct FreshSrq {
    u32 consumed, limit;
  };
  std::optional<FreshSrq> fresh_srq{}, fresh_rd{};
  rtl::CheckedRegion answered_region{};

  bool of_ee() const { return qp.side == proto::QpSide::EeContext; }
  blocks::ResponderCheckItem item();
};

// An operation that a responder can execute.
inline constexpr proto::Rights kEveryRight = 0xffff;
inline bool is_executed(const proto::OpcodeRow& row) {
  return row.traits().capability != proto::Capability::Missing;
}

// In responder_check_extended.cpp.
const std::vector<const proto::OpcodeRow*>& packet_rows();

class ResponderCheckStimulus {
 public:
  ResponderCheckStimulus(u64 seed, GivenFrames given, Rotation& turns);
  ResponderCheckPacket next();

  static constexpr u32 kQps = 6, kSrqs = 3, kXrcSrqs = 6, kRdQueues = 4;

 private:
  using Packet = ResponderCheckPacket;
  enum class Turned : u8 { Region, Path, Pkey, Qkey, Posted, Queue };
  static constexpr std::array<std::string_view, 6> kTurned{"region", "path",   "P_Key",
                                                           "Q_Key",  "posted", "queue"};
  // In responder_check_contexts.cpp.
  void draw_pkeys();
  u32 near(u32 value, u32 range);
  u32 new_number();
  u32 new_srqn();
  std::shared_ptr<CheckedSrq> new_srq(u32 srqn, u32 domain);
  void choose_own_queue(CheckedQp& qp);
  void choose_xrc_side(proto::QpConfig& config);
  std::shared_ptr<CheckedQp> new_qp();
  void choose_qp(Packet& p);
  u32 choose_posted();
  std::shared_ptr<CheckedSrq> find_srq(u32 srqn);
  std::shared_ptr<CheckedSrq> srq_of_domain(u32 domain, bool is_new);
  void choose_xrc_queue(Packet& p, const proto::OpcodeRow& row);
  // In responder_check_rd.cpp.
  u32 new_ee_number();
  void make_ee_context(CheckedQp& qp);
  std::shared_ptr<CheckedRdQueue> new_rd_queue(u32 qpn, u32 domain);
  std::shared_ptr<CheckedRdQueue> rd_queue_of(const CheckedQp& ee);
  void choose_rd_queue(Packet& p, const proto::OpcodeRow& row);
  void take_given_rd(Packet& p, CheckedQp& ee);
  // In responder_check_stimulus.cpp.
  const proto::OpcodeRow& choose_opcode(const CheckedQp& qp);
  u32 choose_psn(const proto::ReceiveState& state, const proto::OpcodeRow& row);
  u32 choose_payload(const CheckedQp& qp, const proto::OpcodeRow& row);
  void choose_headers(Packet& p, const proto::OpcodeRow& row, u32 payload, proto::ExtHeaders& ext);
  // In responder_check_extended.cpp.
  void choose_extended(const Packet& p, const proto::OpcodeRow& row, proto::ExtHeaders& ext);
  Turned choose_turned(const proto::OpcodeRow& row);
  void turn_region(Packet& p);
  proto::AddressVector turn_path(proto::AddressVector av);
  void choose_region(Packet& p, const proto::OpcodeRow& row, const proto::ExtHeaders& ext);
  proto::AddressVector choose_path(const Packet& p);
  void build(Packet& p);
  void make_request(Packet& p);
  void take_given(Packet& p);
  void answer(Packet& p);
  void judge_ahead(Packet& p);

  engine::Random random_;
  GivenFrames given_;
  std::map<u32, std::shared_ptr<CheckedQp>> given_qps_;    // by the number of their contexts
  std::map<u32, std::shared_ptr<CheckedSrq>> given_srqs_;  // by the number in their XRCETH
  Regime regime_;
  u64 made_ = 0;
  std::shared_ptr<const proto::PortAttributes> port_;
  std::vector<std::shared_ptr<CheckedQp>> qps_;
  std::vector<std::shared_ptr<CheckedSrq>> srqs_, xrc_srqs_;
  bool has_rd_ = true;
  std::array<std::shared_ptr<CheckedRdQueue>, kRdQueues> rd_queues_{};
  std::shared_ptr<CheckedRdQueues> twins_ =
      std::make_shared<CheckedRdQueues>(&CheckedRdQueue::twin);
  CheckedRdQueues ahead_{&CheckedRdQueue::ahead};
  std::array<u64, 2> special_used_{};  // number of the last packet of QP 0 and QP 1, from 1 on
  NewNumbers numbers_;
  u32 last_ = 0;
  // A plain request has no error except one inverted bit of one number that a rule compares, each
  // bit in its turn. Other requests may have any errors, the oddest ones several at once.
  bool odd(u64 times, u64 of) {
    return !plain_ && (random_.chance(times, of) || (oddest_ && random_.chance(1, 3)));
  }
  bool turns(Turned what) const { return plain_ && turned_ == what; }
  u32 next_bit(u32 of) { return turns_.next(kTurned[std::size_t(turned_)], of, random_); }
  bool plain_ = false, oddest_ = false;
  Turned turned_{};
  Rotation& turns_;
  u32 late_percent_ = 0;
};
}  // namespace hca::testbench
