// SPDX-License-Identifier: Apache-2.0
// The RD domains and EE contexts of a set-up, and the queue pairs of RD.
#include "testbench/vectors/format.h"
#include "testbench/vectors/setup_plan.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u32 kFirstEecn = 0x31, kFirstPeerEecn = 0x41;
constexpr u64 kMaxEecn = 0xffffff;

// For an error: a member, or the object that lacks it.
JsonAt place_of(const JsonAt& json, const char* key) { return json.has(key) ? json[key] : json; }
}  // namespace

void SetupPlan::plan_rd_domains(const JsonAt& setup) {
  if (!setup.has("rd_domains")) return;
  for (const JsonAt& name : setup["rd_domains"].entries()) {
    const u32 number = u32(rd_domains.size()) + 1;
    symbols.define(name.text(), number, name);
    rd_domains[name.text()] = number;
  }
}

void SetupPlan::plan_ee_contexts(const JsonAt& setup) {
  if (!setup.has("ee_contexts")) return;
  const JsonAt all = setup["ee_contexts"];
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt json = all[name];
    const u32 number = u32(ee_contexts.size());
    PlannedEec& eec = ee_contexts[name];
    eec.eecn = u32(symbols.value_or(json, "eecn", kFirstEecn + number, kMaxEecn));
    symbols.define(name, eec.eecn, json);
    QpAttributes a = default_attributes();
    a.dest_qpn = kFirstPeerEecn + number;
    a.dmac = peer_port.mac;
    a.dlid = peer_port.lid;
    a.dgid_high = load_be<8>(peer_port.gids[0].bytes.data());
    a.dgid_low = load_be<8>(peer_port.gids[0].bytes.data() + 8);
    eec.attributes = attributes_of(json, a);
    symbols.define(name + ".peer", eec.attributes.dest_qpn, json);
    const std::string domain = json.has("rdd") ? json["rdd"].text() : "d";
    eec.attributes.rdd = one_of(rd_domains, domain, place_of(json, "rdd"), "RD domain");
  }
}

// An RD queue pair has a domain; the packets of its peer come over an EE context.
void SetupPlan::plan_rd(PlannedQp& qp, const JsonAt& json) {
  const bool is_rd = qp.init.service == Service::Rd;
  for (const char* key : {"rdd", "ee"})
    if (!is_rd && json.has(key)) json[key].refuse("is only for RD", "queue pairs of service RD");
  if (!is_rd) return;
  const std::string domain = json.has("rdd") ? json["rdd"].text() : "d";
  qp.attributes.rdd = one_of(rd_domains, domain, place_of(json, "rdd"), "RD domain");
  const std::string name = json.has("ee") ? json["ee"].text() : "e";
  const PlannedEec& eec = one_of(ee_contexts, name, place_of(json, "ee"), "EE context");
  qp.peer.eecn = eec.eecn;
  qp.peer.peer_eecn = eec.attributes.dest_qpn;
  qp.peer.pkey = port.pkeys[eec.attributes.pkey_index];
  qp.rd_to_peer = {eec.eecn, qp.attributes.dest_qpn, qp.attributes.qkey};
}
}  // namespace hca::testbench
