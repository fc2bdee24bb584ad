// SPDX-License-Identifier: Apache-2.0
// Irregularities on the reliable queue pairs of a port, one counter per cause. QueryTransport
// returns them.
#pragma once
#include <array>

#include "model/proto/interface/device.h"
#include "model/proto/transport/request_causes.h"

namespace hca::proto {
struct TransportCounters {
  // Requests, in the order of RequestCause.
  u64 duplicate = 0, nak_pending = 0, psn_ahead = 0, bad_sequence = 0, unsupported = 0;
  u64 too_many_reads = 0, no_receive_wqe = 0, srq_failed = 0, bad_length = 0, misaligned = 0;
  u64 bad_rkey = 0, not_saved = 0, failed = 0;
  // Requester side.
  u64 implied_naks = 0, timeouts = 0;
  // XRC requests.
  u64 no_xrc_srq = 0, wrong_xrc_domain = 0;
  // RD requests.
  u64 no_rd_queue = 0, wrong_rd_domain = 0;
};
template <>
struct Layout<TransportCounters> {
  using T = TransportCounters;
  static constexpr std::string_view name = "transport counters";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&T::duplicate,      "Duplicate",    64, "requests before the expected PSN: answered again or dropped"),
      field(&T::nak_pending,    "NakPending",   64, "requests ahead of the expected PSN, dropped after a NAK"),
      field(&T::psn_ahead,      "PsnAhead",     64, "NAK PSN sequence error"),
      field(&T::bad_sequence,   "BadSequence",  64, "NAK invalid request: sequence of OpCodes"),
      field(&T::unsupported,    "Unsupported",  64, "NAK invalid request: OpCode"),
      field(&T::too_many_reads, "TooManyReads", 64, "NAK invalid request: READs and ATOMICs beyond the limit"),
      field(&T::no_receive_wqe, "NoReceiveWqe", 64, "RNR NAK"),
      field(&T::srq_failed,     "SrqFailed",    64, "NAK remote operational error: SRQ"),
      field(&T::bad_length,     "BadLength",    64, "NAK invalid request: length"),
      field(&T::misaligned,     "Misaligned",   64, "NAK invalid request: ATOMIC not aligned"),
      field(&T::bad_rkey,       "BadRkey",      64, "NAK remote access error"),
      field(&T::not_saved,      "NotSaved",     64, "duplicate READs and ATOMICs dropped because no saved entry answers them"),
      field(&T::failed,         "Failed",       64, "requests with a bad receive WQE or a bad key to invalidate"),
      field(&T::implied_naks,   "ImpliedNaks",  64, "responses missing before a later answer"),
      field(&T::timeouts,       "Timeouts",     64, "transport timers that expired"),
      field(&T::no_xrc_srq,     "NoXrcSrq",     64, "NAK invalid RD request: XRCETH names no SRQ of XRC"),
      field(&T::wrong_xrc_domain, "WrongXrcDomain", 64, "NAK invalid RD request: the SRQ belongs to another XRC domain"),
      field(&T::no_rd_queue,    "NoRdQueue",    64, "NAK invalid RD request: no queue pair of RD that takes requests"),
      field(&T::wrong_rd_domain, "WrongRdDomain", 64, "NAK invalid RD request: the queue pair belongs to another RD domain"));
  // clang-format on
};

struct CountedCause {
  RequestCause cause;
  u64 TransportCounters::*counter;
};
inline constexpr std::array kCountedCauses{
    // clang-format off
    CountedCause{RequestCause::NoXrcSrq,             &TransportCounters::no_xrc_srq},
    CountedCause{RequestCause::WrongXrcDomain,       &TransportCounters::wrong_xrc_domain},
    CountedCause{RequestCause::NoRdQueue,            &TransportCounters::no_rd_queue},
    CountedCause{RequestCause::WrongRdDomain,        &TransportCounters::wrong_rd_domain},
    CountedCause{RequestCause::Duplicate,            &TransportCounters::duplicate},
    CountedCause{RequestCause::NakPending,           &TransportCounters::nak_pending},
    CountedCause{RequestCause::PsnAhead,             &TransportCounters::psn_ahead},
    CountedCause{RequestCause::BadSequence,          &TransportCounters::bad_sequence},
    CountedCause{RequestCause::Unsupported,          &TransportCounters::unsupported},
    CountedCause{RequestCause::TooManyReads,         &TransportCounters::too_many_reads},
    CountedCause{RequestCause::NoReceiveWqe,         &TransportCounters::no_receive_wqe},
    CountedCause{RequestCause::SharedQueueFailed,    &TransportCounters::srq_failed},
    CountedCause{RequestCause::BadLength,            &TransportCounters::bad_length},
    CountedCause{RequestCause::Misaligned,           &TransportCounters::misaligned},
    CountedCause{RequestCause::BadRkey,              &TransportCounters::bad_rkey},
    CountedCause{RequestCause::NotSaved,             &TransportCounters::not_saved},
    CountedCause{RequestCause::ReceiveTooShort,      &TransportCounters::failed},
    CountedCause{RequestCause::LocalProtection,      &TransportCounters::failed},
    CountedCause{RequestCause::BadReceiveWqe,        &TransportCounters::failed},
    CountedCause{RequestCause::UnreadableReceiveWqe, &TransportCounters::failed},
    CountedCause{RequestCause::BadInvalidate,        &TransportCounters::failed},
    CountedCause{RequestCause::UnreadableMemory,     &TransportCounters::failed},
    // clang-format on
};
// nullptr: the cause has a drop counter, or no counter.
constexpr u64 TransportCounters::*counter_of(RequestCause cause) {
  for (const CountedCause& row : kCountedCauses)
    if (row.cause == cause) return row.counter;
  return nullptr;
}
static_assert(counter_of(RequestCause::PsnAhead) == &TransportCounters::psn_ahead);
static_assert(!counter_of(RequestCause::BadPkey));
}  // namespace hca::proto
