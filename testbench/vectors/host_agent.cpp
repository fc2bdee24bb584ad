// SPDX-License-Identifier: Apache-2.0
// The step "agent": a subnet management agent serves a privileged queue pair of UD, from now on.
#include <array>

#include "model/proto/wire/datagram.h"
#include "testbench/vectors/format_values.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u64 kMostVls = 5;
constexpr u32 kAgentBuffers = 8;
constexpr u32 kBufferBytes = kDatagramHeaderBytes + kMadBytes;
constexpr std::array kAgentKeys{kQp, FormatKey{"vl_cap", a_number<kMostVls, 1>},
                                FormatKey{"echo_key", a_truth}};
}  // namespace

void check_agent(const JsonAt& json, const SetupPlan* plan) {
  check_object(json, kAgentKeys, plan);
  plan->qp_of(json);
}

void VectorHost::start_agent(const JsonAt& json) {
  const VectorQp& qp = qp_of(json);
  sma::NodeFacts facts;
  facts.ports = u8(plan_.ports);
  facts.vl_cap = u8(plan_.symbols.value_or(json, "vl_cap", 1, kMostVls));
  facts.echoes_key = json.has("echo_key") && json["echo_key"].truth();
  const u32 port = plan_.qps.at(qp.name).attributes.port;
  const sma::PortDevice device{u8(port),
                               [this, port] {
                                 Block block{};
                                 execute(CommandOpcode::QueryPort, port, block);
                                 return decode<PortAttributes>(block.data() + kCommandHeaderBytes);
                               },
                               [this, port](const PortAttributes& attributes) {
                                 Block block{};
                                 encode(attributes, block.data() + kCommandHeaderBytes);
                                 return execute(CommandOpcode::SetPort, port, block) ==
                                        CommandStatus::Ok;
                               }};
  agent_.emplace(facts, device);
  agent_qp_ = &qp;
  agent_memory_ = verbs_.alloc(u64{kAgentBuffers} * kBufferBytes);
  for (u32 i = 0; i < kAgentBuffers; ++i) post_agent_buffer(i);
}

void VectorHost::post_agent_buffer(u64 index) {
  const SgeList sge{agent_memory_ + index * kBufferBytes, kBufferBytes, kReservedLkey};
  verbs_.post_recv(*agent_qp_->qp, RecvWr{index, {&sge, 1}});
}

void VectorHost::answer_by_agent(const Wc& wc) {
  const u64 buffer = agent_memory_ + wc.wr_id * kBufferBytes;
  std::vector<u8> smp(wc.byte_len - std::min(wc.byte_len, kDatagramHeaderBytes));
  device_.memory().read(buffer + kDatagramHeaderBytes, smp.data(), smp.size());
  const auto answer = agent_->take({smp, wc.slid, now_});
  post_agent_buffer(wc.wr_id);
  if (!answer) return;
  const u64 at = verbs_.alloc(kMadBytes);
  device_.memory().write(at, answer->bytes);
  const SgeList sge{at, kMadBytes, kReservedLkey};
  SendWr wr;
  wr.sg_list = {&sge, 1};
  wr.send_flags = kSignaled;
  wr.ah = agent_qp_->to_peer;
  wr.ah.dlid = answer->dlid;
  wr.ah.dest_qpn = wc.src_qp;
  wr.ah.sl = wc.sl;
  verbs_.post_send(*agent_qp_->qp, wr);
}

bool VectorHost::serve() {
  bool served = false;
  for (QueueCompletion& c : poll_all()) {
    if (!agent_ || c.qpn != agent_qp_->peer.qpn) {
      pending_.push_back(c);
      continue;
    }
    if (!c.is_receive || c.wc.status != WcStatus::Success) continue;
    answer_by_agent(c.wc);
    served = true;
  }
  return served;
}
}  // namespace hca::testbench
