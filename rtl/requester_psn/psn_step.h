// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of rtl/requester_psn/requester_psn.sv: `psn_step_t`, `psn_context_t` and
// `psn_stepped_t` of hca_pkg.
#pragma once
#include "model/proto/transport/send_psns.h"
#include "rtl/common/look_up_pins.h"
#include "rtl/common/side_band.h"

namespace hca::rtl {
// A step of a queue pair's PSNs: blocks::PsnRequest.
struct PsnStepBeat {
  bool first, last;
  u8 bytes;  // of the beat: none
  u8 op, kind;
  bool ee;  // of an EE context: qpn is its number
  u32 qpn, psn, index, byte_len;
};

// The part of a queue pair's context that the block uses.
struct PsnConfig {
  u16 path_mtu;
};
struct PsnContext : PsnConfig {
  proto::SendPsns state;

  static constexpr std::string_view kName = "psn context";
  static constexpr auto parts() {
    return make_rows(Part<PsnContext, PsnConfig>{},
                     Part<PsnContext, proto::SendPsns>{"state", &PsnContext::state});
  }
};

// The result of a step, and the new context.
struct PsnSteppedStart {
  bool first, last;
  u8 op, result;  // result: enum PsnResult
  bool repeated;  // the packet has been sent before
  bool progress;  // more is acknowledged than before
  bool unacked;   // something is unacknowledged
  bool ee;
  u32 qpn, psn, count;  // PSNs that a message or packet takes; else the oldest unacknowledged
};
struct PsnStepped : PsnSteppedStart {
  using Pins = ContextPins<PsnContext>;
  proto::SendPsns state;
  // Bit 24: of an EE context.
  u32 number_of_context() const { return u32{ee} << 24 | qpn; }

  static constexpr std::string_view kName = "psn stepped";
  static constexpr auto parts() {
    return make_rows(Part<PsnStepped, PsnSteppedStart>{},
                     Part<PsnStepped, proto::SendPsns>{"state", &PsnStepped::state});
  }
};
}  // namespace hca::rtl

namespace hca::proto {
// clang-format off
template <>
struct Layout<rtl::PsnStepBeat> {
  using S = rtl::PsnStepBeat;
  static constexpr std::string_view name = "psn step";
  static constexpr auto fields = make_rows(
      field(&S::qpn,      "qpn",      24),
      field(&S::psn,      "psn",      24),
      field(&S::index,    "index",    24),
      field(&S::byte_len, "byte_len", 32),
      reserved("spare", 1, ""),
      field(&S::ee,       "ee",       1),
      field(&S::op,       "op",       3),
      field(&S::kind,     "kind",     2),
      field(&S::first,    "first",    1),
      field(&S::last,     "last",     1),
      field(&S::bytes,    "bytes",    7));
};
template <>
struct Layout<SendPsns> {
  using S = SendPsns;
  static constexpr std::string_view name = "psn state";
  static constexpr auto fields = make_rows(
      field(&S::next_psn,    "next_psn",    24),
      field(&S::unacked_psn, "unacked_psn", 24),
      field(&S::sent_psn,    "sent_psn",    24),
      field(&S::send_psn,    "send_psn",    24));
};
template <>
struct Layout<rtl::PsnConfig> {
  using C = rtl::PsnConfig;
  static constexpr std::string_view name = "psn config";
  static constexpr auto fields = make_rows(
      reserved("spare", 3, ""),
      field(&C::path_mtu, "path_mtu", 13));
};
template <>
struct Layout<rtl::PsnSteppedStart> {
  using S = rtl::PsnSteppedStart;
  static constexpr std::string_view name = "psn stepped start";
  static constexpr auto fields = make_rows(
      field(&S::qpn,      "qpn",      24),
      field(&S::psn,      "psn",      24),
      field(&S::count,    "count",    24),
      reserved("spare", 5, ""),
      field(&S::ee,       "ee",       1),
      field(&S::op,       "op",       3),
      field(&S::result,   "result",   2),
      field(&S::repeated, "repeated", 1),
      field(&S::progress, "progress", 1),
      field(&S::unacked,  "unacked",  1),
      field(&S::first,    "first",    1),
      field(&S::last,     "last",     1));
};
// clang-format on
}  // namespace hca::proto
