// SPDX-License-Identifier: Apache-2.0
// The knob tables of a scenario's configurations other than the chips and their surroundings.
#pragma once
#include "model/proto/interface/qp_attributes.h"
#include "testbench/scenario/scenario.h"

namespace hca::testbench {
inline constexpr u32 kMostQps = 1 << 20;  // of an entry; the chip's own limit is core.max_qps
inline constexpr u64 kLongestService = 1'000'000'000'000;  // ps
inline constexpr engine::KnobRule kWholeKilobits{
    [](u64 n) { return n % kKilobit == 0; }, "is no multiple of 1 kb/s", "a multiple of 1 kb/s"};
inline constexpr engine::KnobRule kWholeLines{[](u64 n) { return n % slot_bytes(1) == 0; },
                                              "is no multiple of 64 B", "a multiple of 64 B"};
inline constexpr engine::KnobRule kWholeMicroseconds{
    [](u64 n) { return n % kModerationUnit == 0; }, "is no multiple of 1 us", "a multiple of 1 us"};
}  // namespace hca::testbench

template <>
struct hca::engine::Knobs<hca::testbench::RunOptions> {
  using Config = testbench::RunOptions;
  static constexpr std::string_view block = "run";
  static constexpr std::string_view sentence = "the whole run";
  static constexpr auto rows = make_rows(
      knob("seed", &Config::seed, Unit::Count, 0, ~u64{0} >> 2,
           "seed of payloads and random faults"),
      knob("pcap", &Config::pcap,
           "write every frame to run.pcap (two ports: run.pcapng) in the output directory"),
      knob("events", &Config::events, "write every event of every block to events.csv there"),
      knob("vcd", &Config::vcd, "write the levels of links and queues to run.vcd there"),
      knob("trace", &Config::trace, "write a timeline that Perfetto opens to trace.json there"),
      knob("messages", &Config::messages, "write each message's time in each step to messages.csv"),
      knob("hash", &Config::hash, "a digest of all events of all blocks, to compare runs"),
      knob("payload", &Config::payload, blocks::kPayloadNames,
           "packets carry their payload, or of it only the first 8 B and the time that it takes: "
           "all times and counts stay the same, and only those bytes are checked"),
      knob("every_cycle", &Config::every_cycle, "tick all blocks in all cycles: slow, same result"),
      knob("shuffle_seed", &Config::shuffle_seed, Unit::Count, 0, 0xffffffff,
           "tick blocks in random order: same result; 0: fixed order"),
      knob("stall_per_256", &Config::stall_per_256, Unit::Count, 0, 255,
           "probability, in 256ths, that a block does not tick in a cycle"),
      knob("quantum", &Config::quantum, Unit::Cycles, 0, 1'000'000,
           "cycles of one activation, at most the latency of ports and wire; 0: that maximum"));
};

