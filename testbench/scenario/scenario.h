// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/blocks/chip_config.h"
#include "testbench/host/host_cpu.h"
#include "testbench/rtl_path/rtl_choice.h"
#include "testbench/scenario/device_config.h"
#include "testbench/scenario/fail_config.h"
#include "testbench/scenario/knob_table.h"
#include "testbench/scenario/topology.h"
#include "testbench/scenario/traffic.h"
#include "tlm/pcie/pcie_config.h"
#include "tlm/wire/fault_script.h"

namespace hca::testbench {
struct Setting;
// In the order of proto::Framing.
inline constexpr std::array<std::string_view, proto::kFramingCount> kFramingWords{
    "ib_local", "ib_global", "rocev1", "rocev2_ip4", "rocev2_ip6"};
enum class PathMtu : u8 { B256, B512, B1024, B2048, B4096 };
inline constexpr std::array<std::string_view, 5> kMtuWords{"256", "512", "1024", "2048", "4096"};
enum class ServiceChoice : u8 { Rc, Uc, Ud, Xrc, Rd };
inline constexpr std::array<std::string_view, 5> kServiceWords{"rc", "uc", "ud", "xrc", "rd"};
constexpr u32 bytes_of_mtu(PathMtu mtu) { return 256u << unsigned(mtu); }

constexpr u64 kKilobit = 1000;              // bits a second: the unit of a queue pair's RateLimit
constexpr u64 kModerationUnit = 1'000'000;  // ps: the unit of a CQ's EventPeriod

// How the two queue pairs are connected.
struct ConnectionConfig {
  ServiceChoice service_choice = ServiceChoice::Rc;
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  PathMtu path_mtu = PathMtu::B1024;
  u32 qps = 1, max_rd_atomic = 16;
  bool srq = false;  // the queue pairs of a workload share one SRQ at each end
  u32 xrc_srqs = 1;  // with XRC
  u32 timeout = 14, retry_count = 7, rnr_retry = 7, min_rnr_timer = 12;
  u64 rate_limit = 0;         // bits a second per queue pair, whole kilobits; 0: unlimited
  u32 alternate_port = 0;     // of the alternate path; 0: none
  u32 moderation_count = 0;   // completions for each event; 0: not by their number
  u64 moderation_period = 0;  // ps until an event of fewer; 0: not by time
  u32 client_psn = 0x10, server_psn = 0x20, udp_source_port = proto::kFirstUdpSourcePort;

  proto::Service service() const {
    constexpr std::array all{proto::Service::Rc, proto::Service::Uc, proto::Service::Ud,
                             proto::Service::Xrc, proto::Service::Rd};
    return all[std::size_t(service_choice)];
  }
  bool is_moderated() const { return moderation_count || moderation_period; }
  bool is_xrc() const { return service_choice == ServiceChoice::Xrc; }
  u32 srqs() const { return is_xrc() ? xrc_srqs : srq; }  // at each end
};

enum class Test : u8 { Bandwidth, Latency };
inline constexpr std::array<std::string_view, 2> kTestNames{"bandwidth", "latency"};
enum class ServeKind : u8 { Fixed, Exponential };
inline constexpr std::array<std::string_view, 2> kServeNames{"fixed", "exponential"};
enum class QpOrder : u8 { RoundRobin, Random };
inline constexpr std::array<std::string_view, 2> kQpOrderNames{"round_robin", "random"};
enum class ArrivalsKind : u8 { Even, Exponential };
inline constexpr std::array<std::string_view, 2> kArrivalsNames{"even", "exponential"};
// How a workload waits: Host: as set for its hosts.
enum class WaitKind : u8 { Host, Poll, Event };
inline constexpr std::array<std::string_view, 3> kWaitKindNames{"host", "poll", "event"};
enum class Direction : u8 { Forward, Both };
inline constexpr std::array<std::string_view, 2> kDirectionNames{"forward", "both"};

// One size of a weighted list.
struct SizeConfig {
  u64 size = 64;
  u32 weight = 1;
};
// One service time of a weighted list.
struct ServeTimeConfig {
  u64 time = 0;  // ps
  u32 weight = 1;
};
// Weights of operations; all 0: no mix.
struct MixConfig {
  u32 write = 0, send = 0, read = 0, write_immediate = 0, send_immediate = 0, compare_swap = 0,
      fetch_add = 0, send_invalidate = 0, atomic_write = 0, flush = 0, extended_get = 0,
      extended_put = 0;
};

// One entry of the workload list: operations over a range of sizes in sequence, or with weighted
// sizes in one stream.
struct WorkloadConfig {
  Operation operation = Operation::Write;
  MixConfig mix;
  Test test = Test::Bandwidth;
  u64 from = 2, to = 1 << 20;
  u64 size = 0;  // 0: from `from` to `to`
  std::vector<SizeConfig> sizes;
  u64 messages = 0;        // 0: depends on the size
  u32 qps = 0;             // 0: as in the connection
  u32 threads = 1;         // of each host, each on its own core
  bool share_qps = false;  // all of them use all queue pairs
  QpOrder qp_order = QpOrder::RoundRobin;
  u32 depth = 0;  // 0: depth_of()
  u32 list = 1, receive_depth = 0, signal_every = 1, inline_below = 0, sges = 1;
  u32 atomic_addresses = 0, read_addresses = 0;
  AddressOrder address = AddressOrder::Sequential;
  u64 working_set = 0;  // 0: a ring of the buffers in use
  u64 stride = 0;
  u32 regions = 1;
  bool push = false, fence = false, solicited = false, batches = false;
  WaitKind wait = WaitKind::Host;
  u64 rate = 0, message_rate = 0;  // open loop
  ArrivalsKind arrivals = ArrivalsKind::Even;
  u32 queue = 1024;
  u64 response = 0;  // bytes of the server's answer to each message; 0: none
  ServeKind serve = ServeKind::Fixed;
  u64 serve_time = 0;  // ps that its program works before it answers; the mean
  std::vector<ServeTimeConfig> serve_times;
  Direction direction = Direction::Forward;
  bool together = false;
  u32 port = 1, service_level = 0;
  std::optional<Ends> between;  // client and server; empty: `port` of the first two nodes

