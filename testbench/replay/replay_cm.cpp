// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_cm.h"

#include <map>
#include <optional>
#include <set>

#include "model/proto/memory/key.h"
#include "model/proto/transport/psn.h"
#include "testbench/cm/mad.h"

namespace hca::testbench {
using namespace proto;
using cm::Mad, cm::Message;

namespace {
// The message of the CM that a packet is; nothing: it is none.
std::optional<Mad> mad_of(const JudgedPacket& p) {
  if (p.row().service != Service::Ud || p.p.bth.dest_qp != kQp1 || p.cut ||
      p.p.payload_bytes < kMadBytes)
    return std::nullopt;
  return Mad::parse(std::span(p.bytes).subspan(p.p.payload_offset, kMadBytes));
}

// Who sends it, and the number that it gives the connection.
using CmId = std::pair<NetworkAddress, u32>;

struct Asked {
  const JudgedPacket* packet;
  Mad request;
};

CmConnection connection_of(const Asked& asked, const JudgedPacket& packet, const Mad& reply) {
  const Mad& request = asked.request;
  CmConnection c;
  c.frame = packet.number;
  // The PSN of a message is that with which its receiver begins.
  CmEnd &active = c.ends[0], &passive = c.ends[1];
  active.address = asked.packet->from;
  active.qpn = u32(request.get("LocalQPN"));
  active.first_psn = u32(reply.get("StartingPSN"));
  passive.address = packet.from;
  passive.qpn = u32(reply.get("LocalQPN"));
  passive.first_psn = u32(request.get("StartingPSN"));
  active.timeout = passive.timeout = u8(request.get("PrimaryLocalAckTimeout"));
  active.retry_count = passive.retry_count = u8(request.get("RetryCount"));
  active.rnr_retry = u8(reply.get("RnrRetryCount"));
  passive.rnr_retry = u8(request.get("RnrRetryCount"));
  const u64 code = request.get("PathPacketPayloadMtu");
  if (code >= 1 && code <= kPathMtus.size()) c.path_mtu = kPathMtus[code - 1];
  return c;
}
}  // namespace

std::vector<CmConnection> find_connections(const std::vector<JudgedPacket>& packets) {
  std::map<CmId, Asked> requests;
  std::set<std::pair<CmId, CmId>> made;
  std::vector<CmConnection> all;
  for (const JudgedPacket& p : packets) {
    const std::optional<Mad> mad = mad_of(p);
    if (!mad || (mad->message() != Message::Req && mad->message() != Message::Rep)) continue;
    const CmId sender{p.from, u32(mad->get("LocalCommunicationID"))};
    if (mad->message() == Message::Req) {
      requests.insert_or_assign(sender, Asked{&p, *mad});
      continue;
    }
    const CmId asker{p.to, u32(mad->get("RemoteCommunicationID"))};
    const auto asked = requests.find(asker);
    if (asked != requests.end() && made.insert({asker, sender}).second)
      all.push_back(connection_of(asked->second, p, *mad));
  }
  return all;
}
}  // namespace hca::testbench