template <>
struct hca::engine::Knobs<hca::testbench::ConnectionConfig> {
  using Config = testbench::ConnectionConfig;
  static constexpr std::string_view block = "connection";
  static constexpr std::string_view sentence = "how the queue pairs are connected";
  static constexpr auto rows = make_rows(
      knob("srq", &Config::srq, "the queue pairs of each end share one SRQ"),
      knob("xrc_srqs", &Config::xrc_srqs, Unit::Count, 1, 64,
           "with xrc: SRQs of each end, which the requests of a queue pair name in turn"),
      knob("service", &Config::service_choice, testbench::kServiceWords,
           "service of the queue pairs; uc has no READ and no ATOMIC, ud only SENDs of one packet; "
           "neither repeats lost packets. xrc: each end has initiators, targets and SRQs that "
           "requests name; its HCAs need hca.transport.xrc. rd: the queue pairs of an end share an "
           "EE "
           "context; its HCAs need hca.transport.rd"),
      knob("framing", &Config::framing, testbench::kFramingWords, "headers below the transport"),
      knob("path_mtu", &Config::path_mtu, testbench::kMtuWords, "payload of a full packet, bytes"),
      knob("qps", &Config::qps, Unit::Count, 1, testbench::kMostQps,
           "queue pairs of a workload without its own number"),
      knob("max_rd_atomic", &Config::max_rd_atomic, Unit::Count, 1, proto::kMaxRdAtomic,
           "READs and ATOMICs in flight on a queue pair"),
      knob("timeout", &Config::timeout, Unit::Count, 0, 31,
           "transport timer: 4.096 us times 2 to this power; 0: off"),
      knob("retry_count", &Config::retry_count, Unit::Count, 0, 7, "retries after a timeout"),
      knob("rnr_retry", &Config::rnr_retry, Unit::Count, 0, 7,
           "retries after an RNR NAK; 7: unlimited"),
      knob("min_rnr_timer", &Config::min_rnr_timer, Unit::Count, 0, 31,
           "timer code that an RNR NAK carries"),
      knob("rate_limit", &Config::rate_limit, Unit::BitsPerSecond, 0, 1'000'000'000'000,
           testbench::kWholeKilobits,
           "rate limit of the requests of each queue pair on the wire, not for ud; 0 b/s: none"),
      knob("alternate_port", &Config::alternate_port, Unit::Count, 0, blocks::kMaxPorts,
           "port of the alternate path of all queue pairs, at both ends; they migrate to it when "
           "the retries are exhausted (hca.transport.apm); 0: none"),
      knob("moderation_count", &Config::moderation_count, Unit::Count, 0, 0xffff,
           "completions that raise one event of a completion queue, as by ibv_modify_cq(); 0: each "
           "does, or those of moderation_period"),
      knob("moderation_period", &Config::moderation_period, Unit::Picoseconds, 0,
           0xffff * testbench::kModerationUnit, testbench::kWholeMicroseconds,
           "time after the first completion in which fewer raise an event; 0 ps: none"),
      knob("client_psn", &Config::client_psn, Unit::Count, 0, 0xffffff, "first PSN of the client"),
      knob("server_psn", &Config::server_psn, Unit::Count, 0, 0xffffff, "first PSN of the server"),
      knob("udp_source_port", &Config::udp_source_port, Unit::Count, proto::kFirstUdpSourcePort,
           proto::kLastUdpSourcePort, "RoCEv2 only"));
};

template <>
struct hca::engine::Knobs<hca::testbench::MeasureConfig> {
  using Config = testbench::MeasureConfig;
  static constexpr std::string_view block = "measure";
  static constexpr std::string_view sentence =
      "rates and latencies are of the messages whose completion is taken between these times of "
      "each part of the run, from its first post on";
  static constexpr u64 kMost = 1'000'000'000'000;
  static constexpr auto rows = make_rows(
      knob("from", &Config::from, Unit::Picoseconds, 0, kMost, "what is before is warm-up"),
      knob("to", &Config::to, Unit::Picoseconds, 0, kMost, "0 ps: the end"));
};

template <>
struct hca::engine::Knobs<hca::testbench::MixConfig> {
  using Config = testbench::MixConfig;
  static constexpr std::string_view block = "mix";
  static constexpr std::string_view sentence = "weights of operations in one stream";
  static constexpr u64 kMax = 1'000'000;
  static constexpr auto rows = make_rows(
      knob("write", &Config::write, Unit::Count, 0, kMax, "weight of WRITE"),
      knob("send", &Config::send, Unit::Count, 0, kMax, "weight of SEND"),
      knob("read", &Config::read, Unit::Count, 0, kMax, "weight of READ"),
      knob("write_immediate", &Config::write_immediate, Unit::Count, 0, kMax,
           "weight of WRITE with Immediate"),
      knob("send_immediate", &Config::send_immediate, Unit::Count, 0, kMax,
           "weight of SEND with Immediate"),
      knob("compare_swap", &Config::compare_swap, Unit::Count, 0, kMax, "weight of CmpSwap"),
      knob("fetch_add", &Config::fetch_add, Unit::Count, 0, kMax, "weight of FetchAdd"),
      knob("send_invalidate", &Config::send_invalidate, Unit::Count, 0, kMax,
           "weight of SEND with Invalidate"),
      knob("atomic_write", &Config::atomic_write, Unit::Count, 0, kMax, "weight of ATOMIC WRITE"),
      knob("flush", &Config::flush, Unit::Count, 0, kMax, "weight of FLUSH"),
      knob("extended_get", &Config::extended_get, Unit::Count, 0, kMax, "weight of GET Memory"),
      knob("extended_put", &Config::extended_put, Unit::Count, 0, kMax, "weight of PUT Memory"));
};

template <>
struct hca::engine::Knobs<hca::testbench::SizeConfig> {
  using Config = testbench::SizeConfig;
  static constexpr std::string_view block = "sizes";
  static constexpr std::string_view sentence = "weighted sizes of one stream";
  static constexpr auto rows =
      make_rows(knob("size", &Config::size, Unit::Bytes, 0, u64{1} << 31, "bytes of a message"),
                knob("weight", &Config::weight, Unit::Count, 0, 1'000'000,
                     "weight relative to the other sizes"));
};

