// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "testbench/tests/system/malice/random_vector.h"

namespace hca::testbench::malice {
namespace {
// The two addresses of a peer, which its two paths lead to.
struct Address {
  const char *mac, *gid;
};
constexpr std::array kAddresses{Address{"0x020000000002", "0xffffc0000202"},
                                Address{"0x020000000003", "0xffffc0000203"}};
}  // namespace

void RandomVector::command(const char* name, const std::string& object, Json body) {
  add("command", {{"name", name}, {"object", object}, {"body", std::move(body)}});
}

// By Reset to RTS.
void RandomVector::revive(End& end) {
  const bool is_ud = end.service == "UD";
  Flow& flow = flow_of(end);
  const auto modify = [&](Json body) { command("ModifyQp", end.name, std::move(body)); };
  // What becomes of a message of RD whose queue pair is reset inside of it, no statement says.
  const auto is_inside = [&](const Flow& f) {
    return !f.message.empty() && &ends_[f.owner] == &end;
  };
  if (end.is_rd() && std::ranges::any_of(flows_, is_inside)) return;
  if (end.is_rd()) forget(end);
  if (chance(25)) return modify({{"State", "Error"}});
  if (end.is_rd() && chance(50)) return modify({{"State", "RTS"}});  // from SQE
  modify({{"State", "Reset"}});
  Json init{{"State", "Init"}, {"P_KeyIndex", 0}, {"Port", 1}}, rtr{{"State", "RTR"}},
      rts{{"State", "RTS"}};
  if (end.is_rd()) {
    init.update({{"Q_Key", "0x11111111"}, {"RDD", "rdd"}, {"Access", "all"}});
    modify(init), modify(rtr), modify(rts);
    return;
  }
  flow.expected = one_of(kFirstPsns), flow.next = one_of(kFirstPsns);
  flow.message.clear(), flow.outstanding.clear(), flow.left = flow.msn = 0;
  end.migration = proto::PathMigState::Migrated, end.away = false;
  if (is_ud)
    init["Q_Key"] = 0;
  else
    init["Access"] = "all";
  modify(init);
  if (!is_ud) {
    rtr.update({{"DMAC", kAddresses[0].mac},
                {"DGIDHigh", 0},
                {"DGIDLow", kAddresses[0].gid},
                {"HopLimit", 64},
                {"UdpSourcePort", "0xc000"},
                {"PathMTU", flow.path_mtu},
                {"DestQP", end.name + ".peer"},
                {"RqPSN", flow.expected}});
    if (end.is_reliable() && end.receives())
      rtr.update({{"MaxDestRdAtomic", 4}, {"MinRnrTimer", 12}});
  }
  modify(rtr);
  rts["SqPSN"] = flow.next;
  if (end.is_reliable()) rts["Timeout"] = 14;
  if (end.is_reliable() && end.sends())
    rts.update({{"RetryCount", 7}, {"RnrRetry", 7}, {"MaxRdAtomic", 4}});
  modify(rts);
}

// An EE context: to Error, to SQD and back, or by Reset to RTS.
void RandomVector::revive_context(Flow& flow) {
  const auto modify = [&](Json body) { command("ModifyEec", flow.ee, std::move(body)); };
  if (chance(20)) return modify({{"State", "Error"}});
  if (chance(40)) return modify({{"State", chance(40) ? "SQD" : "RTS"}});
  if (flow.served) ends_[*flow.served].asks = false;
  for (const std::size_t i : flow.asking) ends_[i].asks = false;
  for (End& end : ends_)
    if (!end.asks) end.waiting.clear();
  const std::string name = flow.ee;
  const u32 path_mtu = flow.path_mtu;
  flow = {};
  flow.ee = name, flow.path_mtu = path_mtu;
  flow.expected = one_of(kFirstPsns), flow.next = one_of(kFirstPsns);
  modify({{"State", "Reset"}});
  modify({{"State", "Init"}, {"P_KeyIndex", 0}, {"Port", 1}, {"RDD", "rdd"}});
  modify({{"State", "RTR"},
          {"DMAC", kAddresses[0].mac},
          {"DGIDHigh", 0},
          {"DGIDLow", kAddresses[0].gid},
          {"HopLimit", 64},
          {"UdpSourcePort", "0xc000"},
          {"PathMTU", path_mtu},
          {"DestQP", name + ".peer"},
          {"RqPSN", flow.expected},
          {"MaxDestRdAtomic", 4}});
  modify({{"State", "RTS"},
          {"SqPSN", flow.next},
          {"Timeout", 14},
          {"RetryCount", random_.below(4)},
          {"RnrRetry", random_.below(4)},
          {"MaxRdAtomic", 4}});
}

// A new alternate path, or the change to it; at times in the wrong state.
void RandomVector::migrate(End& end) {
  using proto::PathMigState;
  const auto modify = [&](Json body) {
    body["State"] = "RTS";
    command("ModifyQp", end.name, std::move(body));
  };
  if (end.migration == PathMigState::Armed ? chance(60) : chance(10)) {
    if (end.migration == PathMigState::Armed) end.away = !end.away;
    end.migration = PathMigState::Migrated;
    return modify({{"PathMigState", 0}});
  }
  const Address& to = kAddresses[!end.away];
  end.migration = PathMigState::Rearm;
  modify({{"AltPort", chance(97) ? 1 : 2},
          {"AltTimeout", 14},
          {"AltHopLimit", 64},
          {"AltUdpSourcePort", "0xc000"},
          {"AltDMAC", to.mac},
          {"AltDGIDLow", to.gid},
          {"PathMigState", chance(97) ? 1 : 2}});
}

// Retries are exhausted after several timeouts of 67 ms. No sum of these times is near the end of a
// timer: the work of one model takes time.
void RandomVector::let_time_pass() {
  if (chance(50)) return add("advance", "20 us");
  if (chance(60)) return add("advance", "100 ms");
  add("advance", "600 ms");
  for (End& end : ends_) {
    if (end.migration != proto::PathMigState::Armed || flow_of(end).outstanding.empty()) continue;
    end.migration = proto::PathMigState::Migrated, end.away = !end.away;
  }
}
}  // namespace hca::testbench::malice
