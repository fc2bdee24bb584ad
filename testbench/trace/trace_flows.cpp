// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/trace_flows.h"

#include "testbench/trace/trace_stays.h"

namespace hca::testbench {
namespace {
constexpr u32 kIndexMask = 0xffff;
constexpr u32 kMostAtOnce = 4096;  // WQEs of one doorbell: more is a queue pair that began anew
}  // namespace

TraceFlows::Message& TraceFlows::posted(unsigned chip, u32 qpn, u32 index) {
  Message& message = messages_[{chip, qpn, index & kIndexMask}];
  message = {.number = ++count_, .psn = {}};
  return message;
}

std::optional<TraceFlows::Step> TraceFlows::step_of(Message& message, bool end) {
  if (message.ended) return std::nullopt;
  const bool begin = !message.begun;
  message.begun = true;
  message.ended = end;
  return Step{message.number, begin, end && !begin};
}

std::optional<TraceFlows::Step> TraceFlows::by_index(unsigned chip, u32 qpn, u32 index, bool end) {
  const auto found = messages_.find({chip, qpn, index & kIndexMask});
  if (found == messages_.end()) return std::nullopt;
  return step_of(found->second, end);
}

std::optional<TraceFlows::Step> TraceFlows::by_psn(unsigned chip, u32 qpn, u32 psn) {
  const auto found = index_of_.find({chip, qpn, psn});
  if (found == index_of_.end()) return std::nullopt;
  const auto message = messages_.find({chip, qpn, found->second});
  if (message == messages_.end() || message->second.psn != psn) return std::nullopt;
  return step_of(message->second);
}

std::optional<std::pair<unsigned, u32>> TraceFlows::peer_of(unsigned chip, u32 qpn) {
  if (peers_.empty())
    for (const auto& [key, bundle] : testbed_.bundles())
      for (const Endpoint& end : bundle)
        for (const QpPair& pair : pairs_of(end))
          peers_[{end.node, pair.own->qpn}] = {end.peer->node, pair.other->qpn};
  const auto found = peers_.find({chip, qpn});
  return found == peers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TraceFlows::Step> TraceFlows::frame(unsigned chip, u32 qpn, u32 psn,
                                                  bool is_request) {
  if (!is_request) return by_psn(chip, qpn, psn);
  const auto sender = peer_of(chip, qpn);
  return sender ? by_psn(sender->first, sender->second, psn) : std::nullopt;
}

std::optional<TraceFlows::Step> TraceFlows::step(unsigned chip, std::string_view block,
                                                 const engine::Event& event) {
  const std::string_view name = without_port(block);
  const u32 qpn = u32(event.a), b = u32(event.b), c = u32(event.c);
  const bool passed = event.kind == u16(blocks::Step::Passed);
  const bool completed = event.kind == u16(blocks::Step::Completed);
  if (name == "doorbell") {
    u32& from = rung_to_[{chip, qpn}];
    const u32 count = (b - from) & kIndexMask;
    const u32 first = count && count <= kMostAtOnce ? b - count : b - 1;
    from = b;
    for (u32 index = first; index != b; ++index) posted(chip, qpn, index);
    return by_index(chip, qpn, first);
  }
  if (name == "qp_scheduler" || name == "wqe_fetch") return by_index(chip, qpn, b);
  if (name == "requester" && passed) {
    const auto found = messages_.find({chip, qpn, c & kIndexMask});
    if (found == messages_.end()) return std::nullopt;
    if (!found->second.psn) {
      found->second.psn = b;
      index_of_[{chip, qpn, b}] = c & kIndexMask;
    }
    return found->second.psn == b ? step_of(found->second) : std::nullopt;
  }
  if (name == "requester" && completed) return by_index(chip, qpn, b);
  if (name == "packetizer" || name == "response_check") return by_psn(chip, qpn, b);
  if (name == "completion" && !proto::is_of_receive(proto::CqeOpcode(c)))
    return by_index(chip, qpn, b, true);
  if (name == "responder_check" || name == "responder_execute" || name == "responder_reply")
    return frame(chip, qpn, b, true);
  return std::nullopt;
}
}  // namespace hca::testbench
