// SPDX-License-Identifier: Apache-2.0
// The objects of one HCA. Commands change what software sets; each running state has one owner
// among the blocks.
#pragma once
#include <vector>

#include "model/proto/memory_region.h"
#include "model/proto/qp.h"
#include "model/proto/qp_transitions.h"

namespace hca::blocks {
struct ObjectLimits {
  u32 qps = 1 << 16;      // QP numbers are below this
  u32 cqs = 1 << 16;      // CQ numbers
  u32 eqs = 64;           // EQ numbers
  u32 regions = 1 << 20;  // key indices
};

// A ring in host memory that the HCA produces into: CQ or EQ.
struct EventRing {
  bool allocated = false;
  u64 address = 0;
  u8 log_entries = 0;
  u32 eqn = 0;  // of a CQ; 0: none
  u32 producer = 0, consumer = 0;
  proto::Arm armed = proto::Arm::None;
  bool overflowed = false;

  u32 entries() const { return u32{1} << log_entries; }
  bool is_full() const { return producer - consumer >= entries(); }
  u64 slot(u32 entry_bytes) const {
    return address + u64{producer & (entries() - 1)} * entry_bytes;
  }
  bool phase() const { return !(producer >> log_entries & 1); }  // 1 on the first turn
};

struct Contexts {
  ObjectLimits limits;
  proto::TransportOptions options;
  proto::PortState port;
  std::vector<proto::QpConfig> qps;
  std::vector<proto::SendState> send;
  std::vector<proto::ReceiveState> receive;
  std::vector<std::vector<proto::SentMessage>> sent;  // by QP: WQE index modulo the queue's size
  std::vector<proto::Region> regions;                 // by key index
  std::vector<EventRing> cqs, eqs;

  const proto::QpConfig* find_qp(u32 qpn) const {
    return qpn < qps.size() && qps[qpn].allocated ? &qps[qpn] : nullptr;
  }
  const proto::Region* find_region(u32 key) const {
    const u32 index = proto::key_index(key);
    return index < regions.size() ? &regions[index] : nullptr;
  }
  proto::SentMessage& message(u32 qpn, u32 index) {
    return sent[qpn][index & u32(sent[qpn].size() - 1)];
  }
};

// Executes one command block in place: header and structure in, header and result out. Returns the
// QP that entered Error or Reset by it, if any, so that the runner can flush or clear its queues.
struct CommandEffect {
  u32 qpn = 0;
  bool flush = false, clear = false;
};
CommandEffect execute_command(Contexts& contexts, u8* block);
}  // namespace hca::blocks
