// SPDX-License-Identifier: Apache-2.0
// The knob tables of what a scenario has beside the chips and their surroundings.
#pragma once
#include "model/proto/interface/qp_attributes.h"
#include "testbench/scenario/scenario.h"

namespace hca::testbench {
inline constexpr engine::KnobRule kWholeKilobits{
    [](u64 n) { return n % kKilobit == 0; }, "is no multiple of 1 kb/s", "a multiple of 1 kb/s"};
}  // namespace hca::testbench

template <>
struct hca::engine::Knobs<hca::testbench::RunOptions> {
  using Config = testbench::RunOptions;
  static constexpr std::string_view block = "run";
  static constexpr std::string_view sentence = "the whole run";
  static constexpr auto rows = make_rows(
      knob("seed", &Config::seed, Unit::Count, 0, ~u64{0} >> 2, "of payloads and random faults"),
      knob("pcap", &Config::pcap,
           "write every frame to run.pcap, of two ports to run.pcapng, in the output directory"),
      knob("events", &Config::events, "write every event of every block to events.csv there"),
      knob("vcd", &Config::vcd, "write the levels of links and queues to run.vcd there"),
      knob("trace", &Config::trace, "write a timeline that Perfetto opens to trace.json there"),
      knob("messages", &Config::messages, "write each message's time in each step to messages.csv"),
      knob("hash", &Config::hash, "a digest of all events of all blocks, to compare runs"),
      knob("every_cycle", &Config::every_cycle, "tick all blocks in all cycles: slow, same result"),
      knob("shuffle_seed", &Config::shuffle_seed, Unit::Count, 0, 0xffffffff,
           "tick blocks in random order: same result; 0: fixed order"),
      knob("stall_per_256", &Config::stall_per_256, Unit::Count, 0, 255,
           "chance of a block to stand still in a cycle"),
      knob("quantum", &Config::quantum, Unit::Cycles, 0, 1'000'000,
           "cycles of one activation, at most what ports and wire take; 0: that"));
};

template <>
struct hca::engine::Knobs<hca::testbench::ConnectionConfig> {
  using Config = testbench::ConnectionConfig;
  static constexpr std::string_view block = "connection";
  static constexpr std::string_view sentence = "how the queue pairs are connected";
  static constexpr auto rows = make_rows(
      knob("srq", &Config::srq, "the queue pairs of an end take their receive WQEs from one SRQ"),
      knob("service", &Config::service_choice, testbench::kServiceWords,
           "of the queue pairs; uc has no READ and no ATOMIC, ud has SENDs of one packet alone; "
           "both lose what the wire loses"),
      knob("framing", &Config::framing, testbench::kFramingWords, "headers around the transport"),
      knob("path_mtu", &Config::path_mtu, testbench::kMtuWords, "payload of a full packet, bytes"),
      knob("qps", &Config::qps, Unit::Count, 1, 1024,
           "queue pairs of a workload that does not say"),
      knob("max_rd_atomic", &Config::max_rd_atomic, Unit::Count, 1, proto::kMaxRdAtomic,
           "READs and ATOMICs in flight on a queue pair"),
      knob("timeout", &Config::timeout, Unit::Count, 0, 31,
           "4.096 us times 2 to this power; 0: none"),
      knob("retry_count", &Config::retry_count, Unit::Count, 0, 7, "retries after a timeout"),
      knob("rnr_retry", &Config::rnr_retry, Unit::Count, 0, 7,
           "retries after an RNR NAK; 7: without end"),
      knob("min_rnr_timer", &Config::min_rnr_timer, Unit::Count, 0, 31,
           "code of the wait that an RNR NAK asks for"),
      knob("rate_limit", &Config::rate_limit, Unit::BitsPerSecond, 0, 1'000'000'000'000,
           testbench::kWholeKilobits,
           "of the requests of each queue pair on the wire, not of ud; 0 b/s: none"),
      knob("client_psn", &Config::client_psn, Unit::Count, 0, 0xffffff, "first PSN of the client"),
      knob("server_psn", &Config::server_psn, Unit::Count, 0, 0xffffff, "first PSN of the server"),
      knob("udp_source_port", &Config::udp_source_port, Unit::Count, proto::kFirstUdpSourcePort,
           proto::kLastUdpSourcePort, "RoCEv2 only"));
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
      knob("flush", &Config::flush, Unit::Count, 0, kMax, "weight of FLUSH"));
};

template <>
struct hca::engine::Knobs<hca::testbench::SizeConfig> {
  using Config = testbench::SizeConfig;
  static constexpr std::string_view block = "sizes";
  static constexpr std::string_view sentence = "weighted sizes of one stream";
  static constexpr auto rows = make_rows(
      knob("size", &Config::size, Unit::Bytes, 0, u64{1} << 31, "bytes of a message"),
      knob("weight", &Config::weight, Unit::Count, 0, 1'000'000, "how often, beside the others"));
};

