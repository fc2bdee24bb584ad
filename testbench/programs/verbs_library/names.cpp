// SPDX-License-Identifier: Apache-2.0
// The names of the verbs' numbers, and the rates as numbers.
#include <cmath>

#include "testbench/programs/verbs_library/library.h"
#include "testbench/programs/verbs_library/tables.h"

using namespace hca;
using namespace hca::verbs_library;

namespace {
template <class Value>
struct NameRow {
  Value value;
  const char* name;
};
template <class Value, std::size_t kRows>
const char* name_of(const std::array<NameRow<Value>, kRows>& rows, Value value) {
  const auto* row = find_row(rows, &NameRow<Value>::value, value);
  return row ? row->name : "unknown";
}

constexpr std::array kStatuses{
    // clang-format off
    NameRow<ibv_wc_status>{IBV_WC_SUCCESS,            "success"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_LEN_ERR,        "local length error"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_QP_OP_ERR,      "local QP operation error"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_EEC_OP_ERR,     "local EE context operation error"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_PROT_ERR,       "local protection error"},
    NameRow<ibv_wc_status>{IBV_WC_WR_FLUSH_ERR,       "work request flushed"},
    NameRow<ibv_wc_status>{IBV_WC_MW_BIND_ERR,        "memory window bind error"},
    NameRow<ibv_wc_status>{IBV_WC_BAD_RESP_ERR,       "bad response"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_ACCESS_ERR,     "local access error"},
    NameRow<ibv_wc_status>{IBV_WC_REM_INV_REQ_ERR,    "remote invalid request error"},
    NameRow<ibv_wc_status>{IBV_WC_REM_ACCESS_ERR,     "remote access error"},
    NameRow<ibv_wc_status>{IBV_WC_REM_OP_ERR,         "remote operation error"},
    NameRow<ibv_wc_status>{IBV_WC_RETRY_EXC_ERR,      "transport retries exceeded"},
    NameRow<ibv_wc_status>{IBV_WC_RNR_RETRY_EXC_ERR,  "receiver-not-ready retries exceeded"},
    NameRow<ibv_wc_status>{IBV_WC_LOC_RDD_VIOL_ERR,   "local RDD violation"},
    NameRow<ibv_wc_status>{IBV_WC_REM_INV_RD_REQ_ERR, "remote invalid RD request"},
    NameRow<ibv_wc_status>{IBV_WC_REM_ABORT_ERR,      "aborted by the remote end"},
    NameRow<ibv_wc_status>{IBV_WC_INV_EECN_ERR,       "invalid EE context number"},
    NameRow<ibv_wc_status>{IBV_WC_INV_EEC_STATE_ERR,  "invalid state of the EE context"},
    NameRow<ibv_wc_status>{IBV_WC_FATAL_ERR,          "fatal error"},
    NameRow<ibv_wc_status>{IBV_WC_RESP_TIMEOUT_ERR,   "response timeout"},
    NameRow<ibv_wc_status>{IBV_WC_GENERAL_ERR,        "general error"},
    NameRow<ibv_wc_status>{IBV_WC_TM_ERR,             "tag matching error"},
    NameRow<ibv_wc_status>{IBV_WC_TM_RNDV_INCOMPLETE, "tag matching rendezvous incomplete"},
    // clang-format on
};

constexpr std::array kEventNames{
    // clang-format off
    NameRow<ibv_event_type>{IBV_EVENT_CQ_ERR,              "CQ error"},
    NameRow<ibv_event_type>{IBV_EVENT_QP_FATAL,            "fatal error of a QP"},
    NameRow<ibv_event_type>{IBV_EVENT_QP_REQ_ERR,          "invalid request at a QP"},
    NameRow<ibv_event_type>{IBV_EVENT_QP_ACCESS_ERR,       "access violation at a QP"},
    NameRow<ibv_event_type>{IBV_EVENT_COMM_EST,            "communication established"},
    NameRow<ibv_event_type>{IBV_EVENT_SQ_DRAINED,          "send queue drained"},
    NameRow<ibv_event_type>{IBV_EVENT_PATH_MIG,            "path migrated"},
    NameRow<ibv_event_type>{IBV_EVENT_PATH_MIG_ERR,        "path migration failed"},
    NameRow<ibv_event_type>{IBV_EVENT_DEVICE_FATAL,        "fatal error of the device"},
    NameRow<ibv_event_type>{IBV_EVENT_PORT_ACTIVE,         "port active"},
    NameRow<ibv_event_type>{IBV_EVENT_PORT_ERR,            "port error"},
    NameRow<ibv_event_type>{IBV_EVENT_LID_CHANGE,          "LID changed"},
    NameRow<ibv_event_type>{IBV_EVENT_PKEY_CHANGE,         "P_Key table changed"},
    NameRow<ibv_event_type>{IBV_EVENT_SM_CHANGE,           "SM changed"},
    NameRow<ibv_event_type>{IBV_EVENT_SRQ_ERR,             "SRQ error"},
    NameRow<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED,   "SRQ limit reached"},
    NameRow<ibv_event_type>{IBV_EVENT_QP_LAST_WQE_REACHED, "last WQE reached"},
    NameRow<ibv_event_type>{IBV_EVENT_CLIENT_REREGISTER,   "client reregistration"},
    NameRow<ibv_event_type>{IBV_EVENT_GID_CHANGE,          "GID table changed"},
    NameRow<ibv_event_type>{IBV_EVENT_WQ_FATAL,            "fatal error of a WQ"},
    // clang-format on
};

