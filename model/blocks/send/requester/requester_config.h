// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/engines.h"
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct RequesterConfig {
  Cycle latency = 4, interval = 2;
  u32 engines = 1;
  Cycle engine_interval = 1;
  EngineAssignment assignment = EngineAssignment::Modulo;
  Cycle read_interval = 0;
};
struct RequesterCounters {
  u64 messages = 0, packets = 0, resent = 0, timeouts = 0, sequence_naks = 0, implied_naks = 0,
      rnr_naks = 0, responses = 0, failed = 0, selective_naks = 0;
  // Cycles, summed over all queue pairs.
  u64 waits_reads = 0, waits_fence = 0, waits_credits = 0, waits_window = 0, waits_rnr = 0,
      waits_rate = 0, waits_timeout = 0, waits_read_interval = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::RequesterConfig> {
  static constexpr std::string_view block = "requester";
  static constexpr std::string_view sentence = "messages to packets";
  using C = hca::blocks::RequesterConfig;
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a packet's turn to the packetizer, without look-ups",
                                 "between two packets"),
      join_rows(hca::blocks::engine_rows<C>("between two packets of an engine"),
                make_rows(knob(
                    "read_interval", &C::read_interval, Unit::Cycles, 0, 100'000,
                    "from a READ of a queue pair to its next packet; 0 cycles: as any packet"))));
};
template <>
struct hca::engine::Counters<hca::blocks::RequesterCounters> {
  using C = hca::blocks::RequesterCounters;
  static constexpr std::string_view block = "requester";
  static constexpr auto rows = make_rows(
      counter("messages", &C::messages, "messages", "messages begun"),
      counter("packets", &C::packets, "packets", "packets cut, repetitions included"),
      counter("resent", &C::resent, "packets", "packets sent again"),
      counter("timeouts", &C::timeouts, "timeouts", "transport timers that expired"),
      counter("sequence_naks", &C::sequence_naks, "packets", "NAK PSN sequence error received"),
      counter("selective_naks", &C::selective_naks, "packets",
              "selective NAKs received (selective_repeat)"),
      counter("implied_naks", &C::implied_naks, "packets",
              "responses that revealed a missing earlier one"),
      counter("responses", &C::responses, "packets", "READ and ATOMIC responses taken"),
      counter("rnr_naks", &C::rnr_naks, "packets", "RNR NAK received"),
      counter("failed", &C::failed, "WQEs",
              "work requests that ended in error, without flushed ones"),
      counter("waits_reads", &C::waits_reads, kWaited,
              "READs and ATOMICs in flight (max_rd_atomic), of all queue pairs"),
      counter("waits_fence", &C::waits_fence, kWaited,
              "READs and ATOMICs before a fence, of all queue pairs"),
      counter("waits_credits", &C::waits_credits, kWaited,
              "receive WQEs that the peer advertises, of all queue pairs"),
      counter("waits_window", &C::waits_window, kWaited,
              "acknowledgements, as 2^23 PSNs are in flight, of all queue pairs"),
      counter("waits_rnr", &C::waits_rnr, kWaited, "RNR timers, of all queue pairs"),
      counter("waits_rate", &C::waits_rate, kWaited, "rate limits, of all queue pairs"),
      counter("waits_read_interval", &C::waits_read_interval, kWaited,
              "read_interval after a READ, of all queue pairs"),
      counter("waits_timeout", &C::waits_timeout, kWaited,
              "transport timers that then expired, of all queue pairs"));
};
