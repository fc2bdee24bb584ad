// SPDX-License-Identifier: Apache-2.0
// What a set-up asks for, as far as it is known without a device: objects, their numbers and sizes.
#pragma once
#include <array>
#include <map>
#include <string>

#include "testbench/host/verbs.h"
#include "testbench/vectors/contents.h"
#include "testbench/vectors/packet.h"
#include "testbench/vectors/queue_state.h"

namespace hca::testbench {
// A CQ has a power of two of entries; the verbs ask for four or more.
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
struct PlannedSrq {
  u32 number, pd;
  SrqInitAttr init;  // but for its PD
};
struct PlannedQp {
  QpInitAttr init;                    // but for what it points to:
  std::string send_cq, recv_cq, srq;  // names; srq: empty if it has none
  u32 pd = 0, qpn = 0;
  proto::QpAttributes attributes{};
  QueueState state;
  PeerView peer;
  proto::AddressHandle to_peer{};  // UD
};

// In the order of the names. JSON that is not as vectors/README.md says throws std::runtime_error
// "place: what; allowed: ...".
struct SetupPlan {
  explicit SetupPlan(const JsonAt& setup);

  Symbols symbols;
  u32 ports = 1;
  proto::PortAttributes port{}, peer_port{};
  std::map<std::string, u32> pds;
  std::map<std::string, PlannedCq> cqs;
  std::map<std::string, PlannedRegion> regions;
  std::map<std::string, proto::MwAttributes> windows;
  std::map<std::string, PlannedSrq> srqs;
  std::map<std::string, PlannedQp> qps;
  std::array<u32, 2> loop{};  // QPNs; 0: no loop

  bool loops() const { return loop[0] != loop[1]; }
  bool is_of_loop(u32 qpn) const { return loops() && (qpn == loop[0] || qpn == loop[1]); }
  // The queue pair that `json` names with "qp"; the only one if it names none.
  const PlannedQp& qp_of(const JsonAt& json) const;
  // What build_packet and compare_packet ask for, but for the bytes of regions: as many are 0.
  PacketContext packet_context(const PlannedQp& qp) const;
  // How many bytes a value of bytes has.
  u64 count_bytes(const JsonAt& json) const;
  // A region, and an offset in it behind which so many bytes stand, of what vectors compare.
  const PlannedRegion& region_of(const JsonAt& name) const;
  void check_place(const JsonAt& json, u64 bytes) const;

 private:
  void plan_port(const JsonAt& setup);
  void plan_cqs(const JsonAt& setup);
  void plan_regions(const JsonAt& setup);
  void plan_windows(const JsonAt& setup);
  void plan_srqs(const JsonAt& setup);
  void plan_qps(const JsonAt& setup);
  void plan_loop(const JsonAt& setup);
  void plan_qp(PlannedQp& qp, const std::string& name, const JsonAt& json, u32 number);
  u32 pd_of(const JsonAt& json) const;
  // "at" and so many bytes behind it.
  void check_inside(const PlannedRegion& region, const JsonAt& json, u64 bytes) const;
};

// Of a set-up; 1 if it says nothing.
u32 ports_of(const JsonAt& setup);
}  // namespace hca::testbench
