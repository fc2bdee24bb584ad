// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/packet_ladder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/proto/wire/packet.h"

namespace hca::testbench {
void PacketLadder::frame(unsigned receiver, u64 at, std::size_t bytes,
                         const proto::ParsedPacket& p) {
  if (!p.opcode) return;
  std::vector<Rung>& rungs = rungs_[{receiver, p.bth.dest_qp}];
  if (rungs.size() == kMost) return;
  rungs.push_back(
      {at, p.opcode->name, p.bth.psn, p.has(proto::Ext::Aeth) ? int(p.aeth.syndrome) : -1, bytes});
}

nlohmann::json PacketLadder::json() const {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [key, bundle] : testbed_.bundles())
    for (const QpPair& pair : pairs_of(bundle[kClient])) {
      std::vector<std::pair<unsigned, Rung>> both;  // with the sending end
      for (unsigned end = 0; end < kEnds; ++end) {
        const Qp& to = end == kClient ? *pair.other : *pair.own;
        if (const auto at = rungs_.find({bundle[end].peer->node, to.qpn}); at != rungs_.end())
          for (const Rung& rung : at->second) both.emplace_back(end, rung);
      }
      if (both.empty()) continue;
      std::stable_sort(both.begin(), both.end(), [](const auto& a, const auto& b) {
        return a.second.picoseconds < b.second.picoseconds;
      });
      both.resize(std::min(both.size(), kMost));
      nlohmann::json frames = nlohmann::json::array();
      for (const auto& [end, r] : both)
        frames.push_back({r.picoseconds, end, r.opcode, r.psn,
                          r.syndrome < 0 ? nlohmann::json() : nlohmann::json(r.syndrome), r.bytes});
      list.push_back({{"client_qpn", pair.own->qpn},
                      {"server_qpn", pair.other->qpn},
                      {"frames", std::move(frames)}});
    }
  return list;
}
}  // namespace hca::testbench
