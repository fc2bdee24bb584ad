// SPDX-License-Identifier: Apache-2.0
// A packet does not name its sender's queue pair. Answers show which two flows form a connection:
// they have the PSN of their request.
#include <algorithm>
#include <set>
#include <tuple>

#include "model/proto/memory/key.h"
#include "model/proto/transport/psn.h"
#include "testbench/replay/replay_cm.h"
#include "testbench/replay/replay_restarts.h"

namespace hca::testbench {
using namespace proto;

namespace {
// `connection`: how many there were of its queue pair before it.
using Key = std::tuple<NetworkAddress, NetworkAddress, u32, u8, u32, std::size_t>;
Key key_of(const JudgedPacket& p, std::size_t connection) {
  const Service service = p.row().service;
  // A queue pair numbers all its datagrams, whomever they go to.
  if (service == Service::Ud) return {p.from, NetworkAddress{}, 0, u8(service), p.p.deth.src_qp, 0};
  const u32 number = service == Service::Rd ? p.p.rdeth.ee_context : p.p.bth.dest_qp;
  return {p.from, p.to, number, u8(service), 0, connection};
}
bool is_full(const JudgedPacket& p) {
  return p.row().payload == PayloadRule::FullMtu && is_mtu(p.p.payload_bytes);
}

// The path MTU of most First and Middle packets; otherwise the smallest that all payloads and the
// PSNs after READs allow.
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
    if (fits > best_fits) {
      best = mtu;
      best_fits = fits;
    }
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
    flows_[a].mate = b;
    flows_[b].mate = a;
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

// The connections of the CM that a packet may be of, and which it is of: the newest.
class Connections {
 public:
  explicit Connections(const std::vector<JudgedPacket>& packets)
      : all_(find_connections(packets)) {}

  // How many were made to this queue pair before the packet.
  std::size_t made_before(const JudgedPacket& p) const {
    return std::size_t(std::ranges::count_if(all_, [&](const CmConnection& c) {
      return c.frame < p.number && joins(c, p.from, p.to, p.p.bth.dest_qp);
    }));
  }
  // The newest of them; the number of a flow is that of its packets.
  void join(std::vector<Flow>& flows) const {
    for (Flow& flow : flows)
      if (flow.service != Service::Ud)
        for (const CmConnection& c : all_)
          if (c.frame < flow.packets.front()->number && joins(c, flow.from, flow.to, flow.qpn))
            flow.cm = c;
    for (std::size_t i = 0; i < flows.size(); ++i)
      for (std::size_t j = i + 1; j < flows.size(); ++j)
        if (flows[i].cm && flows[j].cm && flows[i].cm->frame == flows[j].cm->frame &&
            flows[i].from == flows[j].to && flows[i].service == flows[j].service) {
          flows[i].mate = j;
          flows[j].mate = i;
        }
  }

 private:
  static bool joins(const CmConnection& c, const NetworkAddress& from, const NetworkAddress& to,
                    u32 qpn) {
    const CmEnd* const end = c.end_at(to, qpn);
    return end && c.other_than(*end).address == from;
  }
  std::vector<CmConnection> all_;
};

void find_mtus(std::vector<Flow>& flows) {
  for (Flow& flow : flows) {
    std::vector<const JudgedPacket*> both = flow.packets;
    if (flow.mate) {
      const auto& more = flows[*flow.mate].packets;
      both.insert(both.end(), more.begin(), more.end());
      std::ranges::sort(both, {}, [](const JudgedPacket* p) { return p->number; });
    }
    flow.mtu = flow.cm && flow.cm->path_mtu ? flow.cm->path_mtu : mtu_of(both);
  }
}
}  // namespace

u32 psns_taken(const JudgedPacket& request, u32 mtu) {
  return request.is(Operation::ReadRequest) ? psns_of(request.p.reth.dma_len, mtu) : 1;
}

std::vector<Flow> find_flows(const std::vector<JudgedPacket>& packets, bool complete) {
  const Connections connections(packets);
  std::map<Key, std::size_t> index;
  std::map<Key, u32> incarnations;
  std::vector<Flow> flows;
  for (const JudgedPacket& p : packets) {
    const auto [at, is_new] =
        index.try_emplace(key_of(p, connections.made_before(p)), flows.size());
    if (is_new)
      flows.push_back({.from = p.from,
                       .to = std::get<1>(at->first),
                       .qpn = std::get<2>(at->first),
                       .service = p.row().service,
                       .source_qp = std::get<4>(at->first),
                       .packets = {},
                       .incarnation = incarnations[key_of(p, 0)]++});
    flows[at->second].packets.push_back(&p);
  }
  // READs take PSNs by the path MTU, which is best known of whole conversations: of all packets
  // between two ends first.
  connections.join(flows);
  find_mtus(flows);
  Mates(flows).find();
  find_mtus(flows);
  if (!complete) split_restarts(flows);
  return flows;
}
}  // namespace hca::testbench
