// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/blocks/chip_config.h"
#include "testbench/host_cpu.h"
#include "testbench/knob_table.h"
#include "testbench/workload.h"
#include "tlm/fault_script.h"
#include "tlm/pcie_link.h"
#include "tlm/wire.h"

namespace hca::testbench {
// In the order of proto::Framing.
inline constexpr std::array<std::string_view, proto::kFramingCount> kFramingWords{
    "ib_local", "ib_global", "rocev1", "rocev2_ip4", "rocev2_ip6"};
enum class PathMtu : u8 { B256, B512, B1024, B2048, B4096 };
inline constexpr std::array<std::string_view, 5> kMtuWords{"256", "512", "1024", "2048", "4096"};
constexpr u32 bytes_of_mtu(PathMtu mtu) { return 256u << unsigned(mtu); }

// How the two queue pairs are connected.
struct ConnectionConfig {
  proto::Framing framing = proto::Framing::RoceV2Ip4;
  PathMtu path_mtu = PathMtu::B1024;
  u32 timeout = 14, retry_count = 7, rnr_retry = 7, min_rnr_timer = 12;
  u32 client_psn = 0x10, server_psn = 0x20, udp_source_port = proto::kFirstUdpSourcePort;
};

inline constexpr std::array<std::string_view, 2> kOperationWords{"write", "send"};
enum class Test : u8 { Bandwidth, Latency };
inline constexpr std::array<std::string_view, 2> kTestNames{"bandwidth", "latency"};

// One entry of the workload list: one operation over a range of sizes.
struct WorkloadConfig {
  Operation operation = Operation::Write;
  Test test = Test::Bandwidth;
  u64 from = 2, to = 1 << 20;
  u64 messages = 0;  // 0: chosen by size
  u32 depth = 128, signal_every = 1, inline_below = 0;
  bool push = false;
};

// One entry of the fault list; kAny in qpn and psn matches all.
struct FaultConfig {
  static constexpr u32 kAny = 1 << 24;
  tlm_::FaultAction action = tlm_::FaultAction::Drop;
  u32 from = 0, qpn = kAny, psn = kAny;
  u64 occurrence = 1, per_million = 0, delay = 0;
};

// Of how the simulation is run, only `seed` and the stalls may change a result.
struct RunOptions {
  u64 seed = 1;
  bool pcap = false, hash = false;
  bool every_cycle = false;
  u32 shuffle_seed = 0, stall_per_256 = 0;
  Cycle quantum = 0;  // 0: as long as the wire allows
};

inline constexpr unsigned kChips = 2;

// All that a run depends on.
struct Scenario {
  RunOptions run;
  std::array<blocks::ChipConfig, kChips> hca;
  std::array<tlm_::PcieConfig, kChips> pcie;
  std::array<HostConfig, kChips> host;
  tlm_::WireConfig wire;
  ConnectionConfig connection;
  std::vector<WorkloadConfig> workload;
  std::vector<FaultConfig> faults;

  std::vector<tlm_::FaultRule> fault_rules() const;
};

// What `hca run` does without a scenario.
Scenario default_scenario();
// Throws ScenarioError with every mistake in it.
Scenario load_scenario(const std::string& file);
Scenario parse_scenario(const std::string& text, const std::string& file);

// Every knob of a scenario by its path, without those of the lists. "hca.", "pcie." and "host." set
// both sides; "hca0.", "hca1." ... one.
KnobTable knobs_of(Scenario& scenario);
bool is_of_both_chips(std::string_view path);
bool is_of_one_chip(std::string_view path);
}  // namespace hca::testbench