template <>
struct hca::engine::Knobs<hca::testbench::ServeTimeConfig> {
  using Config = testbench::ServeTimeConfig;
  static constexpr std::string_view block = "serve_times";
  static constexpr std::string_view sentence = "weighted service times of a server's answers";
  static constexpr auto rows =
      make_rows(knob("time", &Config::time, Unit::Picoseconds, 0, testbench::kLongestService,
                     "time that the server's program works on a message"),
                knob("weight", &Config::weight, Unit::Count, 0, 1'000'000,
                     "weight relative to the other times"));
};

template <>
struct hca::engine::Knobs<hca::testbench::WorkloadConfig> {
  using Config = testbench::WorkloadConfig;
  static constexpr u32 kMaxSges = testbench::kMaxSges;
  static constexpr std::string_view block = "workload";
  static constexpr std::string_view sentence = "one operation over a range of sizes";
  static constexpr u64 kMaxBytes = u64{1} << 31;
  static constexpr auto rows = make_rows(
      knob("operation", &Config::operation, testbench::kOperationWords, "posted operation"),
      knob("test", &Config::test, testbench::kTestNames,
           "bandwidth: a stream with a queue depth; latency: a ping-pong, or READs, ATOMICs or "
           "FLUSHes in sequence"),
      knob("from", &Config::from, Unit::Bytes, 1, kMaxBytes, "smallest message"),
      knob("to", &Config::to, Unit::Bytes, 1, kMaxBytes,
           "largest message; sizes double from the smallest on"),
      knob("size", &Config::size, Unit::Bytes, 0, kMaxBytes,
           "the only size; 0 B: from `from` to `to`"),
      knob("messages", &Config::messages, Unit::Count, 0, 1'000'000'000,
           "messages of each size; 0: 5000 (bandwidth) or 10001 (latency), fewer for large sizes"),
      knob("qps", &Config::qps, Unit::Count, 0, testbench::kMostQps,
           "queue pairs, which share the messages; 0: connection.qps"),
      knob(
          "threads", &Config::threads, Unit::Count, 1, 256,
          "threads of each host, each on its own core; they share queue pairs and messages evenly"),
      knob("share_qps", &Config::share_qps,
           "all threads post to all queue pairs and poll the same completion queues, under the "
           "locks of host.queue_lock"),
      knob("qp_order", &Config::qp_order, testbench::kQpOrderNames,
           "order in which queue pairs are posted to"),
      knob(
          "depth", &Config::depth, Unit::Count, 0, 8192,
          "messages in flight on a queue pair; 0: 1 for a latency test, otherwise 128, fewer where "
          "these are more than 16 MiB, but a list and two of signal_every"),
      knob("list", &Config::list, Unit::Count, 1, 256,
           "most messages of a queue pair posted with one doorbell: as many as may be in flight "
           "then"),
      knob("batches", &Config::batches,
           "post `depth` messages, and wait for all of them before posting the next"),
      knob("receive_depth", &Config::receive_depth, Unit::Count, 0, 16384,
           "receive WQEs posted ahead on a queue pair; 0: twice the depth or more"),
      knob("signal_every", &Config::signal_every, Unit::Count, 1, 8192,
           "one completion for this many messages"),
      knob("inline_below", &Config::inline_below, Unit::Bytes, 0, 224,
           "shorter messages are inline in their WQE"),
      knob("sges", &Config::sges, Unit::Count, 1, kMaxSges,
           "scatter/gather entries of each send and receive WQE"),
      knob("atomic_addresses", &Config::atomic_addresses, Unit::Count, 0, 65536,
           "target addresses of ATOMICs, shared by all threads and chosen at random; 0: one for "
           "the FetchAdds of a thread, one for the CmpSwaps of each queue pair"),
      knob("read_addresses", &Config::read_addresses, Unit::Count, 0, 65536,
           "addresses of the peer that READs and GETs name, shared by all threads and chosen at "
           "random; 0: one of its own for each in flight"),
      knob("address", &Config::address, testbench::kAddressOrderNames,
           "order of the buffers of messages in the working set: one after the other, at random by "
           "the seed, or a stride apart"),
      knob("working_set", &Config::working_set, Unit::Bytes, 0, u64{1} << 36,
           testbench::kWholeLines,
           "memory in which the buffers of each kind lie, at each end; 0 B: only those that are in "
           "use at one time, in a ring"),
      knob("stride", &Config::stride, Unit::Bytes, 0, u64{1} << 32, testbench::kWholeLines,
           "address: strided: from a buffer to the next"),
      knob("regions", &Config::regions, Unit::Count, 1, 65536,
           "equal parts of the working set, each registered as a region with keys of its own"),
      knob("push", &Config::push, "WQEs are pushed with their doorbells"),
      knob("fence", &Config::fence, "each message waits for the READs and ATOMICs before it"),
      knob("solicited", &Config::solicited, "SENDs and WRITEs with Immediate request an event"),
      knob("wait", &Config::wait, testbench::kWaitKindNames,
           "how its programs wait for completions; host: as in host.wait"),
      knob("rate", &Config::rate, Unit::BitsPerSecond, 0, 100'000'000'000'000,
           "open loop: scheduled payload rate; 0 b/s: closed loop"),
      knob("message_rate", &Config::message_rate, Unit::Count, 0, 1'000'000'000,
           "open loop: scheduled messages a second"),
      knob("arrivals", &Config::arrivals, testbench::kArrivalsNames,
           "open loop: schedule, evenly spaced or a Poisson process"),
      knob("queue", &Config::queue, Unit::Count, 1, 1'000'000,
           "open loop: messages waiting at the host; further ones are dropped"),
      knob("response", &Config::response, Unit::Bytes, 0, kMaxBytes,
           "the server answers each message with so many bytes by the same operation: SEND, SEND "
           "or WRITE with Immediate; latency is that of the round trip; 0 B: no answer"),
      knob("serve", &Config::serve, testbench::kServeNames,
           "service times: all as serve_time, or exponential with this mean, by the seed"),
      knob("serve_time", &Config::serve_time, Unit::Picoseconds, 0, testbench::kLongestService,
           "time that the server's program works on a message before it answers"),
      knob("direction", &Config::direction, testbench::kDirectionNames,
           "messages from the client, or from both ends at once"),
      knob("together", &Config::together,
           "runs at the same time as neighbouring entries that also set it"),
      knob("port", &Config::port, Unit::Count, 1, blocks::kMaxPorts,
           "port of its queue pairs, on both chips"),
      knob("service_level", &Config::service_level, Unit::Count, 0, 15,
           "SL of the paths of its queue pairs, and their traffic class"));
};

