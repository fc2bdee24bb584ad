// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/setup_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/blocks/lib/per_port.h"
#include "model/proto/transport/qp_transitions.h"
#include "testbench/vectors/format.h"

namespace hca::testbench {
using namespace proto;

namespace {
// Defaults for values that a set-up leaves out.
constexpr u64 kRegionVa = 0x100'0000, kRegionStep = 0x100'0000, kRegionPhysical = 0x800'0000;
constexpr u64 kRegionBytes = 4096, kMaxRegionBytes = u64{1} << 33;
constexpr u32 kFirstKey = 0x10041, kFirstWindowKey = 0x20081, kKeyStep = 0x101;
constexpr u32 kFirstQpn = 0x11, kFirstPeerQpn = 0x21;
constexpr u32 kMaxQueue = 1 << 15;  // work requests, SGEs
constexpr u32 kQkey = 0x11111111;
constexpr u32 kCqEntries = 64, kWorkRequests = 16, kMaxSges = 4, kMaxInline = 64;
constexpr u64 kOurMac = 0x020000000001, kPeerMac = 0x020000000002;
constexpr u16 kOurLid = 1, kPeerLid = 2;
constexpr u32 kOurIp = 0xc0000201, kPeerIp = 0xc0000202;                 // 192.0.2.1, .2
constexpr u64 kGidHigh = 0x20010db800000000, kOurGid = 1, kPeerGid = 2;  // 2001:db8::1, ::2

}  // namespace

QpAttributes default_attributes() {
  QpAttributes a{};
  a.state = QpState::Rts;
  a.port = 1;
  a.access = kAllAccess;
  a.path_mtu = 256;
  a.rq_psn = 0x100;
  a.sq_psn = 0x200;
  a.max_rd_atomic = a.max_dest_rd_atomic = 4;
  a.min_rnr_timer = 12;
  a.timeout = 14;
  a.retry_count = 7;
  a.rnr_retry = 7;
  a.hop_limit = 64;
  a.udp_source_port = kFirstUdpSourcePort;
  a.qkey = kQkey;
  return a;
}

namespace {
Service service_of(const JsonAt& json) {
  for (const Service service : {Service::Rc, Service::Uc, Service::Rd, Service::Xrc})
    if (json.text() == name_of(service)) return service;
  return Service::Ud;
}

const nlohmann::json kNoObjects = nlohmann::json::object();
JsonAt part_of(const JsonAt& setup, const char* name) {
  return setup.has(name) ? setup[name] : JsonAt(kNoObjects, name);
}
bool is_set(const JsonAt& object, const char* key, bool otherwise) {
  return object.has(key) ? object[key].truth() : otherwise;
}

// "a, b, c": for an error.
template <class Map>
std::string names_in(const Map& map) {
  std::string names;
  for (const auto& [name, unused] : map) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none: the set-up has none" : names;
}
}  // namespace

u32 ports_of(const JsonAt& setup) {
  return setup.has("ports") ? u32(setup["ports"].number(1, blocks::kMaxPorts)) : 1;
}

SetupPlan::SetupPlan(const JsonAt& setup) {
  check_setup(setup);
  plan_port(setup);
  const auto add_pd = [&](const std::string& name, const JsonAt& where) {
    const u32 number = pds.empty() ? 1 : u32(pds.size()) + 1;
    symbols.define(name, number, where);
    pds[name] = number;
  };
  add_pd("pd", setup);
  if (setup.has("pds"))
    for (const JsonAt& name : setup["pds"].entries()) add_pd(name.text(), name);
  plan_xrc_domains(setup);
  plan_cqs(setup);
  plan_regions(setup);
  plan_windows(setup);
  plan_srqs(setup);
  plan_rd_domains(setup);
  plan_ee_contexts(setup);
  plan_qps(setup);
}

u32 SetupPlan::pd_of(const JsonAt& json) const {
  return json.has("pd") ? one_of(pds, json["pd"].text(), json["pd"], "PD") : pds.at("pd");
}

void SetupPlan::plan_port(const JsonAt& setup) {
  Framing framing = Framing::RoceV2Ip4;
  if (setup.has("framing"))
    for (const FramingRow& row : kFramingRows)
      if (row.name == setup["framing"].text()) framing = row.framing;
  const bool ip4 = framing == Framing::RoceV2Ip4;
  port.framing = u8(framing);
  port.mac = kOurMac;
  port.lid = kOurLid;
  port.gids[0] = ip4 ? gid_of_ipv4(kOurIp) : make_gid(kGidHigh, kOurGid);
  port.vlan = u16(symbols.value_or(setup, "vlan", 0, kMaxVlan));
  port.priorities = symbols.value_or(setup, "priorities", port.priorities, ~u64{0});
  peer_port = port;
  peer_port.mac = kPeerMac;
  peer_port.lid = kPeerLid;
  peer_port.gids[0] = ip4 ? gid_of_ipv4(kPeerIp) : make_gid(kGidHigh, kPeerGid);
  if (setup.has("pkeys")) {
    const std::vector<JsonAt> keys = setup["pkeys"].entries();
    if (keys.size() > kPkeyEntries) setup["pkeys"].refuse("is longer than the table", "16 entries");
    port.pkeys = {};
    for (std::size_t i = 0; i < keys.size(); ++i)
      port.pkeys[i] = u16(symbols.value(keys[i], 0xffff));
  }
  ports = ports_of(setup);
}

void SetupPlan::plan_cqs(const JsonAt& setup) {
  const auto add = [&](const std::string& name, u32 entries, bool events, const JsonAt& where) {
    const u32 number = u32(cqs.size()) + 1;
    symbols.define(name, number, where);
    cqs[name] = {number, entries, events};
  };
  add("cq", 2 * kCqEntries, true, setup);
  const JsonAt all = part_of(setup, "cqs");
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt cq = all[name];
    const u64 entries = symbols.value_or(cq, "entries", kCqEntries);
    if (entries < kMinCqEntries || entries > kMaxCqEntries || !std::has_single_bit(entries))
      cq["entries"].refuse(fmt::format("is {}", entries),
                           fmt::format("a power of two, {} .. {}", kMinCqEntries, kMaxCqEntries));
    add(name, u32(entries), is_set(cq, "events", true), cq);
  }
}

