// SPDX-License-Identifier: Apache-2.0
// A packet does not name its sender's queue pair. Which two flows are of one connection is told by
// answers: they have the PSN of what they answer.
#include <algorithm>
#include <set>
#include <tuple>

#include "model/proto/key.h"
#include "model/proto/psn.h"
#include "testbench/replay_judge_packets.h"

namespace hca::testbench {
using namespace proto;

namespace {
using Key = std::tuple<NetworkAddress, NetworkAddress, u32, u8, u32>;
Key key_of(const JudgedPacket& p) {
  const Service service = p.row().service;
  // A queue pair numbers all its datagrams, whomever they go to.
  if (service == Service::Ud) return {p.from, NetworkAddress{}, 0, u8(service), p.p.deth.src_qp};
  return {p.from, p.to, p.p.bth.dest_qp, u8(service), 0};
}
bool is_full(const JudgedPacket& p) {
  return p.row().payload == PayloadRule::FullMtu && is_mtu(p.p.payload_bytes);
}

// The path MTU that most First and Middle packets have; else the least that all payloads and the
// PSNs behind READs allow.
u32 mtu_of(const std::vector<const JudgedPacket*>& packets) {
  std::map<u32, std::size_t> counts;
  u32 most = 0;
  for (const JudgedPacket* p : packets) {
    if (is_full(*p)) ++counts[p->p.payload_bytes];
    most = std::max(most, p->p.payload_bytes);
  }
  if (!counts.empty())
    return std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
  u32 best = kPathMtus.back();
  std::size_t best_fits = 0;
  for (const u32 mtu : kPathMtus) {
    if (mtu < most) continue;
    std::size_t fits = 1;
    const JudgedPacket* before = nullptr;  // the last READ, if a request follows it
    for (const JudgedPacket* p : packets) {
      if (!p->row().is_request) continue;
      if (before && before->p.bth.dest_qp == p->p.bth.dest_qp)
        fits += psn_add(before->psn(), psns_taken(*before, mtu)) == p->psn();
      before = p->is(Operation::ReadRequest) ? p : nullptr;
    }
    if (fits > best_fits) best = mtu, best_fits = fits;
  }
  return best;
}

class Mates {
 public:
  explicit Mates(std::vector<Flow>& flows) : flows_(flows) {
    for (std::size_t i = 0; i < flows.size(); ++i)
      for (const JudgedPacket* p : flows[i].packets) order_.push_back({p, i});
    std::ranges::sort(order_, {}, [](const auto& o) { return o.first->number; });
  }

  void find() {
    for (const auto& [packet, flow] : order_)
      packet->row().is_request ? ask(*packet, flow) : answer(*packet, flow);
    std::vector<std::pair<u64, std::pair<std::size_t, std::size_t>>> best;
    for (const auto& [pair, count] : votes_) best.push_back({count, pair});
    std::ranges::stable_sort(best, std::greater{}, [](const auto& b) { return b.first; });
    for (const auto& [count, pair] : best) join(pair.first, pair.second);
    for (std::size_t i = 0; i < flows_.size(); ++i)  // the only ones left between two ends
      for (std::size_t j = i + 1; j < flows_.size(); ++j)
        if (alone(i) == std::optional(j) && alone(j) == std::optional(i)) join(i, j);
  }

 private:
  struct Asked {
    std::size_t at;
    bool answered;
  };
  bool face(const Flow& a, const Flow& b) const {
    return a.from == b.to && a.to == b.from && a.service == b.service;
  }
  void join(std::size_t a, std::size_t b) {
    if (a == b || flows_[a].mate || flows_[b].mate) return;
    flows_[a].mate = b, flows_[b].mate = a;
  }
  // The one flow without a mate that faces this one.
  std::optional<std::size_t> alone(std::size_t of) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (i == of || flows_[i].mate || !face(flows_[of], flows_[i])) continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }
  void ask(const JudgedPacket& p, std::size_t flow) {
    for (u32 n = 0; n < psns_taken(p, flows_[flow].mtu); ++n)
      asked_[{flow, psn_add(p.psn(), n)}] = {p.number, false};
  }
  // The oldest unanswered request with this PSN that faces it; else the newest answered.
  void answer(const JudgedPacket& p, std::size_t flow) {
    std::optional<std::size_t> best;
    Asked* found = nullptr;
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (!face(flows_[flow], flows_[i])) continue;
      const auto at = asked_.find({i, p.psn()});
      if (at == asked_.end()) continue;
      Asked& a = at->second;
      const bool better =
          !found ||
          (a.answered == found->answered ? (a.at < found->at) != a.answered : !a.answered);
      if (better) found = &a, best = i;
    }
    if (!best) return;
    found->answered = true;
    ++votes_[std::minmax(*best, flow)];
  }

