// SPDX-License-Identifier: Apache-2.0
// The objects of one HCA.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/device/connection.h"
#include "model/device/object_limits.h"
#include "model/proto/interface/commands.h"
#include "model/proto/interface/cq_ring.h"
#include "model/proto/interface/drop_counters.h"
#include "model/proto/interface/events.h"
#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/alternate_path.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/qp.h"
#include "model/proto/transport/qp_transitions.h"
#include "model/proto/transport/shared_queue.h"

namespace hca::device {
// A ring in host memory that the HCA writes: CQ or EQ.
struct EventRing : proto::EntryRing {
  u32 eqn = 0;     // for a CQ; 0: none
  u16 vector = 0;  // for an EQ
  u64 context = 0;
  u32 uses = 0;  // work queues of a CQ, CQs of an EQ
  // For a CQ with an EQ: the CQEs in memory, and those up to the newest solicited or failed one.
  u32 written = 0, solicited = 0;
  proto::Arm armed = proto::Arm::None;
  // Moderation of the events of a CQ; 0 and 0: none.
  u16 event_count = 0, event_period = 0;  // CQEs; us
  u64 event_due = 0;  // its period ends at this time of the runner; 0: it does not run
};

struct Pd {
  bool allocated = false;
  u32 uses = 0;  // regions, windows and queue pairs
};

struct XrcDomain {
  bool allocated = false;
  u32 pd = 0;    // 0: none
  u32 uses = 0;  // SRQs and target queue pairs
};

struct RdDomain {
  bool allocated = false;
  u32 uses = 0;  // queue pairs and EE contexts
};
// An EE context (G13.1); its attributes are in QpTable.
struct EeContext {
  bool allocated = false;
  u64 context = 0;  // chosen by the host
  proto::QpAttributes given{};
};
// By QPN. By number also the attributes of EE contexts, with those of the queue pair that each
// serves now: as requester the one whose message it sends, as responder the one that a request
// names.
class QpTable : public std::vector<proto::QpConfig> {
 public:
  proto::QpConfig& operator[](u32 number) {
    if (is_ee(number)) [[unlikely]]
      return of_ees_[part_of(number) & 1][eecn_of(number)];
    return vector::operator[](number);
  }
  const proto::QpConfig& operator[](u32 number) const {
    return const_cast<QpTable&>(*this)[number];
  }
  void make_ee(u32 eecn) {
    for (auto& part : of_ees_)
      if (eecn >= part.size()) part.resize(std::max<std::size_t>(eecn + 1, part.size() * 2));
  }

 private:
  std::array<std::vector<proto::QpConfig>, 2> of_ees_;  // as requester, as responder
};

// The cable of a port, and the state that SetPort requested.
struct PortCable {
  bool is_broken = false;
  proto::PortState asked{};
};

// Compares bytes, because the number of entries would need a division.
template <class T>
bool holds(const std::vector<T>& table, u32 number) {
  return u64{number} * sizeof(T) < std::span(table).size_bytes();
}
// The object with this number; nullptr: it does not exist.
template <class Table>
auto* find_entry(Table& table, u32 number) {
  return holds(table, number) && table[number].allocated ? &table[number] : nullptr;
}

// The place in a ring of messages; it has as many places as its send queue, a power of two.
template <class Ring>
auto& message_in(Ring& ring, u32 index) {
  return ring[index & u32(ring.size() - 1)];
}

// All tables. Commands change the attributes set by software through all of Contexts. Blocks read
// them; each running state has one owner block, which holds its Writer (writers.h).
struct Contexts {
  // Members that each packet needs lie side by side.
  QpTable qps;
  ByConnection<proto::SendState> send;
  ByConnection<proto::ReceiveState> receive;
  ByConnection<std::vector<proto::SentMessage>> sent;  // by WQE index modulo the queue's size
  std::vector<proto::Region> regions;                  // by key index: regions and windows
  u64 version = 0;  // incremented by every command; caches of derived headers compare it

  ObjectLimits limits;
  proto::TransportOptions options;
  std::vector<proto::PortAttributes> ports;  // from port 1 on
  std::vector<PortCable> cables;             // from port 1 on
  std::vector<proto::DropCounters> drops;    // from port 1 on
  std::vector<proto::TransportCounters> transport;
  std::vector<proto::QpAttributes> given;  // by QP: last values of ModifyQp
  ByConnection<proto::AlternatePath> alternates;
  std::vector<u64> qp_contexts;                // by QP: chosen by the host
  std::map<u32, std::vector<u64>> page_lists;  // by key index
  // Page lists of removed regions, for accesses judged before the removal.
  std::vector<std::vector<u64>> left_page_lists;
  std::vector<u32> sends_posted;   // by QP: send WQEs rung by doorbells
  std::vector<u32> bound_windows;  // by QP: bound windows of type 2A
  std::vector<Pd> pds;
  std::vector<XrcDomain> xrc_domains;
  std::vector<RdDomain> rd_domains;
  std::vector<EeContext> ee_contexts;
  std::vector<EventRing> cqs, eqs;
  std::vector<proto::SharedQueue> srqs;
  std::vector<proto::MulticastMember> members;
  std::vector<proto::VectorAttributes> vectors;
  // In host memory, set by SetContextMemory; needed: not all of it is held on chip.
  u64 context_memory = 0;
  bool needs_context_memory = false;
  bool has_failed = false;  // as a whole (ERR-18)