void SetupPlan::plan_regions(const JsonAt& setup) {
  const JsonAt all = part_of(setup, "regions");
  u64 number = 0;
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt r = all[name];
    PlannedRegion region;
    MemoryPlace& place = region.place;
    place.va = symbols.value_or(r, "va", kRegionVa + number * kRegionStep);
    place.bytes = symbols.value_or(r, "bytes", kRegionBytes, kMaxRegionBytes);
    if (!place.bytes) r["bytes"].refuse("is 0", fmt::format("1 .. {:#x}", kMaxRegionBytes));
    place.physical =
        symbols.value_or(r, "physical", kRegionVa + number * kRegionStep + kRegionPhysical);
    const u32 key = u32(symbols.value_or(r, "key", kFirstKey + number * kKeyStep, ~u32{0}));
    symbols.define(name, place.va, r);
    symbols.define(name + ".key", key, r);
    region.seed = symbols.value_or(r, "seed", ++number);
    region.is_registered = is_set(r, "register", true);
    region.attributes = {
        place.va, place.bytes, place.physical,
        pd_of(r), key,         Rights(symbols.value_or(r, "access", kAllAccess, 0xffff))};
    regions[name] = region;
  }
}

void SetupPlan::plan_windows(const JsonAt& setup) {
  const JsonAt all = part_of(setup, "windows");
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt w = all[name];
    const u32 key = kFirstWindowKey + u32(windows.size()) * kKeyStep;
    const auto type = std::find(kWindowTypes.begin(), kWindowTypes.end(), w["type"].text());
    MwAttributes a;
    a.type = KeyKind(u8(KeyKind::Window1) + (type - kWindowTypes.begin()));
    a.pd = pd_of(w);
    a.key = u32(symbols.value_or(w, "key", key, ~u32{0}));
    symbols.define(name + ".key", a.key, w);
    windows[name] = a;
  }
}

void SetupPlan::plan_xrc_domains(const JsonAt& setup) {
  const JsonAt all = part_of(setup, "xrc_domains");
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt d = all[name];
    const u32 number = u32(xrc_domains.size()) + 1;
    symbols.define(name, number, d);
    xrc_domains[name] = {number, d.has("pd") ? pd_of(d) : 0};
  }
}

void SetupPlan::plan_srqs(const JsonAt& setup) {
  const JsonAt all = part_of(setup, "srqs");
  for (const auto& [name, unused] : all.value().items()) {
    const JsonAt s = all[name];
    PlannedSrq srq{u32(srqs.size()) + 1, pd_of(s), {}};
    if (s.has("xrcd")) {
      srq.init.xrcd = one_of(xrc_domains, s["xrcd"].text(), s["xrcd"], "XRC domain").number;
      srq.cq = s.has("cq") ? s["cq"].text() : "cq";
      if (s.has("cq")) one_of(cqs, srq.cq, s["cq"], "CQ");
    } else if (s.has("cq")) {
      s["cq"].refuse("belongs to an SRQ without xrcd", "the recv_cq of its queue pairs");
    }
    srq.init.port = s.has("port") ? u32(s["port"].number(1, ports)) : 1;
    srq.init.max_wr = u32(symbols.value_or(s, "max_wr", kWorkRequests, kMaxQueue));
    srq.init.max_sge = u32(symbols.value_or(s, "max_sge", kMaxSges, kMaxQueue));
    srq.init.srq_limit = u32(symbols.value_or(s, "limit", 0, ~u32{0}));
    symbols.define(name, srq.number, s);
    srqs[name] = srq;
  }
}

