// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::string_view kOtherService = "other services",
                           kBefore = "of messages that began before the capture",
                           kBehind = "of a message that ends after the capture";

class Finder {
 public:
  explicit Finder(Capture& capture) : capture_(capture) {}

  Conversation run() {
    const auto is_of = [](const Seen& seen, Service service) {
      return seen.packet.transport_offset && seen.packet.bth.opcode >> 5 == unsigned(service);
    };
    const auto has = [&](Service service) {
      return std::ranges::any_of(
          capture_.frames, [&](const ReplayFrame& frame) { return is_of(Seen(frame), service); });
    };
    if (const auto first = std::ranges::find_if(kReplayedServices, has);
        first != kReplayedServices.end())
      c_.service = *first;
    keep_frames([&](const Seen& seen, End) {
      return seen.packet.transport_offset && !is_of(seen, c_.service) ? kOtherService : "";
    });
    read_packets();
    if (c_.packets.empty()) return finish();
    find_mtu();
    restore_lost(capture_, c_.mtu);
    read_packets();
    find_pairs();
    name_pairs();
    find_borders();
    keep_frames([this](const Seen& seen, End from) { return beyond_borders(seen, from); });
    read_packets();
    name_pairs();
    return finish();
  }

 private:
  // `why` says why a frame is left out; nothing: it is not.
  template <class Why>
  void keep_frames(const Why& why) {
    std::vector<ReplayFrame> kept;
    for (ReplayFrame& frame : capture_.frames) {
      const std::string_view reason = why(Seen(frame), frame.from);
      if (reason.empty())
        kept.push_back(std::move(frame));
      else
        ++left_out_[reason];
    }
    capture_.frames = std::move(kept);
  }
  void read_packets() {
    c_.packets.clear();
    for (const ReplayFrame& frame : capture_.frames)
      if (const Seen seen(frame); seen.good && was_sent(frame.fate))
        c_.packets.push_back({seen, frame.from, frame.time_ns});
  }
  void name_pairs() {
    for (LearnedPacket& p : c_.packets)
      p.pair = *pair_to(other(p.from), connection_named_by(p.seen.packet));
  }
  void find_mtu() {
    for (const LearnedConnection& connection : capture_.connections)
      if (connection.path_mtu) return void(c_.mtu = connection.path_mtu);
    u32 most = 0;
    for (const LearnedPacket& p : c_.packets) most = std::max(most, p.seen.packet.payload_bytes);
    c_.mtu = *std::ranges::find_if(kPathMtus,
                                   [&](u32 mtu) { return mtu >= most || mtu == kPathMtus[4]; });
  }

  // A packet does not name its sender's queue pair. Answers identify it: they have the PSN of an
  // earlier request, the first with this PSN without an answer.
  void find_pairs() {
    std::set<u32> qpns[2];
    struct Asked {
      std::size_t at;
      bool answered;
    };
    std::map<std::tuple<End, u32, u32>, Asked> asked;  // by asker, its peer and PSN
    std::map<std::pair<u32, u32>, u64> answers;        // by queue pairs of A and B
    for (std::size_t i = 0; i < c_.packets.size(); ++i) {
      const LearnedPacket& p = c_.packets[i];
      const u32 to = connection_named_by(p.seen.packet);
      qpns[unsigned(other(p.from))].insert(to);
      if (p.seen.is_request()) {
        for (u32 n = 0; n < psns_of_request(p.seen, c_.mtu); ++n)
          asked[{p.from, to, psn_add(p.seen.psn(), n)}] = {i, false};
        continue;
      }
      const End asker = other(p.from);
      u32 peer = 0;
      Asked* found = nullptr;
      for (const u32 candidate : qpns[unsigned(p.from)]) {
        const auto at = asked.find({asker, candidate, p.seen.psn()});
        if (at == asked.end()) continue;
        Asked& a = at->second;
        const bool is_earlier =
            found &&
            (a.answered == found->answered ? (a.at < found->at) != a.answered : !a.answered);
        if (!found || is_earlier) found = &a, peer = candidate;
      }
      if (!found) continue;
      found->answered = true;
      ++answers[asker == End::A ? std::pair{to, peer} : std::pair{peer, to}];
    }
    for (const End end : {End::A, End::B})
      if (qpns[unsigned(other(end))].empty())
        throw std::runtime_error(fmt::format("end {} sends nothing", name_of(end)));
    const bool one_each = qpns[0].size() == 1 && qpns[1].size() == 1;
    if (one_each) answers = {{{*qpns[0].begin(), *qpns[1].begin()}, 1}};
    std::vector<std::pair<u64, std::pair<u32, u32>>> best;
    for (const auto& [qps, count] : answers) best.push_back({count, qps});
    std::ranges::stable_sort(best, std::greater{}, [](const auto& b) { return b.first; });
    for (const auto& [count, qps] : best)
      if (!pair_to(End::A, qps.first) && !pair_to(End::B, qps.second))
        c_.pairs.push_back({{qps.first, qps.second}, {}, {}});
    for (const End end : {End::A, End::B})
      for (const u32 qpn : qpns[unsigned(end)])
        if (!pair_to(end, qpn))
          throw std::runtime_error(
              fmt::format("queue pair {:#x} of end {} and its peer do not answer each other", qpn,
                          name_of(end)));
    std::ranges::sort(c_.pairs, {}, [](const LearnedPair& p) { return p.qpns[0]; });
  }
  std::optional<std::size_t> pair_to(End end, u32 qpn) const {
    for (std::size_t i = 0; i < c_.pairs.size(); ++i)
      if (c_.pairs[i].qpn(end) == qpn) return i;
    return std::nullopt;
  }

