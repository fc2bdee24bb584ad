// SPDX-License-Identifier: Apache-2.0
// The PSNs of the requester as a block between links, with contexts that arrive late: the effect of
// messages, packets, acknowledgements and timers on SendPsns. The C++ twin of
// rtl/requester_psn/requester_psn.sv.
//
// Contract: that of a LookUpUnit without regions. A step takes one beat and sees the effect of all
// earlier steps on its queue pair.
#pragma once
#include "model/blocks/twins/look_up_unit.h"
#include "model/device/connection.h"
#include "model/proto/transport/send_psns.h"

namespace hca::blocks {
enum class PsnStep : u8 {
  Start,    // its first PSN is `psn` (G1.1)
  Message,  // a message begins, if the window has room (G1.2, G1.4)
  // The packet at `index` of the message that starts at `psn` is sent or repeated: at send_psn, or
  // less than 2^23 after it, if an answer arrived before the repetition.
  Packet,
  Acknowledge,  // an ACK of `psn`, or a response (G12.1)
  GoBack,       // a NAK or RNR NAK for `psn`, or a missing response (G11.4, G12.3)
  Timeout,      // (G11.3)
  // RD: a RESYNC takes the place of all that is outstanding (G13.3)
  Resync,
  Count
};
// The number of PSNs that a message uses.
enum class PsnKind : u8 {
  Data,    // one per packet
  Read,    // one per packet of its response, all in one request packet
  Atomic,  // one
  Count
};
enum class PsnResult : u8 {
  Done,
  Full,   // the message must wait
  Ghost,  // refers to a PSN that is not outstanding: no effect (G12.1)
  Newest  // the same, but its credits count (C9-217)
};
inline constexpr std::array<std::string_view, std::size_t(PsnStep::Count)> kPsnStepNames{
    "Start", "Message", "Packet", "Acknowledge", "GoBack", "Timeout", "Resync"};
inline constexpr std::array<std::string_view, std::size_t(PsnKind::Count)> kPsnKindNames{
    "Data", "Read", "Atomic"};
inline constexpr std::array<std::string_view, 4> kPsnResultNames{"Done", "Full", "Ghost", "Newest"};

// A request to the PSN state of a queue pair.
struct PsnRequest {
  PsnStep step{};
  PsnKind kind{};
  proto::Psn psn = 0;
  u32 index = 0;     // Packet: PSNs of its message before it
  u32 byte_len = 0;  // of the message, up to 2^31
};
struct PsnAnswer {
  PsnResult result{};
  bool repeated = false;  // Packet: it was sent before
  bool progress = false;  // more is acknowledged than before (G11.6)
  // of the message, packet or RESYNC; otherwise from the oldest unacknowledged PSN on
  proto::PsnRange psns{};
  proto::SendPsns after{};
};
PsnAnswer step_psns(proto::SendPsns& psns, const PsnRequest& request, u32 path_mtu);

struct RequesterPsnItem {
  static constexpr const char* kUnit = "requester_psn";
  static constexpr engine::Cycle kLatency = 3;
  u32 qpn = 0;  // or the number of an EE context
  u32 path_mtu = 0;
  PsnRequest request{};
  proto::SendPsns* psns = nullptr;  // of the queue pair
  PsnAnswer* answer = nullptr;
  engine::Cycle context_late = 0, region_late = 0;

  bool falls() const { return false; }
  u32 bytes_in() const { return 0; }
  u32 number() const { return device::context_number(qpn); }
  u32 key() const { return 0; }
  u32 bytes_out() const { return 0; }
  void process() const { *answer = step_psns(*psns, request, path_mtu); }
};
using RequesterPsnUnit = LookUpUnit<RequesterPsnItem>;
}  // namespace hca::blocks