void SetupPlan::plan_qps(const JsonAt& setup) {
  static const nlohmann::json kOne{{"q", kNoObjects}};
  const JsonAt all = setup.has("qps") ? setup["qps"] : JsonAt(kOne, "setup.qps");
  u32 number = 0;
  for (const auto& [name, unused] : all.value().items()) {
    PlannedQp& qp = qps[name];
    qp.qpn = u32(symbols.value_or(all[name], "qpn", kFirstQpn + number, kMulticastQp));
    symbols.define(name, qp.qpn, all[name]);
    ++number;
  }
  plan_loop(setup);
  number = 0;
  for (auto& [name, qp] : qps) plan_qp(qp, name, all[name], number++);
}

// "loop": ["a", "b"]: the numbers of two queue pairs that are connected to each other.
void SetupPlan::plan_loop(const JsonAt& setup) {
  if (!setup.has("loop")) return;
  const JsonAt names = setup["loop"];
  if (names.entries().size() != loop.size() || names[0].text() == names[1].text())
    names.refuse("joins no two queue pairs", "two different names of queue pairs");
  for (std::size_t i = 0; i < loop.size(); ++i)
    loop[i] = one_of(qps, names[i].text(), names[i], "queue pair").qpn;
}

// G24.1: the members that each side of XRC must have and must not have.
void SetupPlan::plan_sides(PlannedQp& qp, const JsonAt& json) {
  QpInitAttr& init = qp.init;
  const bool xrc = init.service == Service::Xrc;
  if (xrc != json.has("side"))
    json["side"].refuse(xrc ? "is missing" : "is only for XRC", "initiator or target for XRC");
  if (xrc) init.side = json["side"].text() == "target" ? QpSide::Target : QpSide::Initiator;
  const bool target = init.side == QpSide::Target;
  if (target != json.has("xrcd"))
    json["xrcd"].refuse(target ? "is missing" : "is only for an XRC target",
                        "a domain for an XRC target");
  if (target)
    init.xrcd = one_of(xrc_domains, json["xrcd"].text(), json["xrcd"], "XRC domain").number;
  constexpr std::array kOfReceivers{"recv_cq", "srq", "max_recv_wr", "max_recv_sge"};
  constexpr std::array kOfSenders{"pd",         "send_cq",    "max_send_wr", "max_send_sge",
                                  "max_inline", "signal_all", "privileged"};
  const auto refuse = [&](const auto& keys, const char* what) {
    for (const char* key : keys)
      if (json.has(key)) json[key].refuse(what, "members of its side");
  };
  if (xrc) refuse(kOfReceivers, "is not for XRC");
  if (target) refuse(kOfSenders, "is not for an XRC target");
}

// Those that `json` names replace the defaults.
QpAttributes SetupPlan::attributes_of(const JsonAt& json, const QpAttributes& defaults) const {
  std::array<u8, bytes_of<QpAttributes>()> body;
  encode(defaults, body.data());
  for_each_attribute(json, [&](const FieldInfo& field, const JsonAt& value) {
    set_field(body.data(), field, value, symbols);
  });
  const auto a = decode<QpAttributes>(body.data());
  if (a.pkey_index >= kPkeyEntries)
    json["P_KeyIndex"].refuse(fmt::format("is {}", a.pkey_index),
                              fmt::format("0 .. {}", kPkeyEntries - 1));
  return a;
}