template <>
struct hca::engine::Knobs<hca::testbench::ArbitrationConfig> {
  using Config = testbench::ArbitrationConfig;
  static constexpr std::string_view block = "vl_arbitration";
  static constexpr std::string_view sentence =
      "entries of the VL arbitration tables of both HCAs, instead of the weights of link_control; "
      "a lane gets its share if its packets have their own buffers (packetizer.lane_buffers, "
      "responder_execute.lane_responses)";
  static constexpr auto rows =
      make_rows(knob("table", &Config::table, testbench::kArbitrationTableNames,
                     "the table to which the entry is appended"),
                knob("vl", &Config::vl, Unit::Count, 0, blocks::kLanes - 1,
                     "the lane; VL 15 is for management and needs no entry"),
                knob("weight", &Config::weight, Unit::Count, 0, 255,
                     "amount sent in its turn, in units of 64 B; 0: the entry is skipped"));
};

template <>
struct hca::engine::Knobs<hca::testbench::FaultConfig> {
  using Config = testbench::FaultConfig;
  static constexpr std::string_view block = "faults";
  static constexpr std::string_view sentence = "faults of frames on the wire";
  static constexpr auto rows = make_rows(
      knob("action", &Config::action, tlm_::kFaultNames, "fault of the frame"),
      knob("from", &Config::from, Unit::Count, 0, 1, "the sending chip"),
      knob("port", &Config::port, Unit::Count, 0, blocks::kMaxPorts,
           "the port of its wire; 0: any"),
      knob("qpn", &Config::qpn, Unit::Count, 0, Config::kAny, "its DestQP; 16777216: any"),
      knob("psn", &Config::psn, Unit::Count, 0, Config::kAny, "its PSN; 16777216: any"),
      knob("occurrence", &Config::occurrence, Unit::Count, 0, ~u64{0} >> 1,
           "the n-th matching frame; 0, or per_million without it: by probability"),
      knob("per_million", &Config::per_million, Unit::Count, 0, 1'000'000,
           "probability in a million matching frames"),
      knob("delay", &Config::delay, Unit::Picoseconds, 0, 1'000'000'000'000,
           "duration for the action delay"));
};
