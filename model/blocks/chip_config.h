// SPDX-License-Identifier: Apache-2.0
// All knobs of one HCA.
#pragma once
#include "model/blocks/command_config.h"
#include "model/blocks/completion/completion_config.h"
#include "model/blocks/completion/event_config.h"
#include "model/blocks/lib/limits.h"
#include "model/blocks/memory/context_cache_config.h"
#include "model/blocks/memory/protection_config.h"
#include "model/blocks/memory/qp_context_config.h"
#include "model/blocks/payload.h"
#include "model/blocks/port/icrc_unit_config.h"
#include "model/blocks/port/link_control_config.h"
#include "model/blocks/port/port_config.h"
#include "model/blocks/receive/congestion_config.h"
#include "model/blocks/receive/responder_check_config.h"
#include "model/blocks/receive/responder_execute/responder_execute_config.h"
#include "model/blocks/receive/responder_reply_config.h"
#include "model/blocks/receive/response_check_config.h"
#include "model/blocks/send/doorbell_config.h"
#include "model/blocks/send/packetizer_config.h"
#include "model/blocks/send/qp_scheduler_config.h"
#include "model/blocks/send/requester/requester_config.h"
#include "model/blocks/send/wqe_fetch_config.h"
#include "model/proto/interface/device.h"
#include "model/proto/interface/events.h"
#include "model/proto/transport/transport_options.h"

