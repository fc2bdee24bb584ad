// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_restarts.h"

#include <algorithm>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/syndrome.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::size_t kFollowing = 2;  // packets that must go on from a PSN that went back

// ---- Reliable: detected by answers
bool tells_msn(const JudgedPacket& p) {
  return !p.row().is_request && p.p.has(Ext::Aeth) &&
         syndrome_kind(p.p.aeth.syndrome) != SyndromeKind::Reserved;
}
// Messages that end in requests from `at` on, before the frame `until`.
u32 ends_between(const Flow& flow, std::size_t at, std::size_t until) {
  u32 ends = 0;
  for (std::size_t i = at; i < flow.packets.size() && flow.packets[i]->number < until; ++i) {
    const OpcodeRow& row = flow.packets[i]->row();
    ends += row.is_request && ends_message(row.position);
  }
  return ends;
}

// Whether the answers after request `at` count messages from 0 on, though more were counted before.
// `repeats`: its PSN was sent before, and the answer to a repetition counts what was counted.
bool counts_anew(const Flow& flow, std::size_t at, const Flow& answers, bool repeats) {
  const JudgedPacket& first = *flow.packets[at];
  const JudgedPacket *before = nullptr, *after = nullptr, *then = nullptr;
  for (const JudgedPacket* p : answers.packets) {
    if (!tells_msn(*p)) continue;
    if (p->number < first.number) {
      before = p;
    } else if (!after) {
      if (psn_distance(first.psn(), p->psn()) < 0) return false;  // it answers what was before
      after = p;
    } else if (!then) {
      then = p;
    }
  }
  if (!before || !after) return false;
  const u32 ends = ends_between(flow, at, after->number), msn = after->p.aeth.msn;
  const s32 least = repeats || !ends ? 0 : 1;  // further on than before
  if (msn > ends || psn_distance(before->p.aeth.msn, msn) >= least) return false;
  return !then || psn_sub(then->p.aeth.msn, msn) <= ends_between(flow, at, then->number);
}

// The first request with which a new connection begins.
std::optional<std::size_t> restart_of(const Flow& flow, const Flow& answers) {
  std::optional<u32> first, next;
  for (std::size_t i = 0; i < flow.packets.size(); ++i) {
    const JudgedPacket& p = *flow.packets[i];
    if (!p.row().is_request) continue;
    if (!first) first = next = p.psn();
    const bool ahead = psn_distance(*next, p.psn()) > 0, goes_on = p.psn() == *next;
    const bool repeats = !ahead && !goes_on && psn_distance(*first, p.psn()) >= 0;
    if (!goes_on && begins_message(p.row().position) && counts_anew(flow, i, answers, repeats))
      return i;
    if (goes_on || ahead) next = psn_add(p.psn(), psns_taken(p, flow.mtu));
  }
  return std::nullopt;
}

// ---- Unreliable: the PSN goes back, and what follows goes on from there
bool goes_on_from(const Flow& flow, std::size_t at) {
  u32 next = psn_add(flow.packets[at]->psn(), 1);
  if (at + kFollowing >= flow.packets.size()) return false;
  for (std::size_t i = 1; i <= kFollowing; ++i, next = psn_add(next, 1))
    if (flow.packets[at + i]->psn() != next) return false;
  return true;
}
bool is_copy_of_earlier(const Flow& flow, std::size_t at) {
  const JudgedPacket& p = *flow.packets[at];
  return std::any_of(flow.packets.begin(), flow.packets.begin() + std::ptrdiff_t(at),
                     [&](const JudgedPacket* q) {
                       return q->psn() == p.psn() && q->p.bth.opcode == p.p.bth.opcode &&
                              std::equal(q->bytes.begin() + q->p.transport_offset, q->bytes.end(),
                                         p.bytes.begin() + p.p.transport_offset, p.bytes.end());
                     });
}
std::optional<std::size_t> restart_without_answers(const Flow& flow) {
  std::optional<u32> next;
  for (std::size_t i = 0; i < flow.packets.size(); ++i) {
    const JudgedPacket& p = *flow.packets[i];
    const bool back = next && psn_distance(*next, p.psn()) < 0;
    if (back && begins_message(p.row().position) && !is_copy_of_earlier(flow, i) &&
        goes_on_from(flow, i))
      return i;
    if (!back) next = psn_add(p.psn(), 1);
  }
  return std::nullopt;
}

// What comes from frame `number` on is a flow of its own.
std::size_t split(std::vector<Flow>& flows, std::size_t at, std::size_t number) {
  Flow later = flows[at];
  auto& packets = flows[at].packets;
  const auto from = std::ranges::lower_bound(packets, number, {}, &JudgedPacket::number);
  later.packets.assign(from, packets.end());
  packets.erase(from, packets.end());
  ++later.incarnation;
  later.cm.reset();
  flows.push_back(std::move(later));
  return flows.size() - 1;
}
}  // namespace

void split_restarts(std::vector<Flow>& flows) {
  for (std::size_t i = 0; i < flows.size(); ++i) {  // what is split off is looked at as well
    const Flow& flow = flows[i];
    const bool reliable = is_reliable(flow.service);
    if (reliable ? !flow.mate : flow.service != Service::Uc && flow.service != Service::Ud)
      continue;
    const auto at = reliable ? restart_of(flow, flows[*flow.mate]) : restart_without_answers(flow);
    if (!at || *at == 0) continue;
    const std::size_t number = flow.packets[*at]->number, mate = flow.mate.value_or(i);
    const std::size_t later = split(flows, i, number);
    if (!reliable) {
      flows[later].mate.reset();
      continue;
    }
    const std::size_t its_mate = split(flows, mate, number);
    flows[later].mate = its_mate, flows[its_mate].mate = later;
  }
}
}  // namespace hca::testbench
