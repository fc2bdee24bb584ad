// SPDX-License-Identifier: Apache-2.0
// The parsed packets of a capture, and their owners.
#pragma once
#include <optional>

#include "model/proto/wire/packet.h"
#include "testbench/replay/replay_judge.h"

namespace hca::testbench {
// Collects broken rules: as breaches, or as excused deviations.
class Verdicts {
 public:
  Verdicts(const JudgeOptions& options, Judgement& out) : options_(options), out_(out) {}
  void broken(ConversationRule rule, std::size_t frame, std::string detail = {},
              std::string_view statement = {});
  void freedom(const char* what, u64 n = 1) { out_.freedoms[what] += n; }
  void lost(const std::string& what, u64 n = 1) { out_.losses[what] += n; }
  void not_judged(const std::string& what, u64 n = 1) { out_.not_judged[what] += n; }
  bool complete() const { return options_.complete; }

 private:
  const JudgeOptions& options_;
  Judgement& out_;
};

// An address of the network: GID, or a LID in its last two bytes.
struct NetworkAddress {
  std::array<u8, 16> address{};
  bool is_lid = false;
  auto operator<=>(const NetworkAddress&) const = default;
};
std::string text_of(const NetworkAddress& address);

struct JudgedPacket {
  std::size_t number = 0;
  u64 time = 0;
  proto::LinkLayer link{};
  std::vector<u8> bytes;
  proto::ParsedPacket p{};
  bool cut = false;  // a part of the payload is missing
  NetworkAddress from{}, to{};

  const proto::OpcodeRow& row() const { return *p.opcode; }
  u32 psn() const { return p.bth.psn; }
  bool is(proto::Operation operation) const { return row().operation == operation; }
  std::string text() const;  // "PSN 7: SEND Only"
};

// The good packets of the capture; the others are counted, or break a rule.
std::vector<JudgedPacket> take_apart(const std::vector<GivenPacket>& given, Judgement& out,
                                     Verdicts& verdicts);

// The CM's data on one end of a connection.
struct CmEnd {
  NetworkAddress address{};
  u32 qpn = 0, first_psn = 0;  // the PSN of its first request
  u8 timeout = 0, retry_count = 0, rnr_retry = 0;
};
struct CmConnection {
  std::size_t frame = 0;  // of the REP
  CmEnd ends[2];          // of the REQ's sender, and of the REP's
  u32 path_mtu = 0;       // 0: unknown

  // The end with this address and queue pair; nullptr: another connection.
  const CmEnd* end_at(const NetworkAddress& address, u32 qpn) const {
    for (const CmEnd& end : ends)
      if (end.address == address && end.qpn == qpn) return &end;
    return nullptr;
  }
  const CmEnd& other_than(const CmEnd& end) const { return &end == &ends[0] ? ends[1] : ends[0]; }
};

// Packets from one address to a queue pair at another.
struct Flow {
  NetworkAddress from{}, to{};
  u32 qpn = 0;  // RD: of the EE context
  proto::Service service{};
  u32 source_qp = 0;                         // for datagrams
  std::vector<const JudgedPacket*> packets;  // in the order of the capture
  std::optional<std::size_t> mate{};         // index of the flow with the answers
  u32 mtu = 0;                               // of the pair
  std::optional<CmConnection> cm{};          // if the CM established it here
  u32 incarnation = 0;                       // generation of queue pairs with these numbers, from 0

  // The CM's data on the sender of these requests; nullptr: none.
  const CmEnd* sender() const {
    const CmEnd* const receiver = cm ? cm->end_at(to, qpn) : nullptr;
    return receiver ? &cm->other_than(*receiver) : nullptr;
  }
};
// `complete`: the recorder lost nothing and the hosts were recorded, so no queue pair is recreated
// silently.
std::vector<Flow> find_flows(const std::vector<JudgedPacket>& packets, bool complete);
// The number of PSNs of a request.
u32 psns_taken(const JudgedPacket& request, u32 mtu);

// Judges requests without answers, and single packets.
void judge_packet(const JudgedPacket& packet, Verdicts& verdicts);
void judge_pkeys(const Flow& flow, Verdicts& verdicts);
void judge_unreliable(const Flow& flow, Verdicts& verdicts);
void judge_datagrams(const Flow& flow, Verdicts& verdicts);
// Judges requests of a reliable connection, and the answers in the other flow (nullptr: none).
void judge_reliable(const Flow& requests, const Flow* answers, Verdicts& verdicts);
}  // namespace hca::testbench
