// SPDX-License-Identifier: Apache-2.0
#include "tlm/wire/fault_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/wire/ip_checksum.h"
#include "model/proto/wire/packet.h"

namespace hca::tlm_ {
namespace {
constexpr u64 kMillion = 1'000'000;

// Structure only; the frame may be wrong in many ways and still have a BTH.
bool has_bth(const proto::FrameView& frame, proto::LinkLayer link, proto::ParsedPacket& packet) {
  return proto::parse(frame, link, packet) == proto::PacketVerdict::Good;
}
}  // namespace

std::string to_string(const FaultRecord& r) {
  return fmt::format("{:.3f} us: {} from end {}, DestQP {:#x}, PSN {:#x}, occurrence {}",
                     double(r.picoseconds) * 1e-6, kFaultNames[unsigned(r.action)], r.direction,
                     r.qpn, r.psn, r.occurrence);
}

FaultScript::FaultScript(std::vector<FaultRule> rules, proto::LinkLayer link, u64 seed)
    : link_(link), seed_(seed) {
  for (const FaultRule& rule : rules) add(rule);
}

void FaultScript::add(const FaultRule& rule) {
  const u32 index = u32(rules_.size());
  rules_.push_back({rule, engine::Random(seed_ + added_++)});
  if (rule.qpn && rule.psn)
    exact_.emplace(key_of(rule.direction, *rule.qpn, *rule.psn), index);
  else
    wide_.push_back(index);
}

void FaultScript::clear() {
  rules_.clear();
  exact_.clear();
  wide_.clear();
  seen_.clear();
}

bool FaultScript::fires(State& s) {
  ++s.matches;
  if (s.rule.occurrence) return s.matches == s.rule.occurrence;
  return s.random.chance(s.rule.per_million, kMillion);
}

const FaultRule* FaultScript::decide(u8 direction, const proto::FrameView& frame, u64 picoseconds) {
  proto::ParsedPacket packet;
  const bool parsed = has_bth(frame, link_, packet);
  const u64 key = parsed ? key_of(direction, packet.bth.dest_qp, packet.bth.psn) : 0;
  const u64 occurrence = parsed ? ++seen_[key] : 0;
  u32 first = u32(rules_.size());
  for (const u32 index : wide_) {
    State& s = rules_[index];
    const FaultRule& r = s.rule;
    if (r.direction != direction) continue;
    if (r.qpn && (!parsed || packet.bth.dest_qp != *r.qpn)) continue;
    if (r.psn && (!parsed || packet.bth.psn != *r.psn)) continue;
    if (fires(s)) first = std::min(first, index);
  }
  if (parsed && !exact_.empty())
    for (auto [at, end] = exact_.equal_range(key); at != end; ++at)
      if (fires(rules_[at->second])) first = std::min(first, at->second);
  if (first == rules_.size()) return nullptr;
  ++rules_[first].done;
  const FaultRule* chosen = &rules_[first].rule;
  records_.push_back({picoseconds, chosen->action, direction, parsed ? packet.bth.dest_qp : 0,
                      parsed ? packet.bth.psn : 0, occurrence, chosen->delay});
  return chosen;
}

std::vector<FaultUse> FaultScript::uses() const {
  std::vector<FaultUse> uses;
  for (const State& s : rules_) uses.push_back({s.rule.number, s.matches, s.done});
  return uses;
}

void FrameCopy::corrupt(proto::LinkLayer link, engine::Random& random) {
  proto::ParsedPacket packet;
  if (empty()) return;
  u64 first = 0, end = bytes_;
  if (has_bth(frame(), link, packet)) {
    // Behind the BTH all is covered: extension headers, payload, pad and the ICRC.
    first = packet.transport_offset + proto::bytes_of<proto::Bth>();
    end = packet.icrc_offset + proto::kIcrcBytes;
  }
  const u8 bit = u8(1u << random.below(8));
  const u64 at = first + random.below(end - first);
  if (at < held_.size()) held_[at] ^= bit;
  crcs_ = {};
}

bool FrameCopy::mark_congestion(proto::LinkLayer link) {
  proto::ParsedPacket packet;
  if (!has_bth(frame(), link, packet)) return false;
  u8* network = held_.data() + packet.network_offset;
  switch (packet.framing) {
    case proto::Framing::RoceV2Ip4: {
      auto ip = proto::decode<proto::Ipv4>(network);
      const u8 marked = ip.tos | proto::kEcnCongestionExperienced;
      ip.checksum = proto::checksum_after(ip.checksum, ip.tos, marked);
      ip.tos = marked;
      proto::encode(ip, network);
      return true;
    }
    case proto::Framing::RoceV2Ip6: {
      auto ip = proto::decode<proto::Ipv6>(network);
      ip.traffic_class |= proto::kEcnCongestionExperienced;
      proto::encode(ip, network);
      return true;
    }
    case proto::Framing::RoceV1:
      return false;
    default: {
      u8* transport = held_.data() + packet.transport_offset;
      auto bth = proto::decode<proto::Bth>(transport);
      bth.fecn = true;
      proto::encode(bth, transport);
      crcs_.vcrc_ok = false;
      return true;
    }
  }
}
}  // namespace hca::tlm_