template <>
struct hca::engine::Knobs<hca::testbench::WorkloadConfig> {
  using Config = testbench::WorkloadConfig;
  static constexpr u32 kMaxSges = testbench::kMaxSges;
  static constexpr std::string_view block = "workload";
  static constexpr std::string_view sentence = "one operation over a range of sizes";
  static constexpr u64 kMaxBytes = u64{1} << 31;
  static constexpr auto rows = make_rows(
      knob("operation", &Config::operation, testbench::kOperationWords, "what is posted"),
      knob(
          "test", &Config::test, testbench::kTestNames,
          "a stream with a queue depth; a ping-pong, or one READ, ATOMIC or FLUSH after the other"),
      knob("from", &Config::from, Unit::Bytes, 1, kMaxBytes, "smallest message"),
      knob("to", &Config::to, Unit::Bytes, 1, kMaxBytes,
           "largest message; sizes double from the smallest on"),
      knob("size", &Config::size, Unit::Bytes, 0, kMaxBytes,
           "the only size; 0 B: from `from` to `to`"),
      knob("messages", &Config::messages, Unit::Count, 0, 1'000'000'000,
           "of each size; 0: 5000 (bandwidth) or 10001 (latency), fewer of large ones"),
      knob("qps", &Config::qps, Unit::Count, 0, 1024,
           "queue pairs, which share the messages; 0: connection.qps"),
      knob("threads", &Config::threads, Unit::Count, 1, 256,
           "of each host, each on a core of its own; they share queue pairs and messages evenly"),
      knob("qp_order", &Config::qp_order, testbench::kQpOrderNames,
           "which queue pair is posted to next"),
      knob("depth", &Config::depth, Unit::Count, 1, 8192,
           "messages in flight on a queue pair; at most 16 MiB on all"),
      knob("list", &Config::list, Unit::Count, 1, 256,
           "messages of a queue pair that are posted with one doorbell, where so many fit"),
      knob("batches", &Config::batches,
           "posts `depth` messages and waits for all of them, before the next ones"),
      knob("receive_depth", &Config::receive_depth, Unit::Count, 0, 16384,
           "receive WQEs posted ahead on a queue pair; 0: twice the depth or more"),
      knob("signal_every", &Config::signal_every, Unit::Count, 1, 8192,
           "one completion for so many messages"),
      knob("inline_below", &Config::inline_below, Unit::Bytes, 0, 224,
           "shorter messages go inside their WQE"),
      knob("sges", &Config::sges, Unit::Count, 1, kMaxSges,
           "scatter/gather entries of each send and receive WQE"),
      knob("atomic_addresses", &Config::atomic_addresses, Unit::Count, 0, 65536,
           "numbers that ATOMICs change, of all threads and at random; 0: one for the FetchAdds of "
           "a thread, one for the CmpSwaps of each queue pair"),
      knob("push", &Config::push, "WQEs go with their doorbells"),
      knob("fence", &Config::fence, "each message waits for the READs and ATOMICs before it"),
      knob("solicited", &Config::solicited, "SENDs and WRITEs with Immediate ask for an event"),
      knob("wait", &Config::wait, testbench::kWaitKindNames,
           "how its programs wait for completions; host: as host.wait says"),
      knob("rate", &Config::rate, Unit::BitsPerSecond, 0, 100'000'000'000'000,
           "open loop: payload that is planned; 0 b/s: closed loop"),
      knob("message_rate", &Config::message_rate, Unit::Count, 0, 1'000'000'000,
           "open loop: messages a second that are planned"),
      knob("arrivals", &Config::arrivals, testbench::kArrivalsNames,
           "open loop: times of the plan, evenly or as a Poisson process"),
      knob("queue", &Config::queue, Unit::Count, 1, 1'000'000,
           "open loop: messages that wait at the host; more are lost"),
      knob("direction", &Config::direction, testbench::kDirectionNames,
           "from the client, or from both ends at once"),
      knob("together", &Config::together,
           "runs at the same time as its neighbours that say so too"),
      knob("port", &Config::port, Unit::Count, 1, blocks::kMaxPorts,
           "of both chips: where its queue pairs are"),
      knob("service_level", &Config::service_level, Unit::Count, 0, 15,
           "of its queue pairs: the SL of their paths and the traffic class of their turns"));
};

template <>
struct hca::engine::Knobs<hca::testbench::ArbitrationConfig> {
  using Config = testbench::ArbitrationConfig;
  static constexpr std::string_view block = "vl_arbitration";
  static constexpr std::string_view sentence =
      "entries of the tables by which both HCAs arbitrate their virtual lanes, instead of the "
      "weights of link_control; a lane gets its share if its packets have buffers of their own "
      "(packetizer.lane_buffers, responder_execute.lane_responses)";
  static constexpr auto rows = make_rows(
      knob("table", &Config::table, testbench::kArbitrationTableNames, "whose next entry it is"),
      knob("vl", &Config::vl, Unit::Count, 0, blocks::kLanes - 1,
           "the lane; VL 15 is of management, which needs no entry"),
      knob("weight", &Config::weight, Unit::Count, 0, 255,
           "64 B each that it sends in its turn; 0: it is passed over"));
};

template <>
struct hca::engine::Knobs<hca::testbench::FaultConfig> {
  using Config = testbench::FaultConfig;
  static constexpr std::string_view block = "faults";
  static constexpr std::string_view sentence = "what happens to frames on the wire";
  static constexpr auto rows = make_rows(
      knob("action", &Config::action, tlm_::kFaultNames, "what happens to the frame"),
      knob("from", &Config::from, Unit::Count, 0, 1, "the chip that sends it"),
      knob("port", &Config::port, Unit::Count, 0, blocks::kMaxPorts,
           "the port whose wire it is on; 0: any"),
      knob("qpn", &Config::qpn, Unit::Count, 0, Config::kAny, "its DestQP; 16777216: any"),
      knob("psn", &Config::psn, Unit::Count, 0, Config::kAny, "its PSN; 16777216: any"),
      knob("occurrence", &Config::occurrence, Unit::Count, 0, ~u64{0} >> 1,
           "the n-th frame that matches; 0, and with per_million: by probability"),
      knob("per_million", &Config::per_million, Unit::Count, 0, 1'000'000,
           "how many of a million matching frames"),
      knob("delay", &Config::delay, Unit::Picoseconds, 0, 1'000'000'000'000,
           "of the action delay"));
};