namespace hca::blocks {
struct CoreConfig {
  u64 clock = 400'000'000;  // Hz, as requested
  u32 max_qps = 1 << 16, max_cqs = 1 << 16, max_eqs = 64, max_regions = 1 << 20, max_srqs = 1 << 16;
  u32 max_pds = 1 << 16, max_vectors = 64;
  u32 ports = 1;
  bool allow_slow_core = false;
  // A cycle is a whole number of picoseconds, the resolution of SystemC's time: the nearest one.
  u64 period() const { return (engine::kPicosecondsPerSecond + clock / 2) / clock; }
  // The actual clock, rounded to 1 Hz. All rates and durations in cycles use it.
  u64 hertz() const { return (engine::kPicosecondsPerSecond + period() / 2) / period(); }
};

struct ChipConfig {
  CoreConfig core;
  proto::TransportOptions transport;
  DoorbellConfig doorbell;
  CommandConfig command;
  QpSchedulerConfig qp_scheduler;
  WqeFetchConfig wqe_fetch;
  QpContextConfig qp_context;
  ProtectionConfig protection;
  CacheConfigs caches;
  RequesterConfig requester;
  PacketizerConfig packetizer;
  IcrcUnitConfig icrc_unit;
  PerPort<PortConfig> port;
  ResponderCheckConfig responder_check;
  ResponderExecuteConfig responder_execute;
  ResponderReplyConfig responder_reply;
  ResponseCheckConfig response_check;
  CompletionConfig completion;
  EventConfig event;
  CongestionConfig congestion;
  LinkControlConfig link_control;
  Payload payload = Payload::Carried;  // set by the run, not by a knob: the same in all chips
};

// Calls fn(config of one block) for each block of the chip and of all ports, in pipeline order.
template <class Config, class Fn>
void for_each_block_config(Config& c, Fn&& fn) {
  fn(c.core);
  fn(c.transport);
  fn(c.doorbell);
  fn(c.command);
  fn(c.qp_scheduler);
  fn(c.wqe_fetch);
  fn(c.qp_context);
  fn(c.protection);
  fn(c.caches.qp);
  fn(c.caches.cq);
  fn(c.caches.mpt);
  fn(c.caches.mtt);
  fn(c.caches.wqe);
  fn(c.caches.gate);
  fn(c.requester);
  fn(c.packetizer);
  fn(c.icrc_unit);
  for (auto& port : c.port) fn(port);
  fn(c.responder_check);
  fn(c.responder_execute);
  fn(c.responder_reply);
  fn(c.response_check);
  fn(c.completion);
  fn(c.event);
  fn(c.congestion);
  fn(c.link_control);
}
// Only the blocks that each port has for itself.
template <class Config>
inline constexpr bool kIsOfPort =
    std::is_same_v<Config, IcrcUnitConfig> || std::is_same_v<Config, PortConfig> ||
    std::is_same_v<Config, ResponderCheckConfig> || std::is_same_v<Config, ResponseCheckConfig> ||
    std::is_same_v<Config, CongestionConfig> || std::is_same_v<Config, LinkControlConfig>;
template <class Config, class Fn>
void for_each_port_config(Config& c, unsigned port, Fn&& fn) {
  fn(c.icrc_unit);
  fn(c.port[port]);
  fn(c.responder_check);
  fn(c.response_check);
  fn(c.congestion);
  fn(c.link_control);
}
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::CoreConfig> {
  using C = hca::blocks::CoreConfig;
  static constexpr std::string_view block = "core";
  static constexpr std::string_view sentence = "knobs of all blocks";
  static constexpr auto rows = make_rows(
      knob("clock", &C::clock, Unit::Hertz, 1'000'000, 10'000'000'000,
           "requested clock; the chip has the nearest one with a period of whole picoseconds: "
           "322.265625 MHz becomes 3103 ps, 10 millionths more"),
      knob("max_qps", &C::max_qps, Unit::Count, 1, 1 << proto::kAeqeObjectBits,
           "QP numbers are below this"),
      knob("max_cqs", &C::max_cqs, Unit::Count, 2, 1 << proto::kAeqeObjectBits,
           "CQ numbers are below this"),
      knob("max_eqs", &C::max_eqs, Unit::Count, 1, 1 << 16, "EQ numbers are below this"),
      knob("max_srqs", &C::max_srqs, Unit::Count, 1, 1 << proto::kAeqeObjectBits,
           "SRQ numbers are below this"),
      knob("max_regions", &C::max_regions, Unit::Count, 1, 1 << 24, "key indices are below this"),
      knob("max_pds", &C::max_pds, Unit::Count, 2, 1 << 24, "PD numbers are below this"),
      knob("max_vectors", &C::max_vectors, Unit::Count, 1, 2048, "vectors of the MSI-X table"),
      knob("ports", &C::ports, Unit::Count, 1, blocks::kMaxPorts, "ports, each with a wire"),
      knob("allow_slow_core", &C::allow_slow_core,
           "allow a link faster than the datapath (icrc_unit.beat_bytes each cycle)"));
};

template <>
struct hca::engine::Knobs<hca::proto::TransportOptions> {
  using C = hca::proto::TransportOptions;
  static constexpr std::string_view block = "transport";
  static constexpr std::string_view sentence = "choices that the specification leaves open";
  static constexpr auto choices = make_rows(
      knob("credits", &C::credits,
           "AETHs advertise the free receive WQEs; otherwise code 31, not counted (G6.1)"),
      knob("gap_after_rnr", &C::gap_after_rnr, proto::kGapAfterRnrNames,
           "a packet after one that drew an RNR NAK is dropped, or draws a sequence NAK (G2.5)"),
      knob("dup_read_check", &C::dup_read_check, proto::kDupReadCheckNames,
           "a duplicate READ must be part of a held one, or any is executed again (G3.6)"),
      knob("dup_read_bad_key", &C::dup_read_bad_key, proto::kDupReadBadKeyNames,
           "answer to a duplicate READ whose key is no longer valid (G3.6)"),
      knob("credit_probe", &C::credit_probe, proto::kCreditProbeNames,
           "the part of the SEND just beyond the credits that may leave (G6.3)"),
      knob("initial_credits", &C::initial_credits, proto::kInitialCreditsNames,
           "messages that take a receive WQE and may leave before the first ACK (G6.4)"),
      knob("reserved_nak", &C::reserved_nak, proto::kReservedNakNames,
           "NAK codes 6 to 31: ignored, or the WQE fails with REM_OP_ERR (T5)"),
      knob("sqd_drains", &C::sqd_drains, proto::kSqdDrainsNames,
           "SQD finishes the messages already begun, or all work requests already posted (T13)"),
      knob("srq_limit_test", &C::srq_limit_test, proto::kSrqLimitTestNames,
           "an SRQ's limit is checked when a WQE is taken, or also when the limit is set (G23.1)"),
      knob("xrc_pd", &C::xrc_pd, proto::kXrcPdNames,
           "R_Keys of XRC requests belong to the SRQ's PD, or to the domain's PD (G24.3)"),
      knob("xrc_srq_change", &C::xrc_srq_change, proto::kXrcSrqChangeNames,
           "another SRQ in a later packet of an XRC message draws NAK 0x64, or is ignored (G24.5)"),
      knob("exhausted_retries", &C::exhausted_retries, proto::kExhaustedRetriesNames,
           "with an armed alternate path: migrate and retry, or report the error (o9-152)"),
      knob("refused_migration", &C::refused_migration, proto::kRefusedMigrationNames,
           "M = 1 from another path than the alternate: PATH_MIG_ERR, or no event (G17.3)"),
      knob("extended_retry", &C::extended_retry, proto::kExtendedRetryNames,
           "a GET asks again with the Offset of the rest, or for the rest alone (EXT-5)"),
      knob("new_get_offset", &C::new_get_offset, proto::kNewGetOffsetNames,
           "a new GET whose Offset is not 0: NAK 0x61, or answered from there on (EXT-5)"),
      knob("put_response_length", &C::put_response_length, proto::kPutResponseLengthNames,
           "a PUT whose Response Data Length is not 0: executed, or NAK 0x61 (EXT-4)"),
      knob("put_change", &C::put_change, proto::kPutChangeNames,
           "other memory in a later packet of a PUT draws NAK 0x61, or is ignored (EXT-3)"),
      knob("rd_error_class", &C::rd_error_class, proto::kRdErrorClassNames,
           "class of RD errors for which T10 allows F and B (ERR-30)"),
      knob("rd_abort", &C::rd_abort, proto::kRdAbortNames,
           "the receive WQE of an aborted RD message completes with REM_ABORT_ERR, or stays "
           "(G13.3)"),
      knob("rd_retry_class", &C::rd_retry_class, proto::kRdRetryClassNames,
           "class of exhausted retries of RD (T9-2)"),
      knob("rd_send_error", &C::rd_send_error, proto::kRdSendErrorNames,
           "state of an RD queue pair whose send WQE ended in error (class B)"),
      knob("rd_resync_queue", &C::rd_resync_queue, proto::kRdResyncQueueNames,
           "RESYNC may name any queue pair, or only one that takes requests (o9-23.2.1)"),
      knob("rd_rnr_count", &C::rd_rnr_count, proto::kRdRnrCountNames,
           "RNR NAKs of RD are counted for each message, or by the EE context (o9-151)"),
      knob("rd_qkey_nak_pkey", &C::rd_qkey_nak_pkey, proto::kRdQkeyNakPkeyNames,
           "P_Key of the NAK of a Q_Key violation: of the EE context, or of the request (VAL-10)"),
      knob("congestion_control", &C::congestion_control,
           "the answer to a request with FECN 1 has BECN 1 (G26.1); otherwise FECN is ignored"),
      knob("multicast_loop_back", &C::multicast_loop_back,
           "a multicast datagram also reaches the members at the sending port (G25.3)"),
      knob(
          "driver_events", &C::driver_events,
          "asynchronous entries have the state of their queue pair (AEQ-10), otherwise 0; ModifyQp "
          "takes SqdNotify 2 (AEQ-22)"),
      knob("managed_ports", &C::managed_ports,
           "SetPort takes the port states Init and Armed, and an LMC, as a subnet manager sets "
           "them"),
      knob("recovery", &C::recovery, proto::kRecoveryNames,
           "RC's loss recovery; selective_repeat conforms to no specification"),
      knob("reorder_window", &C::reorder_window, Unit::Count, 1, proto::kMostReordered,
           "selective_repeat: packets in flight, and packets that a responder keeps"));
  static constexpr auto rows =
      join_rows(choices, proto::rows_of_capabilities([](const proto::CapabilityRow& row) {
                  return knob<C>(row.option, row.has, row.sentence);
                }));
};
