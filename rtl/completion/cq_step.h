// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of rtl/completion/completion.sv: `cq_step_t`, `cq_context_t` and
// `cq_stepped_t` of hca_pkg.
#pragma once
#include "model/proto/interface/device.h"
#include "rtl/common/look_up_pins.h"
#include "rtl/common/side_band.h"

namespace hca::rtl {
// A step of a CQ: blocks::CqRequest, the fields of the CQE one by one.
struct CqStepBeat {
  bool first, last;
  u8 bytes;  // of the beat: none
  u8 op;     // enum CqStep
  u32 cqn, consumer;
  u8 opcode, status;
  bool with_immediate, with_invalidate, solicited, has_grh;
  u8 vendor_error;
  u32 qpn;
  u16 wqe_index;
  u32 byte_len, immediate, src_qp, srqn;
  u16 slid, pkey_index;
  u8 sl;
};

// The part of a CQ's context that the block uses.
struct CqConfig {
  bool allocated;
  u8 log_entries;
  u64 address;
};
struct CqState {
  u32 producer, consumer;
  bool overflowed;
};
struct CqContext : CqConfig {
  CqState state;

  static constexpr std::string_view kName = "cq context";
  static constexpr auto parts() {
    return make_rows(Part<CqContext, CqConfig>{},
                     Part<CqContext, CqState>{"state", &CqContext::state});
  }
};

// The result of a step, and the new context.
struct CqSteppedStart {
  bool first, last;
  u8 op, result;   // enums CqStep, CqResult
  bool solicited;  // Written: counts for a CQ that is armed for solicited completions
  u32 cqn;
  u64 address;  // Written: address of the entry
};
// cqe: the entry; for a CQE without an entry its fields, without phase.
struct CqStepped : CqSteppedStart {
  using Pins = ContextPins<CqContext>;
  proto::Cqe cqe;
  CqState state;
  u32 number_of_context() const { return cqn; }

  static constexpr std::string_view kName = "cq stepped";
  static constexpr auto parts() {
    return make_rows(Part<CqStepped, CqSteppedStart>{},
                     Part<CqStepped, proto::Cqe>{"cqe", &CqStepped::cqe},
                     Part<CqStepped, CqState>{"state", &CqStepped::state});
  }
};
}  // namespace hca::rtl

namespace hca::proto {
// clang-format off
template <>
struct Layout<rtl::CqStepBeat> {
  using S = rtl::CqStepBeat;
  static constexpr std::string_view name = "cq step";
  static constexpr auto fields = make_rows(
      field(&S::cqn,             "cqn",             24),
      field(&S::consumer,        "consumer",        32),
      field(&S::qpn,             "qpn",             24),
      field(&S::src_qp,          "src_qp",          24),
      field(&S::srqn,            "srqn",            24),
      field(&S::byte_len,        "byte_len",        32),
      field(&S::immediate,       "immediate",       32),
      field(&S::wqe_index,       "wqe_index",       16),
      field(&S::slid,            "slid",            16),
      field(&S::pkey_index,      "pkey_index",      16),
      field(&S::opcode,          "opcode",          8),
      field(&S::status,          "status",          8),
      field(&S::vendor_error,    "vendor_error",    8),
      field(&S::sl,              "sl",              4),
      field(&S::with_immediate,  "with_immediate",  1),
      field(&S::with_invalidate, "with_invalidate", 1),
      field(&S::solicited,       "solicited",       1),
      field(&S::has_grh,         "has_grh",         1),
      reserved("spare", 6, ""),
      field(&S::op,              "op",              1),
      field(&S::first,           "first",           1),
      field(&S::last,            "last",            1),
      field(&S::bytes,           "bytes",           7));
};
template <>
struct Layout<rtl::CqConfig> {
  using C = rtl::CqConfig;
  static constexpr std::string_view name = "cq config";
  static constexpr auto fields = make_rows(
      field(&C::address,     "address",     64),
      reserved("spare", 2, ""),
      field(&C::allocated,   "allocated",   1),
      field(&C::log_entries, "log_entries", 5));
};
template <>
struct Layout<rtl::CqState> {
  using S = rtl::CqState;
  static constexpr std::string_view name = "cq state";
  static constexpr auto fields = make_rows(
      field(&S::producer,   "producer",   32),
      field(&S::consumer,   "consumer",   32),
      reserved("spare", 7, ""),
      field(&S::overflowed, "overflowed", 1));
};
template <>
struct Layout<rtl::CqSteppedStart> {
  using S = rtl::CqSteppedStart;
  static constexpr std::string_view name = "cq stepped start";
  static constexpr auto fields = make_rows(
      field(&S::address,   "address",   64),
      field(&S::cqn,       "cqn",       24),
      reserved("spare", 2, ""),
      field(&S::op,        "op",        1),
      field(&S::result,    "result",    2),
      field(&S::solicited, "solicited", 1),
      field(&S::first,     "first",     1),
      field(&S::last,      "last",      1));
};
// clang-format on
}  // namespace hca::proto