  Ends ends() const { return between.value_or(ends_in_pair(port - 1)); }
  bool is_mixed() const { return !weights().empty(); }
  bool is_open() const { return rate || message_rate; }
  // Threads that have their own share of queue pairs and messages.
  u32 separate_threads() const { return share_qps ? 1 : threads; }
  std::vector<std::pair<Operation, u32>> weights() const;
};

// One entry of the fault list; kAny in qpn and psn matches all.
// An entry of a table of VL arbitration.
enum class ArbitrationTable : u8 { Low, High };
inline constexpr std::array<std::string_view, 2> kArbitrationTableNames{"low", "high"};
struct ArbitrationConfig {
  ArbitrationTable table = ArbitrationTable::Low;
  u32 vl = 0, weight = 1;
};

struct FaultConfig {
  static constexpr u32 kAny = 1 << 24;
  tlm_::FaultAction action = tlm_::FaultAction::Drop;
  u32 from = 0, qpn = kAny, psn = kAny;
  u32 port = 0;  // 0: the wires of all ports
  u64 occurrence = 1, per_million = 0, delay = 0;
};

// A key from a text or --set, with its place: "file:line", "--set".
struct GivenKey {
  std::string path, where;
};

// The part of each stream and ping-pong that its figures are of, ps from its first post on.
struct MeasureConfig {
  u64 from = 0, to = 0;  // to 0: its end
  bool is_whole() const { return !from && !to; }
};

// Options of the simulation itself: only `seed` and the stalls may change a result.
struct RunOptions {
  u64 seed = 1;
  bool pcap = false, events = false, vcd = false, trace = false;
  bool messages = false, hash = false;
  blocks::Payload payload = blocks::Payload::Carried;
  bool every_cycle = false;
  u32 shuffle_seed = 0, stall_per_256 = 0;
  Cycle quantum = 0;  // 0: as long as the wire allows
};

// The rules of a fault entry on a cable: one for each end at which it acts. `number`: its index in
// the list.
std::vector<tlm_::FaultRule> rules_of(const FaultConfig& fault, const Ends& cable, u32 number);

// A host with its HCA.
struct NodeConfig {
  blocks::ChipConfig hca;
  tlm_::PcieConfig pcie;
  HostConfig host;
};
// Cables between ports of the same number of two nodes, as many as an HCA may have.
std::vector<Cable> cables_of_pair();

// All inputs of a run.
struct Scenario {
  RunOptions run;
  std::vector<NodeConfig> nodes = std::vector<NodeConfig>(2);
  std::vector<Cable> cables = cables_of_pair();
  RtlChoice rtl;  // for all chips
  ConnectionConfig connection;
  MeasureConfig measure;
  attach::DeviceConfig verbs;
  std::vector<WorkloadConfig> workload;
  std::vector<FaultConfig> faults;
  std::vector<attach::FailConfig> fail;  // for programs
  std::vector<ArbitrationConfig> vl_arbitration;
  std::vector<GivenKey> given;  // without the keys of a preset
  bool metered = false;         // links and cores report their activity; does not change results

  unsigned ports() const;  // of the node with the most ports
  bool has(const NodePort& at) const;
  // The cable connects existing ports.
  bool is_laid(const Cable& cable) const { return has(cable.ends[0]) && has(cable.ends[1]); }
  std::vector<Cable> laid_cables() const;
  std::vector<tlm_::FaultRule> fault_rules(const Ends& cable) const;
  const GivenKey* find_given(std::string_view path) const;  // nullptr: not given
  u32 qps_of(const WorkloadConfig& w) const { return w.qps ? w.qps : connection.qps; }
  bool waits_for_events() const;  // in any workload
  bool waits_for_events(const WorkloadConfig& workload) const;
};

// The workload of `hca run` without a scenario.
Scenario default_scenario();
// Throws ScenarioError with all mistakes. `overrides`: "key=value", which take precedence.
Scenario load_scenario(const std::string& file, const std::vector<std::string>& overrides = {});
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<std::string>& overrides = {});
// For values that were read from a part of `file`.
Scenario scenario_of(std::vector<Setting> settings, const std::string& file,
                     const std::vector<std::string>& overrides = {});

// Every knob of a scenario by its path, without those of the lists. "hca.", "pcie." and "host." set
// all nodes, "hca0.", "hca1." ... one node. "hca.port." and "wire." set all ports and cables,
// "hca.port1.", "wire2." ... one of them.
KnobTable knobs_of(Scenario& scenario);
// True if a path includes another one, for all nodes or ports: "hca.core.clock" covers
// "hca0.core.clock".
bool covers(std::string_view path, std::string_view one);
bool is_of_both_chips(std::string_view path);
bool is_of_one_chip(std::string_view path);
bool is_of_both_ports(std::string_view path);
bool is_of_one_port(std::string_view path);
}  // namespace hca::testbench