  explicit Contexts(const ObjectLimits& l = {})
      : limits(l),
        ports(l.ports),
        cables(l.ports),
        drops(l.ports),
        transport(l.ports),
        vectors(l.vectors, proto::VectorAttributes{0, 0, true}) {}

  bool attached(const proto::MulticastMember& m) const {
    return std::find(members.begin(), members.end(), m) != members.end();
  }
  // Calls visit(qpn) for the members of a group that get a datagram: those whose queue pair belongs
  // to the port (C9-59). `sender`: the queue pair of this port that sent it, else kAnyQp.
  template <class Visit>
  void each_receiver(u32 port, const proto::Gid& dgid, const u8* frame,
                     const proto::FrameShape& shape, u32 sender, const Visit& visit) const {
    for (const proto::MulticastMember& m : members) {
      if (!proto::is_member(m, dgid, frame, shape) || !proto::is_of_port(qps[m.qpn], port))
        continue;
      if (m.qpn == sender && qps[sender].blocks_self) continue;
      visit(m.qpn);
    }
  }
  const proto::QpConfig* find_qp(u32 qpn) const { return find_entry(qps, qpn); }
  // A queue pair, or an EE context.
  const proto::QpConfig* find_number(u32 number) const {
    if (!is_ee(number)) [[likely]]
      return find_qp(number);
    return find_entry(ee_contexts, eecn_of(number)) ? &qps[number] : nullptr;
  }
  // The connection of a queue pair, or of an EE context (ee_number()).
  Connection connection_of(u32 number) const { return Connection(number); }
  proto::SendState& send_of(u32 qpn) { return send[connection_of(qpn)]; }
  const proto::SendState& send_of(u32 qpn) const { return send[connection_of(qpn)]; }
  proto::ReceiveState& receive_of(u32 qpn) { return receive[connection_of(qpn)]; }
  const proto::ReceiveState& receive_of(u32 qpn) const { return receive[connection_of(qpn)]; }
  proto::AlternatePath& alternate_of(u32 qpn) { return alternates[connection_of(qpn)]; }
  const proto::AlternatePath& alternate_of(u32 qpn) const { return alternates[connection_of(qpn)]; }
  // The receive queue whose WQEs a request takes, if it takes one. In XRC the first packet of a
  // message names it (G24.2, G24.5).
  ReceiveQueue receive_queue_of(const proto::QpConfig& qp,
                                const proto::ParsedPacket& packet) const {
    if (qp.side == proto::QpSide::EeContext) [[unlikely]]
      return ReceiveQueue(0, qp.served);
    if (qp.service != proto::Service::Xrc) [[likely]]
      return ReceiveQueue(qp.srqn);
    if (!packet.opcode || !packet.has(proto::Ext::XrcEth)) return {};
    const proto::ReceiveState& state = receive_of(qp.qpn);
    const bool inside =
        state.message != proto::InMessage::None && !proto::begins_message(packet.opcode->position);
    return ReceiveQueue(inside ? state.xrc_srqn : packet.xrc_eth.xrc_srq);
  }
  static ReceiveQueue shared_queue(u32 srqn) { return ReceiveQueue(srqn); }
  // The ring of a receive queue.
  const proto::WorkQueue& ring_of(const proto::QpConfig& qp, ReceiveQueue queue) const {
    if (queue.owner()) [[unlikely]]
      return qps[queue.owner()].rq;
    return proto::ring_of(qp, find_shared(queue));
  }
  // The receive queue of the message that began last: the one whose WQE it holds.
  ReceiveQueue held_queue_of(const proto::QpConfig& qp) const {
    return ReceiveQueue(qp.service == proto::Service::Xrc ? receive_of(qp.qpn).xrc_srqn : qp.srqn);
  }
  const proto::Region* find_region(u32 key) const {
    const u32 index = proto::key_index(key);
    return holds(regions, index) ? &regions[index] : nullptr;
  }
  EventRing* find_cq(u32 cqn) { return find_entry(cqs, cqn); }
  proto::SharedQueue* find_srq(u32 srqn) { return find_entry(srqs, srqn); }
  // nullptr: the queue is no SRQ, or its SRQ does not exist.
  proto::SharedQueue* find_shared(ReceiveQueue queue) {
    return queue.is_shared() ? find_srq(queue.srqn()) : nullptr;
  }
  const proto::SharedQueue* find_shared(ReceiveQueue queue) const {
    return queue.is_shared() ? find_srq(queue.srqn()) : nullptr;
  }
  const proto::SharedQueue* find_srq(u32 srqn) const { return find_entry(srqs, srqn); }
  EventRing* find_eq(u32 eqn) { return find_entry(eqs, eqn); }
  XrcDomain* find_xrc_domain(u32 number) { return find_entry(xrc_domains, number); }
  RdDomain* find_rd_domain(u32 number) { return find_entry(rd_domains, number); }
  EeContext* find_ee_context(u32 eecn) { return find_entry(ee_contexts, eecn); }
  Pd* find_pd(u32 pd) { return find_entry(pds, pd); }
  const proto::SentMessage& message(Connection connection, u32 index) const {
    return message_in(sent[connection], index);
  }

 private:
  static bool is_there(const proto::QpConfig& qp) { return qp.allocated; }
  static bool is_there(const proto::Region& entry) { return entry.exists(); }
};
}  // namespace hca::device
