// SPDX-License-Identifier: Apache-2.0
// The PSNs of the requester as a block between links, with contexts that come late: what messages,
// packets, acknowledgements and timers do to SendPsns. The C++ twin of
// rtl/requester_psn/requester_psn.sv.
//
// Contract: that of a LookUpUnit without regions. A step takes one beat and sees what all in front
// of it left of its queue pair.
#pragma once
#include "model/blocks/twins/look_up_unit.h"
#include "model/proto/transport/send_psns.h"

namespace hca::blocks {
enum class PsnStep : u8 {
  Start,    // its first PSN is `psn` (G1.1)
  Message,  // a message begins, if the window has room for it (G1.2, G1.4)
  // The packet at `index` of the message from `psn` on is sent, or sent again: at send_psn, or
  // behind it by less than 2^23, where an answer has overtaken what is repeated.
  Packet,
  Acknowledge,  // an ACK of `psn`, or a response (G12.1)
  GoBack,       // a NAK or RNR NAK of `psn`, or a response of it is missing (G11.4, G12.3)
  Timeout,      // (G11.3)
  Count
};
// Of a message: how many PSNs it takes.
enum class PsnKind : u8 {
  Data,    // one a packet
  Read,    // one for each packet of its response, all in one packet
  Atomic,  // one
  Count
};
enum class PsnResult : u8 {
  Done,
  Full,   // the message must wait
  Ghost,  // names a PSN that is not outstanding: nothing changes (G12.1)
  Newest  // the same, but its credits count (C9-217)
};
inline constexpr std::array<std::string_view, std::size_t(PsnStep::Count)> kPsnStepNames{
    "Start", "Message", "Packet", "Acknowledge", "GoBack", "Timeout"};
inline constexpr std::array<std::string_view, std::size_t(PsnKind::Count)> kPsnKindNames{
    "Data", "Read", "Atomic"};
inline constexpr std::array<std::string_view, 4> kPsnResultNames{"Done", "Full", "Ghost", "Newest"};

// What is asked of the PSNs of a queue pair.
struct PsnRequest {
  PsnStep step{};
  PsnKind kind{};
  proto::Psn psn = 0;
  u32 index = 0;     // Packet: PSNs of its message in front of it
  u32 byte_len = 0;  // of the message, up to 2^31
};
struct PsnAnswer {
  PsnResult result{};
  bool repeated = false;   // Packet: it has been sent before
  bool progress = false;   // more is acknowledged than was (G11.6)
  proto::PsnRange psns{};  // of the message or packet; else from the oldest unacknowledged PSN on
  proto::SendPsns after{};
};
PsnAnswer step_psns(proto::SendPsns& psns, const PsnRequest& request, u32 path_mtu);

struct RequesterPsnItem {
  static constexpr const char* kUnit = "requester_psn";
  static constexpr engine::Cycle kLatency = 3;
  u32 qpn = 0, path_mtu = 0;
  PsnRequest request{};
  proto::SendPsns* psns = nullptr;  // of the queue pair
  PsnAnswer* answer = nullptr;
  engine::Cycle context_late = 0, region_late = 0;

  bool falls() const { return false; }
  u32 bytes_in() const { return 0; }
  u32 number() const { return qpn; }
  u32 key() const { return 0; }
  u32 bytes_out() const { return 0; }
  void process() const { *answer = step_psns(*psns, request, path_mtu); }
};
using RequesterPsnUnit = LookUpUnit<RequesterPsnItem>;
}  // namespace hca::blocks
