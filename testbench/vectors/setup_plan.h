// SPDX-License-Identifier: Apache-2.0
// A set-up as far as it is known without a device: objects, their numbers and sizes.
#pragma once
#include <array>
#include <map>
#include <string>

#include "testbench/host/verbs.h"
#include "testbench/vectors/contents.h"
#include "testbench/vectors/packet.h"
#include "testbench/vectors/queue_state.h"

namespace hca::testbench {
// A CQ has a power of two of entries; the verbs create at least four.
inline constexpr u32 kMinCqEntries = 4, kMaxCqEntries = 1 << 16;

struct PlannedCq {
  u32 number, entries;
  bool has_events;
};
struct PlannedRegion {
  MemoryPlace place;  // without its bytes
  proto::MrAttributes attributes;
  u64 seed = 0;
  bool is_registered = true;
};
struct PlannedXrcDomain {
  u32 number, pd;
};
struct PlannedSrq {
  u32 number, pd;
  SrqInitAttr init;  // except its PD and CQ
  std::string cq{};  // XRC
};
struct PlannedEec {
  u32 eecn;
  proto::QpAttributes attributes{};
};
struct PlannedQp {
  QpInitAttr init;                    // except its pointers:
  std::string send_cq, recv_cq, srq;  // names; srq: empty if it has none
  u32 pd = 0, qpn = 0;
  proto::QpAttributes attributes{};
  QueueState state;
  PeerView peer;
  proto::AddressHandle to_peer{};  // UD
  proto::RdAddress rd_to_peer{};   // RD
};

// The lists are in the order of the names. JSON that violates vectors/README.md throws
// std::runtime_error "place: what; allowed: ...".
struct SetupPlan {
  explicit SetupPlan(const JsonAt& setup);

  Symbols symbols;
  u32 ports = 1;
  proto::PortAttributes port{}, peer_port{};
  std::map<std::string, u32> pds;
  std::map<std::string, PlannedXrcDomain> xrc_domains;
  std::map<std::string, u32> rd_domains;
  std::map<std::string, PlannedEec> ee_contexts;
  std::map<std::string, PlannedCq> cqs;
  std::map<std::string, PlannedRegion> regions;
  std::map<std::string, proto::MwAttributes> windows;
  std::map<std::string, PlannedSrq> srqs;
  std::map<std::string, PlannedQp> qps;
  std::array<u32, 2> loop{};  // QPNs; 0: no loop

  bool loops() const { return loop[0] != loop[1]; }
  bool is_of_loop(u32 qpn) const { return loops() && (qpn == loop[0] || qpn == loop[1]); }
  // The queue pair that `json` names with "qp"; without it, the only one.
  const PlannedQp& qp_of(const JsonAt& json) const;
  // The context for build_packet and compare_packet, except for the bytes of regions, which are 0.
  PacketContext packet_context(const PlannedQp& qp) const;
  // The length of a value of bytes.
  u64 count_bytes(const JsonAt& json) const;
  // The memory that vectors compare: a region, and an offset with this many bytes after it.
  const PlannedRegion& region_of(const JsonAt& name) const;
  void check_place(const JsonAt& json, u64 bytes) const;

 private:
  void plan_port(const JsonAt& setup);
  void plan_cqs(const JsonAt& setup);
  void plan_regions(const JsonAt& setup);
  void plan_windows(const JsonAt& setup);
  void plan_xrc_domains(const JsonAt& setup);
  void plan_srqs(const JsonAt& setup);
  void plan_sides(PlannedQp& qp, const JsonAt& json);
  // setup_rd.cpp
  void plan_rd_domains(const JsonAt& setup);
  void plan_ee_contexts(const JsonAt& setup);
  void plan_rd(PlannedQp& qp, const JsonAt& json);
  proto::QpAttributes attributes_of(const JsonAt& json, const proto::QpAttributes& defaults) const;
  void plan_qps(const JsonAt& setup);
  void plan_loop(const JsonAt& setup);
  void plan_qp(PlannedQp& qp, const std::string& name, const JsonAt& json, u32 number);
  u32 pd_of(const JsonAt& json) const;
  // Checks that "at" and this many bytes lie inside.
  void check_inside(const PlannedRegion& region, const JsonAt& json, u64 bytes) const;
};

// The attributes of a queue pair or an EE context that gives none, without its destination.
proto::QpAttributes default_attributes();
// The object with this name; otherwise an error at `where`.
template <class Map>
const auto& one_of(const Map& map, const std::string& name, const JsonAt& where, const char* kind) {
  const auto found = map.find(name);
  if (found != map.end()) return found->second;
  std::string names;
  for (const auto& [other, unused] : map) names += (names.empty() ? "" : ", ") + other;
  where.refuse("there is no " + (kind + (" '" + name)) + "'",
               names.empty() ? "none: the set-up has none" : names);
}

// The ports of a set-up; default 1.
u32 ports_of(const JsonAt& setup);
}  // namespace hca::testbench
