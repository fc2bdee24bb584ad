// SPDX-License-Identifier: Apache-2.0
#include "testbench/packet_ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/proto/packet.h"

namespace hca::testbench {
void PacketLadder::frame(unsigned sender, u64 at, std::span<const u8> bytes) {
  proto::ParsedPacket p;
  if (proto::parse(bytes, testbed_.link(), p) != proto::PacketVerdict::Good || !p.opcode) return;
  std::vector<Rung>& rungs = rungs_[{sender, p.bth.dest_qp}];
  if (rungs.size() == kMost) return;
  rungs.push_back({at, sender, p.opcode->name, p.bth.psn,
                   p.has(proto::Ext::Aeth) ? int(p.aeth.syndrome) : -1, bytes.size()});
}

nlohmann::json PacketLadder::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t lane = 0; lane < testbed_.lanes(); ++lane) {
    const std::vector<Qp*>&client = testbed_.end(0, lane).qps, &server = testbed_.end(1, lane).qps;
    for (std::size_t qp = 0; qp < std::min(client.size(), server.size()); ++qp) {
      std::vector<Rung> both;
      for (const auto& key : {std::pair(0u, server[qp]->qpn), std::pair(1u, client[qp]->qpn)})
        if (const auto at = rungs_.find(key); at != rungs_.end())
          both.insert(both.end(), at->second.begin(), at->second.end());
      if (both.empty()) continue;
      std::stable_sort(both.begin(), both.end(),
                       [](auto& a, auto& b) { return a.picoseconds < b.picoseconds; });
      both.resize(std::min(both.size(), kMost));
      nlohmann::json frames = nlohmann::json::array();
      for (const Rung& r : both)
        frames.push_back({r.picoseconds, r.sender, r.opcode, r.psn,
                          r.syndrome < 0 ? nlohmann::json() : nlohmann::json(r.syndrome), r.bytes});
      list.push_back({{"client_qpn", client[qp]->qpn},
                      {"server_qpn", server[qp]->qpn},
                      {"frames", std::move(frames)}});
    }
  }
  return list;
}
}  // namespace hca::testbench
