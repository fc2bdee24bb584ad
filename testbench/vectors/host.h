// SPDX-License-Identifier: Apache-2.0
// The host software of a vector: makes its objects and does its steps.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "testbench/host/replay_device.h"
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
};
// The device does nothing more and has not done what was asked.
struct DeviceStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Of a set-up.
DeviceOptions options_of(const JsonAt& setup);  // device_options.cpp

class VectorHost {
 public:
  VectorHost(const JsonAt& setup, ReplayDevice& device);

  // Steps, as check_step (format.h) takes them. A work request that is refused must be refused as
  // its "error" says, and so must a command by its "status"; what is wrong comes back in words,
  // nothing if all is as it must be.
  std::optional<std::string> post_send(const JsonAt& json);
  std::optional<std::string> post_recv(const JsonAt& json);
  void post_raw(const JsonAt& json);
  std::optional<std::string> resize_srq(const JsonAt& json);
  std::optional<std::string> resize_cq(const JsonAt& json);
  std::optional<std::string> command(const JsonAt& json, std::vector<FieldDifference>& differences);
  // What the device reads there is answered with an error: all of a queue, or bytes of a region.
  void make_unreadable(const JsonAt& json);
  void ring(const JsonAt& json);
  void arm(const JsonAt& json);
  // {"counter": number ..}: all drop counters of port 1, those that are not named being 0.
  std::vector<FieldDifference> compare_drops(const JsonAt& json);

  std::vector<QueueCompletion> poll();
  std::optional<AsyncEvent> next_async_event();
  // Of the event taken last: another byte than its valid bit came later (AEQ-3).
  bool event_was_late() const { return event_was_late_; }
  std::optional<u32> next_cq_event();

  const SetupPlan& plan() const { return plan_; }
  const Symbols& symbols() const { return plan_.symbols; }
  Contents& contents() { return contents_; }
  // The queue pair that `json` names with "qp"; the only one if it names none.
  const VectorQp& qp_of(const JsonAt& json) const;
  const VectorQp* qp_of_peer(u32 peer_qpn) const;
  const VectorQp* qp_of_number(u32 qpn) const;
  // Whether the peer of another queue pair is this one of ours.
  bool is_of_loop(u32 qpn) const { return plan_.is_of_loop(qpn); }
  PacketContext packet_context(const VectorQp& qp) const;
  // A field, of at most 64 bits, of what a query command tells of an object.
  u64 told(proto::CommandOpcode query, u32 object, const std::string& field);
  // All that QUERY tells of the objects, as text.
  std::map<std::string, std::string> query_all();

 private:
  using Block = std::array<u8, proto::kCommandBytes>;
  void make_pds();
  void make_cqs();
  void make_keys();  // regions and windows
  void make_srqs();
  void make_qp(const std::string& name, const PlannedQp& planned);
  std::vector<SgeList> sges_of(const JsonAt& json) const;
  SendWr send_wr_of(const JsonAt& json, const VectorQp& qp,
                    std::vector<SgeList>& sges);  // which it refers to
  MemoryInfo memory_of(const JsonAt& json) const;
  proto::CommandStatus execute(proto::CommandOpcode opcode, u32 object, Block& block);
  void must_execute(proto::CommandOpcode opcode, u32 object, Block& block, const JsonAt& where);
  Cq& cq_of(const JsonAt& json) const;
  Srq& srq_of(const JsonAt& json) const;  // by its name in "srq"

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
  std::deque<Eqe> seen_;  // asynchronous EQEs as they were when their valid bit came
  u32 seen_events_ = 0;
  bool event_was_late_ = false;
};
}  // namespace hca::testbench
