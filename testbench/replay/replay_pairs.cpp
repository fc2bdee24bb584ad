// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "testbench/replay/replay_given.h"
#include "testbench/replay/replay_judge_packets.h"
#include "testbench/replay/replay_learn.h"
#include "testbench/replay/replay_prepare.h"

namespace hca::testbench {
using namespace proto;

namespace {
using Ends = std::pair<NetworkAddress, NetworkAddress>;

std::string why_not(const std::vector<const JudgedPacket*>& packets) {
  std::set<Framing> framings;
  bool both = false;
  for (const JudgedPacket* p : packets) {
    if (p->cut) return "the recorder cut its frames";
    if (p->from == p->to) return "both ends have one address";
    framings.insert(p->p.framing);
    both |= p->from != packets.front()->from;
  }
  if (framings.size() > 1) return "it changes its framing";
  return both ? "" : "one end sends nothing: its state is unknown";
}

LearnedConnection connection_of(const CmConnection& c, const NetworkAddress& end_a) {
  LearnedConnection out;
  out.path_mtu = c.path_mtu;
  for (const CmEnd& end : c.ends) {
    const auto i = unsigned(end.address == end_a ? End::A : End::B);
    out.qpns[i] = end.qpn;
    out.first_psns[i] = end.first_psn;
    out.timeouts[i] = end.timeout;
    out.retry_counts[i] = end.retry_count;
    out.rnr_retries[i] = end.rnr_retry;
  }
  return out;
}

// Packets of two ends, whose queue pairs are made for the n-th time.
struct Pair {
  Ends ends;
  u32 incarnation;
  std::vector<const JudgedPacket*> packets{};
  std::vector<CmConnection> connections{};
};
std::vector<Pair> find_pairs(const std::vector<JudgedPacket>& packets, Service service) {
  std::vector<Pair> pairs;
  for (const Flow& flow : find_flows(packets, false))
    for (const JudgedPacket* p : flow.packets) {
      if (p->row().service != service) continue;
      const u32 incarnation = is_reliable(service) ? flow.incarnation : 0;
      const auto same = [&](const Pair& pair) {
        const auto& [a, b] = pair.ends;
        return pair.incarnation == incarnation &&
               ((a == p->from && b == p->to) || (a == p->to && b == p->from));
      };
      auto found = std::ranges::find_if(pairs, same);
      if (found == pairs.end()) found = pairs.insert(pairs.end(), {{p->from, p->to}, incarnation});
      found->packets.push_back(p);
      if (flow.cm && p == flow.packets.front()) found->connections.push_back(*flow.cm);
    }
  for (Pair& pair : pairs) {
    std::ranges::sort(pair.packets, {}, &JudgedPacket::number);
    pair.ends = {pair.packets.front()->from, pair.packets.front()->to};
  }
  std::ranges::stable_sort(pairs, {}, [](const Pair& p) { return p.packets.front()->number; });
  return pairs;
}

Capture capture_of(const std::string& name, const Pair& pair) {
  const auto& [ends, incarnation, packets, connections] = pair;
  Capture capture;
  for (const CmConnection& c : connections)
    capture.connections.push_back(connection_of(c, ends.first));
  capture.name = name;
  capture.learned = true;
  capture.link = packets.front()->link;
  for (const JudgedPacket* p : packets)
    capture.frames.push_back({p->time, p->from == ends.first ? End::A : End::B, Fate::Forwarded,
                              p->bytes, p->link, p->number});
  capture.tags = take_tags_off(capture);
  learn_setup(capture);
  return capture;
}
}  // namespace

std::vector<Capture> pairs_of(const std::string& path, JudgedCapture& judged) {
  const std::vector<GivenPacket> given = packets_of_file(path);
  Judgement ignored;
  const JudgeOptions options;
  Verdicts verdicts(options, ignored);
  const std::vector<JudgedPacket> packets = take_apart(given, ignored, verdicts);
  const auto first = std::ranges::find_if(kReplayedServices, [&](Service service) {
    return std::ranges::any_of(packets,
                               [&](const JudgedPacket& p) { return p.row().service == service; });
  });
  const std::vector<Pair> pairs =
      first == kReplayedServices.end() ? std::vector<Pair>{} : find_pairs(packets, *first);
  std::vector<Capture> captures;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string name =
        pairs.size() == 1 ? judged.capture : fmt::format("{} ({})", judged.capture, i + 1);
    std::string why = why_not(pairs[i].packets);
    if (why.empty()) try {
        captures.push_back(capture_of(name, pairs[i]));
      } catch (const std::exception& error) {
        why = error.what();
      }
    if (!why.empty())
      judged.not_replayed.push_back(fmt::format("{} and {}: {}", text_of(pairs[i].ends.first),
                                                text_of(pairs[i].ends.second), why));
  }
  return captures;
}
}  // namespace hca::testbench
