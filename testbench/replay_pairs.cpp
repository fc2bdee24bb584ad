// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "testbench/replay_given.h"
#include "testbench/replay_judge_packets.h"
#include "testbench/replay_learn.h"
#include "testbench/replay_prepare.h"

namespace hca::testbench {
using namespace proto;

namespace {
using Ends = std::pair<NetworkAddress, NetworkAddress>;

bool takes(const JudgedPacket& p, bool has_rc) {
  return p.row().service == (has_rc ? Service::Rc : Service::Ud);
}

std::string why_not(const std::vector<const JudgedPacket*>& packets) {
  std::set<Framing> framings;
  bool both = false;
  for (const JudgedPacket* p : packets) {
    if (p->cut) return "the recorder cut its frames";
    if (p->from == p->to) return "both ends have one address";
    framings.insert(p->p.framing), both |= p->from != packets.front()->from;
  }
  if (framings.size() > 1) return "it changes its framing";
  return both ? "" : "one end sends nothing: its state is not told";
}

Capture capture_of(const std::string& name, const Ends& ends,
                   const std::vector<const JudgedPacket*>& packets) {
  Capture capture;
  capture.name = name, capture.learned = true;
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
  const bool has_rc =
      std::ranges::any_of(packets, [](const JudgedPacket& p) { return takes(p, true); });
  std::vector<std::pair<Ends, std::vector<const JudgedPacket*>>> pairs;
  for (const JudgedPacket& p : packets) {
    if (!takes(p, has_rc)) continue;
    const auto same = [&](const auto& pair) {
      const auto& [a, b] = pair.first;
      return (a == p.from && b == p.to) || (a == p.to && b == p.from);
    };
    auto found = std::ranges::find_if(pairs, same);
    if (found == pairs.end()) found = pairs.insert(pairs.end(), {{p.from, p.to}, {}});
    found->second.push_back(&p);
  }
  std::vector<Capture> captures;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::string name =
        pairs.size() == 1 ? judged.capture : fmt::format("{} ({})", judged.capture, i + 1);
    std::string why = why_not(pairs[i].second);
    if (why.empty()) try {
        captures.push_back(capture_of(name, pairs[i].first, pairs[i].second));
      } catch (const std::exception& error) {
        why = error.what();
      }
    if (!why.empty())
      judged.not_replayed.push_back(fmt::format("{} and {}: {}", text_of(pairs[i].first.first),
                                                text_of(pairs[i].first.second), why));
  }
  return captures;
}
}  // namespace hca::testbench
