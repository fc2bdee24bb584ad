// SPDX-License-Identifier: Apache-2.0
// ibv_wc_status_str(3) and the like, ibv_rate_to_mult(3), ibv_rate_to_mbps(3).
#include <cstring>
#include <set>

#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
namespace {
template <class Value>
void check_strings(Checks& checks, const char* what, const char* (*name)(Value), int last) {
  std::set<std::string> found;
  for (int value = 0; value <= last; ++value) found.insert(name(Value(value)));
  checks.equal(std::string(what) + ": each value has its own string", int(found.size()), last + 1);
  checks.holds(std::string(what) + ": beyond there is one too", name(Value(last + 1)) != nullptr);
}

// So many lanes of 2.5, 5 (one is as wide as two of 2.5), ... Gb/s.
struct RateRow {
  ibv_rate rate;
  int multiple, mbps;
};
constexpr std::array kRates{
    RateRow{IBV_RATE_2_5_GBPS, 1, 2500},   RateRow{IBV_RATE_5_GBPS, 2, 5000},
    RateRow{IBV_RATE_10_GBPS, 4, 10000},   RateRow{IBV_RATE_20_GBPS, 8, 20000},
    RateRow{IBV_RATE_30_GBPS, 12, 30000},  RateRow{IBV_RATE_40_GBPS, 16, 40000},
    RateRow{IBV_RATE_60_GBPS, 24, 60000},  RateRow{IBV_RATE_80_GBPS, 32, 80000},
    RateRow{IBV_RATE_120_GBPS, 48, 120000}};
}  // namespace

void check_names(Bench& bench) {
  Checks& checks = *bench.checks;
  check_strings(checks, "ibv_wc_status_str", ibv_wc_status_str, IBV_WC_TM_RNDV_INCOMPLETE);
  check_strings(checks, "ibv_event_type_str", ibv_event_type_str, IBV_EVENT_WQ_FATAL);
  check_strings(checks, "ibv_port_state_str", ibv_port_state_str, IBV_PORT_ACTIVE_DEFER);
  checks.holds("a channel adapter is called so",
               std::strstr(ibv_node_type_str(IBV_NODE_CA), "channel adapter") != nullptr);
  for (const RateRow& row : kRates) {
    checks.equal("ibv_rate_to_mult", ibv_rate_to_mult(row.rate), row.multiple);
    checks.equal("mult_to_ibv_rate", mult_to_ibv_rate(row.multiple), row.rate);
    checks.equal("ibv_rate_to_mbps", ibv_rate_to_mbps(row.rate), row.mbps);
    checks.equal("mbps_to_ibv_rate", mbps_to_ibv_rate(row.mbps), row.rate);
  }
  // 4 lanes of 25.78125 Gb/s, 8 of 53.125.
  checks.equal("EDR in Mb/s", ibv_rate_to_mbps(IBV_RATE_100_GBPS), 103125);
  checks.equal("8 lanes of HDR in Mb/s", ibv_rate_to_mbps(IBV_RATE_400_GBPS), 425000);
  checks.equal("no rate", mbps_to_ibv_rate(1), IBV_RATE_MAX);
}
}  // namespace cases