  void find_borders() {
    std::map<std::pair<std::size_t, End>, u32> next;
    for (const LearnedPacket& p : c_.packets) {
      if (!p.seen.is_request()) continue;
      LearnedPair& pair = c_.pairs[p.pair];
      std::optional<u32>&first = pair.first[unsigned(p.from)],
      &open = pair.unfinished[unsigned(p.from)];
      const Position at = p.seen.packet.opcode->position;
      if (!first && !begins_message(at)) continue;
      if (!first) first = next[{p.pair, p.from}] = p.seen.psn();
      u32& due = next[{p.pair, p.from}];
      if (p.seen.psn() != due) continue;  // a repetition
      due = psn_add(due, psns_of_request(p.seen, c_.mtu));
      if (begins_message(at)) open = p.seen.psn();
      if (ends_message(at)) open.reset();
    }
  }
  // Called in the order of the frames. Answers to messages from before the capture come before all
  // answers to its messages.
  std::string_view beyond_borders(const Seen& seen, End from) {
    if (!seen.good) return "";
    const std::optional<std::size_t> at = pair_to(other(from), connection_named_by(seen.packet));
    if (!at) return "";
    const End asker = seen.is_request() ? from : other(from);
    const std::optional<u32>&first = c_.pairs[*at].first[unsigned(asker)],
          &open = c_.pairs[*at].unfinished[unsigned(asker)];
    bool& is_answered = answered_[{*at, asker}];
    const bool is_before = !first || psn_distance(*first, seen.psn()) < 0;
    if (is_before && !(first && is_answered && seen.is_response())) return kBefore;
    is_answered |= seen.is_response();
    return open && psn_distance(*open, seen.psn()) >= 0 ? kBehind : "";
  }

  Conversation finish() {
    for (const auto& [reason, count] : left_out_) {
      capture_.left_out += count;
      capture_.left_out_reason += (capture_.left_out_reason.empty() ? "" : ", ");
      if (left_out_.size() > 1) capture_.left_out_reason += fmt::format("{} ", count);
      capture_.left_out_reason += reason;
    }
    return std::move(c_);
  }

  Capture& capture_;
  Conversation c_;
  std::map<std::pair<std::size_t, End>, bool> answered_;  // by pair and end that asks
  std::map<std::string_view, std::size_t> left_out_;
};
}  // namespace

Conversation find_conversation(Capture& capture) { return Finder(capture).run(); }

void use_connection(const Capture& capture, const LearnedPair& pair, End end,
                    nlohmann::json& connect) {
  const auto own = unsigned(end), peer = unsigned(other(end));
  for (const LearnedConnection& c : capture.connections) {
    if (c.qpns[own] != pair.qpn(end) || c.qpns[peer] != pair.qpn(other(end))) continue;
    connect["sq_psn"] = pair.first[own].value_or(c.first_psns[own]);
    connect["rq_psn"] = pair.first[peer].value_or(c.first_psns[peer]);
    if (c.path_mtu) connect["path_mtu"] = c.path_mtu;
    connect["timeout"] = c.timeouts[own];
    connect["retry_cnt"] = c.retry_counts[own];
    connect["rnr_retry"] = c.rnr_retries[own];
  }
}

u32 psns_of_request(const Seen& request, u32 mtu) {
  return request.is(Operation::ReadRequest) ? psns_of(request.packet.reth.dma_len, mtu) : 1;
}

void count_messages_from_here(Capture& capture, const Conversation& c, const Executed& executed) {
  const auto has_msn = [](const Seen& s) { return s.is_response() && s.packet.has(Ext::Aeth); };
  std::map<std::pair<std::size_t, End>, u32> offsets;
  for (std::size_t pair = 0; pair < c.pairs.size(); ++pair)
    for (const End asker : {End::A, End::B}) {
      const auto ends = executed.find({pair, asker});
      if (ends == executed.end()) continue;
      std::map<u32, u64> counts;  // by offset; the most frequent, of several the lowest
      for (const LearnedPacket& p : c.packets)
        if (p.pair == pair && p.from != asker && has_msn(p.seen)) {
          const auto done = std::ranges::count_if(ends->second, [&](u32 end) {
            return psn_distance(end, p.seen.psn()) >=
                   (p.seen.is(Operation::Acknowledge) && !p.seen.is_ack());
          });
          ++counts[(p.seen.packet.aeth.msn - u32(done)) & kPsnMask];
        }
      if (counts.empty()) continue;
      offsets[{pair, other(asker)}] =
          std::ranges::max_element(counts, {}, [](const auto& n) { return n.second; })->first;
    }
  for (ReplayFrame& frame : capture.frames) {
    const Seen seen(frame);
    if (!has_msn(seen)) continue;
    for (const auto& [where, offset] : offsets)
      if (offset && where.second == frame.from &&
          c.pairs[where.first].qpn(other(frame.from)) == connection_named_by(seen.packet)) {
        u8* const bytes = frame.bytes.data();
        const Aeth& aeth = seen.packet.aeth;
        store_be<4>(bytes + seen.packet.transport_offset + kHeaderInfo<Bth>.bytes,
                    u32{aeth.syndrome} << 24 | ((aeth.msn - offset) & kPsnMask));
        const u32 icrc = icrc_of(bytes, seen.packet);
        for (u32 i = 0; i < 4; ++i) bytes[seen.packet.icrc_offset + i] = u8(icrc >> 8 * i);
      }
  }
}
}  // namespace hca::testbench