constexpr std::array kNodes{
    NameRow<ibv_node_type>{IBV_NODE_CA, "InfiniBand channel adapter"},
    NameRow<ibv_node_type>{IBV_NODE_SWITCH, "InfiniBand switch"},
    NameRow<ibv_node_type>{IBV_NODE_ROUTER, "InfiniBand router"},
    NameRow<ibv_node_type>{IBV_NODE_RNIC, "iWARP NIC"},
    NameRow<ibv_node_type>{IBV_NODE_USNIC, "usNIC"},
    NameRow<ibv_node_type>{IBV_NODE_USNIC_UDP, "usNIC over UDP"},
    NameRow<ibv_node_type>{IBV_NODE_UNSPECIFIED, "unspecified"},
};
constexpr std::array kPortStates{
    NameRow<ibv_port_state>{IBV_PORT_NOP, "no state change"},
    NameRow<ibv_port_state>{IBV_PORT_DOWN, "down"},
    NameRow<ibv_port_state>{IBV_PORT_INIT, "init"},
    NameRow<ibv_port_state>{IBV_PORT_ARMED, "armed"},
    NameRow<ibv_port_state>{IBV_PORT_ACTIVE, "active"},
    NameRow<ibv_port_state>{IBV_PORT_ACTIVE_DEFER, "active deferred"},
};

// A rate is a number of lanes of this signalling rate. The name has the capacity of the lanes, as a
// multiple of 2.5 Gb/s, rounded down; no multiple is given for names between 14 and 300 of FDR and
// EDR lanes.
struct RateRow {
  ibv_rate rate;
  int lanes;
  double lane_mbps;
  int multiple;
};
constexpr double kSdr = 2500, kDdr = 5000, kFdr = 14062.5, kEdr = 25781.25, kHdr = 53125,
                 kNdr = 106250;
constexpr std::array kRates{
    // clang-format off
    RateRow{IBV_RATE_2_5_GBPS,   1, kSdr,   1}, RateRow{IBV_RATE_5_GBPS,    1, kDdr,   2},
    RateRow{IBV_RATE_10_GBPS,    4, kSdr,   4}, RateRow{IBV_RATE_20_GBPS,   4, kDdr,   8},
    RateRow{IBV_RATE_30_GBPS,   12, kSdr,  12}, RateRow{IBV_RATE_40_GBPS,   8, kDdr,  16},
    RateRow{IBV_RATE_60_GBPS,   12, kDdr,  24}, RateRow{IBV_RATE_80_GBPS,  16, kDdr,  32},
    RateRow{IBV_RATE_120_GBPS,  24, kDdr,  48}, RateRow{IBV_RATE_14_GBPS,   1, kFdr,  -1},
    RateRow{IBV_RATE_56_GBPS,    4, kFdr,  -1}, RateRow{IBV_RATE_112_GBPS,  8, kFdr,  -1},
    RateRow{IBV_RATE_168_GBPS,  12, kFdr,  -1}, RateRow{IBV_RATE_25_GBPS,   1, kEdr,  -1},
    RateRow{IBV_RATE_100_GBPS,   4, kEdr,  -1}, RateRow{IBV_RATE_200_GBPS,  8, kEdr,  -1},
    RateRow{IBV_RATE_300_GBPS,  12, kEdr,  -1}, RateRow{IBV_RATE_28_GBPS,   2, kFdr,  11},
    RateRow{IBV_RATE_50_GBPS,    1, kHdr,  20}, RateRow{IBV_RATE_400_GBPS,  8, kHdr, 160},
    RateRow{IBV_RATE_600_GBPS,  12, kHdr, 240}, RateRow{IBV_RATE_800_GBPS,  8, kNdr, 320},
    RateRow{IBV_RATE_1200_GBPS, 12, kNdr, 480},
    // clang-format on
};
int mbps_of(const RateRow& row) { return int(std::floor(row.lanes * row.lane_mbps)); }
}  // namespace

HCA_VERB const char* ibv_wc_status_str(ibv_wc_status status) { return name_of(kStatuses, status); }
HCA_VERB const char* ibv_event_type_str(ibv_event_type type) { return name_of(kEventNames, type); }
HCA_VERB const char* ibv_node_type_str(ibv_node_type type) { return name_of(kNodes, type); }
HCA_VERB const char* ibv_port_state_str(ibv_port_state state) {
  return name_of(kPortStates, state);
}

HCA_VERB int ibv_rate_to_mult(ibv_rate rate) {
  const RateRow* row = find_row(kRates, &RateRow::rate, rate);
  return row ? row->multiple : -1;
}
HCA_VERB ibv_rate mult_to_ibv_rate(int multiple) {
  const RateRow* row = multiple > 0 ? find_row(kRates, &RateRow::multiple, multiple) : nullptr;
  return row ? row->rate : IBV_RATE_MAX;
}
HCA_VERB int ibv_rate_to_mbps(ibv_rate rate) {
  const RateRow* row = find_row(kRates, &RateRow::rate, rate);
  return row ? mbps_of(*row) : -1;
}
HCA_VERB ibv_rate mbps_to_ibv_rate(int mbps) {
  for (const RateRow& row : kRates)
    if (mbps_of(row) == mbps) return row.rate;
  return IBV_RATE_MAX;
}