void SetupPlan::plan_qp(PlannedQp& qp, const std::string& name, const JsonAt& json, u32 number) {
  QpInitAttr& init = qp.init;
  if (json.has("service")) init.service = service_of(json["service"]);
  plan_sides(qp, json);
  const auto cq = [&](const char* key) {
    const std::string cq_name = json.has(key) ? json[key].text() : "cq";
    if (json.has(key)) one_of(cqs, cq_name, json[key], "CQ");
    return cq_name;
  };
  qp.send_cq = cq("send_cq");
  qp.recv_cq = cq("recv_cq");
  qp.pd = pd_of(json);
  const auto size = [&](const char* key, u32 otherwise) {
    return u32(symbols.value_or(json, key, otherwise, kMaxQueue));
  };
  init.max_send_wr = size("max_send_wr", kWorkRequests);
  init.max_recv_wr = size("max_recv_wr", kWorkRequests);
  init.max_send_sge = size("max_send_sge", kMaxSges);
  init.max_recv_sge = size("max_recv_sge", kMaxSges);
  init.max_inline_data = size("max_inline", kMaxInline);
  init.sq_sig_all = is_set(json, "signal_all", true);
  init.privileged = is_set(json, "privileged", false);
  init.blocks_self = is_set(json, "blocks_self", false);
  if (json.has("srq")) {
    qp.srq = json["srq"].text();
    one_of(srqs, qp.srq, json["srq"], "SRQ");
  }
  const bool in_loop = is_of_loop(qp.qpn), second = in_loop && qp.qpn == loop[1];
  const PortAttributes& far = in_loop ? port : peer_port;
  QpAttributes a = default_attributes();
  a.dest_qpn = in_loop ? loop[!second] : kFirstPeerQpn + number;
  if (second) std::swap(a.rq_psn, a.sq_psn);
  symbols.define(name + ".peer", a.dest_qpn, json);
  a.dmac = far.mac;
  a.dlid = far.lid;
  a.dgid_high = load_be<8>(far.gids[0].bytes.data());
  a.dgid_low = load_be<8>(far.gids[0].bytes.data() + 8);
  a = attributes_of(json, a);
  qp.attributes = a;
  plan_rd(qp, json);
  check_attributes(json, init, a.state);
  if (json.has("state")) qp.state = plan_queue_state(json["state"], init.service, a, symbols);
  qp.peer.service = init.service;
  for (const auto& [unused, srq] : srqs)
    if (srq.init.xrcd && !qp.peer.xrc_srqn) qp.peer.xrc_srqn = srq.number;
  qp.peer.qpn = qp.qpn;
  qp.peer.peer_qpn = a.dest_qpn;
  if (init.service != Service::Rd) qp.peer.pkey = port.pkeys[a.pkey_index];
  qp.peer.qkey = a.qkey;
  qp.to_peer = {a.dest_qpn,        a.qkey,       port.framing == u8(Framing::IbGlobal),
                a.sgid_index,      a.sl,         a.traffic_class,
                a.hop_limit,       a.flow_label, a.dlid,
                a.udp_source_port, a.dmac,       a.dgid_high,
                a.dgid_low};
  QpAttributes back = a;  // the peer's way to us
  back.dmac = port.mac;
  back.dlid = port.lid;
  back.dgid_high = load_be<8>(port.gids[0].bytes.data());
  back.dgid_low = load_be<8>(port.gids[0].bytes.data() + 8);
  const u8 lane = qp.qpn == kQp0 ? kQp0Lane : 0;
  qp.peer.from_peer = detail::path_of(back, far, lane);
  PortAttributes global = far;  // where a datagram may have a GRH and another none
  global.framing = u8(Framing::IbGlobal);
  qp.peer.global_from_peer =
      detail::path_of(back, is_native(Framing(far.framing)) ? global : far, lane);
}

// ---- Requests by steps
const PlannedQp& SetupPlan::qp_of(const JsonAt& json) const {
  if (json.has("qp")) return one_of(qps, json["qp"].text(), json["qp"], "queue pair");
  if (qps.size() != 1) json["qp"].refuse("is missing", names_in(qps));
  return qps.begin()->second;
}

PacketContext SetupPlan::packet_context(const PlannedQp& qp) const {
  return {symbols, qp.peer,
          [this](const JsonAt& json) { return std::vector<u8>(count_bytes(json)); }};
}

const PlannedRegion& SetupPlan::region_of(const JsonAt& name) const {
  return one_of(regions, name.text(), name, "region");
}

u64 SetupPlan::count_bytes(const JsonAt& json) const {
  if (json.value().is_string()) return json.hex().size();
  if (json.has("hex")) return json["hex"].hex().size();
  const u64 bytes = symbols.value(json["bytes"], Contents::kMaxBytes);
  if (json.has("seed")) symbols.value(json["seed"]);
  if (!json.has("of")) return bytes;
  check_inside(region_of(json["of"]), json, bytes);
  return bytes;
}
void SetupPlan::check_place(const JsonAt& json, u64 bytes) const {
  check_inside(region_of(json["region"]), json, bytes);
}
void SetupPlan::check_inside(const PlannedRegion& region, const JsonAt& json, u64 bytes) const {
  const u64 all = std::min(region.place.bytes, Contents::kCompared);
  const u64 at = symbols.value_or(json, "at", 0);
  if (at > all || bytes > all - at)
    json.refuse(fmt::format("{} bytes at {} leave the region", bytes, at),
                fmt::format("0 .. {}", all));
}
}  // namespace hca::testbench
