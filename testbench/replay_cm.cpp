// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_cm.h"

#include <map>
#include <set>
#include <string_view>

#include "model/proto/key.h"
#include "model/proto/mad_tables.h"
#include "model/proto/psn.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u8 kCmClass = 0x07;
constexpr u16 kReq = 0x10, kRep = 0x13;

// A field of a message; its name stands in the table.
template <std::size_t N>
u32 value_of(const std::array<FieldInfo, N>& fields, std::string_view name, const u8* body) {
  for (const FieldInfo& f : fields)
    if (f.name == name) return u32(get_bits(body, f.bit_at, f.bits));
  return 0;
}
u32 req(const u8* body, std::string_view name) { return value_of(kReqFields, name, body); }
u32 rep(const u8* body, std::string_view name) { return value_of(kRepFields, name, body); }

// Who sends it, and the number that it gives the connection.
using CmId = std::pair<NetworkAddress, u32>;

CmConnection connection_of(const JudgedPacket& request, const u8* asks, const JudgedPacket& reply,
                           const u8* answers) {
  CmConnection c;
  c.frame = reply.number;
  // The PSN of a message is that with which its receiver begins.
  CmEnd &active = c.ends[0], &passive = c.ends[1];
  active.address = request.from, active.qpn = req(asks, "LocalQPN");
  active.first_psn = rep(answers, "StartingPSN");
  passive.address = reply.from, passive.qpn = rep(answers, "LocalQPN");
  passive.first_psn = req(asks, "StartingPSN");
  active.timeout = passive.timeout = u8(req(asks, "PrimaryLocalAckTimeout"));
  active.retry_count = passive.retry_count = u8(req(asks, "RetryCount"));
  active.rnr_retry = u8(rep(answers, "RnrRetryCount"));
  passive.rnr_retry = u8(req(asks, "RnrRetryCount"));
  const u32 code = req(asks, "PathPacketPayloadMtu");
  if (code >= 1 && code <= kPathMtus.size()) c.path_mtu = kPathMtus[code - 1];
  return c;
}
}  // namespace

std::vector<CmConnection> find_connections(const std::vector<JudgedPacket>& packets) {
  std::map<CmId, const JudgedPacket*> requests;
  std::set<std::pair<CmId, CmId>> made;
  std::vector<CmConnection> all;
  for (const JudgedPacket& p : packets) {
    const bool is_mad = p.row().service == Service::Ud && p.p.bth.dest_qp == kQp1 && !p.cut &&
                        p.p.payload_bytes >= kMadBytes;
    const u8* const mad = p.bytes.data() + p.p.payload_offset;
    if (!is_mad || mad[1] != kCmClass) continue;
    const u16 attribute = u16(load_be<2>(mad + 16));
    const u8* const body = mad + kMadHeaderBytes;
    if (attribute == kReq) requests[{p.from, req(body, "LocalCommunicationID")}] = &p;
    if (attribute != kRep) continue;
    const CmId asker{p.to, rep(body, "RemoteCommunicationID")},
        replier{p.from, rep(body, "LocalCommunicationID")};
    const auto request = requests.find(asker);
    if (request == requests.end() || !made.insert({asker, replier}).second) continue;
    const JudgedPacket& asks = *request->second;
    const u8* const its = asks.bytes.data() + asks.p.payload_offset + kMadHeaderBytes;
    all.push_back(connection_of(asks, its, p, body));
  }
  return all;
}
}  // namespace hca::testbench