  std::vector<Flow>& flows_;
  std::vector<std::pair<const JudgedPacket*, std::size_t>> order_;
  std::map<std::pair<std::size_t, u32>, Asked> asked_;
  std::map<std::pair<std::size_t, std::size_t>, u64> votes_;
};

// What a REQ and its REP tell: both ends' queue pairs.
class Connections {
 public:
  explicit Connections(std::vector<Flow>& flows) : flows_(flows) {}
  void see(const JudgedPacket& p) {
    constexpr u8 cm_class = 7;
    constexpr u16 req = 0x10, rep = 0x13;
    if (p.row().service != Service::Ud || p.p.bth.dest_qp != kQp1 || p.p.payload_bytes < 256)
      return;
    const u8* mad = p.bytes.data() + p.p.payload_offset;
    if (mad[1] != cm_class) return;
    const u8* body = mad + 24;
    const u16 attribute = u16(load_be<2>(mad + 16));
    if (attribute == req) asked_[{p.from, u32(load_be<4>(body))}] = qpn_at(body + 32);
    const auto request = asked_.find({p.to, u32(load_be<4>(body + 4))});
    if (attribute == rep && request != asked_.end())
      join(p.to, request->second, p.from, qpn_at(body + 12));
  }

 private:
  std::optional<std::size_t> flow(const NetworkAddress& from, const NetworkAddress& to, u32 qpn) {
    for (std::size_t i = 0; i < flows_.size(); ++i)
      if (flows_[i].from == from && flows_[i].to == to && flows_[i].qpn == qpn) return i;
    return std::nullopt;
  }
  void join(const NetworkAddress& a, u32 qpn_a, const NetworkAddress& b, u32 qpn_b) {
    const auto to_b = flow(a, b, qpn_b), to_a = flow(b, a, qpn_a);
    if (!to_a || !to_b || flows_[*to_a].mate || flows_[*to_b].mate) return;
    flows_[*to_a].mate = to_b, flows_[*to_b].mate = to_a;
    flows_[*to_a].by_cm = flows_[*to_b].by_cm = true;
  }
  static u32 qpn_at(const u8* bytes) { return u32(bytes[0]) << 16 | u32(load_be<2>(bytes + 1)); }
  std::vector<Flow>& flows_;
  std::map<std::pair<NetworkAddress, u32>, u32> asked_;  // by who asks and its communication ID
};

void find_mtus(std::vector<Flow>& flows) {
  for (Flow& flow : flows) {
    std::vector<const JudgedPacket*> both = flow.packets;
    if (flow.mate) {
      const auto& more = flows[*flow.mate].packets;
      both.insert(both.end(), more.begin(), more.end());
      std::ranges::sort(both, {}, [](const JudgedPacket* p) { return p->number; });
    }
    flow.mtu = mtu_of(both);
  }
}
}  // namespace

u32 psns_taken(const JudgedPacket& request, u32 mtu) {
  return request.is(Operation::ReadRequest) ? psns_of(request.p.reth.dma_len, mtu) : 1;
}

std::vector<Flow> find_flows(const std::vector<JudgedPacket>& packets) {
  std::map<Key, std::size_t> index;
  std::vector<Flow> flows;
  for (const JudgedPacket& p : packets) {
    const auto [at, is_new] = index.try_emplace(key_of(p), flows.size());
    if (is_new)
      flows.push_back({.from = p.from,
                       .to = std::get<1>(at->first),
                       .qpn = std::get<2>(at->first),
                       .service = p.row().service,
                       .source_qp = std::get<4>(at->first),
                       .packets = {}});
    flows[at->second].packets.push_back(&p);
  }
  // READs take PSNs by the path MTU, which is best known of whole conversations: of all packets
  // between two ends first.
  find_mtus(flows);
  Connections connections(flows);
  for (const JudgedPacket& p : packets) connections.see(p);
  Mates(flows).find();
  find_mtus(flows);
  return flows;
}
}  // namespace hca::testbench
