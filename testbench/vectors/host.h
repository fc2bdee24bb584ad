// SPDX-License-Identifier: Apache-2.0
// The host software of a vector: creates its objects and performs its steps.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "testbench/host/aeq_driver.h"
#include "testbench/host/replay_device.h"
#include "testbench/sma/subnet_agent.h"
#include "testbench/vectors/completion.h"
#include "testbench/vectors/contents.h"
#include "testbench/vectors/packet.h"
#include "testbench/vectors/setup_plan.h"

namespace hca::testbench {
struct VectorQp {
  std::string name;
  Qp* qp = nullptr;
  PeerView peer;
  proto::AddressHandle to_peer{};  // UD
  proto::RdAddress rd_to_peer{};   // RD
};
// The device has stopped without completing the request.
struct DeviceStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// From a set-up:
DeviceOptions options_of(const JsonAt& setup);  // device_options.cpp

class VectorHost {
 public:
  VectorHost(const JsonAt& setup, ReplayDevice& device);

  // Steps, in the form that check_step (format.h) accepts. A work request must be refused exactly
  // if it has an "error", and a command must have its "status". Returns a violation as text; empty:
  // all is as required.
  std::optional<std::string> post_send(const JsonAt& json);
  std::optional<std::string> post_recv(const JsonAt& json);
  void post_raw(const JsonAt& json);
  std::optional<std::string> resize_srq(const JsonAt& json);
  std::optional<std::string> resize_cq(const JsonAt& json);
  std::optional<std::string> command(const JsonAt& json, std::vector<FieldDifference>& differences);
  // Device reads there return an error: of a whole queue, or of bytes of a region.
  void make_unreadable(const JsonAt& json);
  // Device writes there return an error: to a CQ, or to an event queue or its message.
  void make_unwritable(const JsonAt& json);
  void ring(const JsonAt& json);
  void arm(const JsonAt& json);
  // The number of the object that a step "event" names.
  u64 object_of_event(const JsonAt& json) const;
  // {"counter": number ..}: all drop counters of port 1; unnamed ones must be 0.
  std::vector<FieldDifference> compare_drops(const JsonAt& json);

  // The driver takes the events, and then the step's own entries (host_driver.cpp).
  std::vector<FieldDifference> drive(const JsonAt& json, std::span<const AsyncEvent> events);

  // A subnet management agent serves a queue pair from now on (host_agent.cpp).
  void start_agent(const JsonAt& json);
  // The agent takes what has arrived; true: it did something to the device.
  bool serve();
  void pass(u64 nanoseconds) { now_ += nanoseconds; }

  std::vector<QueueCompletion> poll();  // but for those of the agent
  std::optional<AsyncEvent> next_async_event();
  // For the last event taken: another byte was written after its valid bit (AEQ-3).
  bool event_was_late() const { return event_was_late_; }
  std::optional<u32> next_cq_event();

  const SetupPlan& plan() const { return plan_; }
  const Symbols& symbols() const { return plan_.symbols; }
  Contents& contents() { return contents_; }
  // The queue pair that `json` names with "qp"; without it, the only one.
  const VectorQp& qp_of(const JsonAt& json) const;
  const VectorQp* qp_of_peer(u32 peer_qpn) const;
  const VectorQp* qp_of_number(u32 qpn) const;
  // True if this queue pair is the peer of another one of the device.
  bool is_of_loop(u32 qpn) const { return plan_.is_of_loop(qpn); }
  PacketContext packet_context(const VectorQp& qp) const;
  // A field, of at most 64 bits, that a query command returns for an object.
  u64 told(proto::CommandOpcode query, u32 object, const std::string& field);
  // All query results of the objects, as text.
  std::map<std::string, std::string> query_all();

 private:
  using Block = std::array<u8, proto::kCommandBytes>;
  void make_pds();
  void make_cqs();
  void make_keys();  // regions and windows
  void make_xrc_domains();
  void make_srqs();
  void make_ee_contexts();
  void make_qp(const std::string& name, const PlannedQp& planned);
  std::vector<SgeList> sges_of(const JsonAt& json) const;
  SendWr send_wr_of(const JsonAt& json, const VectorQp& qp,
                    std::vector<SgeList>& sges);  // referenced by it
  MemoryInfo memory_of(const JsonAt& json) const;
  proto::CommandStatus execute(proto::CommandOpcode opcode, u32 object, Block& block);
  void must_execute(proto::CommandOpcode opcode, u32 object, Block& block, const JsonAt& where);
  Cq& cq_of(const JsonAt& json) const;
  Srq& srq_of(const JsonAt& json) const;  // by its name in "srq"
  std::vector<QueueCompletion> poll_all();
  void post_agent_buffer(u64 index);
  void answer_by_agent(const Wc& wc);
  DriverDevice driven_device();
  void set_driver(const JsonAt& json);
  std::vector<FieldDifference> compare_driver(const JsonAt& json);

  ReplayDevice& device_;
  VerbsContext verbs_;
  SetupPlan plan_;
  Contents contents_;
  u64 block_ = 0;
  std::map<std::string, Cq*> cqs_;
  std::map<std::string, Srq*> srqs_;
  std::map<std::string, VectorQp> qps_;
  CompChannel *async_ = nullptr, *channel_ = nullptr;
  using Eqe = std::array<u8, proto::kEqeBytes>;
  Eqe eqe_at(const CompChannel& channel, u32 index) const;
  void see_events();
  std::deque<Eqe> seen_;  // asynchronous EQEs as they were when their valid bit was written
  u32 seen_events_ = 0;
  bool event_was_late_ = false;
  AeqDriver driver_{driven_device()};
  std::optional<sma::SubnetAgent> agent_;
  const VectorQp* agent_qp_ = nullptr;
  u64 agent_memory_ = 0;
  u64 now_ = 0;  // time that passed
  std::vector<QueueCompletion> pending_;
};
}  // namespace hca::testbench
