// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <stdexcept>

#include "model/blocks/per_port.h"
#include "model/proto/qp_transitions.h"

namespace hca::testbench {
using namespace proto;

namespace {
// What a set-up leaves out.
constexpr u64 kRegionVa = 0x100'0000, kRegionStep = 0x100'0000, kRegionPhysical = 0x800'0000;
constexpr u64 kRegionBytes = 4096;
constexpr u32 kFirstKey = 0x10041, kFirstWindowKey = 0x20081, kKeyStep = 0x101;
constexpr u32 kFirstQpn = 0x11, kFirstPeerQpn = 0x21;
// A CQ has a power of two of entries; the verbs ask for four or more.
constexpr u32 kMinCqEntries = 4, kMaxCqEntries = 1 << 16;
constexpr u32 kQkey = 0x11111111;
constexpr u32 kCqEntries = 64, kWorkRequests = 16, kMaxSges = 4, kMaxInline = 64;
constexpr u64 kOurMac = 0x020000000001, kPeerMac = 0x020000000002;
constexpr u16 kOurLid = 1, kPeerLid = 2;
constexpr u32 kOurIp = 0xc0000201, kPeerIp = 0xc0000202;                 // 192.0.2.1, .2
constexpr u64 kGidHigh = 0x20010db800000000, kOurGid = 1, kPeerGid = 2;  // 2001:db8::1, ::2

QpAttributes default_attributes() {
  QpAttributes a{};
  a.state = QpState::Rts, a.port = 1, a.access = kAllAccess, a.path_mtu = 256;
  a.rq_psn = 0x100, a.sq_psn = 0x200, a.max_rd_atomic = a.max_dest_rd_atomic = 4;
  a.min_rnr_timer = 12, a.timeout = 14, a.retry_count = 7, a.rnr_retry = 7;
  a.hop_limit = 64, a.udp_source_port = kFirstUdpSourcePort;
  a.qkey = kQkey;
  return a;
}
Service service_of(const JsonAt& json) {
  constexpr std::array kMade{Service::Rc, Service::Uc, Service::Ud};
  std::string names;
  for (const Service service : kMade) {
    if (json.text() == name_of(service)) return service;
    names += (names.empty() ? "" : ", ") + std::string(name_of(service));
  }
  json.refuse("is '" + json.text() + "'", names);
}

const std::set<std::string, std::less<>> kQpKeys{
    "pd",           "send_cq",      "recv_cq",    "max_send_wr", "max_recv_wr",
    "max_send_sge", "max_recv_sge", "max_inline", "signal_all",  "privileged",
    "srq",          "qp",           "status",     "service",     "qpn"};

const nlohmann::json kNothing = nlohmann::json::object();
JsonAt part_of(const JsonAt& setup, const char* name) {
  return setup.has(name) ? setup[name] : JsonAt(kNothing, name);
}

}  // namespace

u32 ports_of(const JsonAt& setup) {
  return setup.has("ports") ? u32(setup["ports"].number(1, blocks::kMaxPorts)) : 1;
}

VectorHost::VectorHost(const JsonAt& setup, ReplayDevice& device)
    : device_(device),
      verbs_(device.memory(),
             [&device](u32 offset, std::span<const u8> data) { device.mmio_write(offset, data); }),
      contents_(device.memory()) {
  setup.check_keys({"framing", "pkeys", "ports", "vlan", "priorities", "options", "pds", "cqs",
                    "regions", "windows", "srqs", "qps", "loop"});
  verbs_.set_step([this] { return device_.run(), false; });
  block_ = verbs_.alloc(kCommandBytes, kCommandBytes);
  make_port(setup);
  async_ = verbs_.open_async_events();
  channel_ = verbs_.create_comp_channel();
  make_pds(setup), make_cqs(setup), make_regions(setup), make_windows(setup);
  make_srqs(setup), make_qps(setup);
}

// ---- Objects
void VectorHost::make_port(const JsonAt& setup) {
  Framing framing = Framing::RoceV2Ip4;
  if (setup.has("framing")) {
    const auto row =
        std::find_if(kFramingRows.begin(), kFramingRows.end(),
                     [&](const FramingRow& r) { return r.name == setup["framing"].text(); });
    if (row == kFramingRows.end())
      setup["framing"].refuse("is unknown",
                              "IB local, IB global, RoCEv1, RoCEv2 IPv4, RoCEv2 IPv6");
    framing = row->framing;
  }
  const bool ip4 = framing == Framing::RoceV2Ip4;
  port_.framing = u8(framing), port_.mac = kOurMac, port_.lid = kOurLid;
  port_.gids[0] = ip4 ? gid_of_ipv4(kOurIp) : make_gid(kGidHigh, kOurGid);
  port_.vlan = u16(symbols_.value_or(setup, "vlan", 0, kMaxVlan));
  port_.priorities = symbols_.value_or(setup, "priorities", port_.priorities, ~u64{0});
  peer_port_ = port_, peer_port_.mac = kPeerMac, peer_port_.lid = kPeerLid;
  peer_port_.gids[0] = ip4 ? gid_of_ipv4(kPeerIp) : make_gid(kGidHigh, kPeerGid);
  if (setup.has("pkeys")) {
    const std::vector<JsonAt> keys = setup["pkeys"].entries();
    if (keys.size() > kPkeyEntries) setup["pkeys"].refuse("is longer than the table", "16 entries");
    port_.pkeys = {};
    for (std::size_t i = 0; i < keys.size(); ++i)
      port_.pkeys[i] = u16(symbols_.value(keys[i], 0xffff));
  }
  ports_ = ports_of(setup);
  for (u32 number = 1; number <= ports_; ++number)
    if (verbs_.set_port(port_, number) != Error::None)
      throw std::runtime_error(
          fmt::format("setup: port {} is refused: {}", number, name_of(verbs_.last_status())));
}

void VectorHost::make_pds(const JsonAt& setup) {
  const auto make = [&](const std::string& name, const JsonAt& where) {
    const Pd* pd = verbs_.alloc_pd();
    if (!pd) where.refuse("the device gives no PD", "fewer PDs");
    pds_[name] = pd->number;
    symbols_.define(name, pd->number, where);
  };
  make("pd", setup);
  if (!setup.has("pds")) return;
  for (const JsonAt& name : setup["pds"].entries()) make(name.text(), name);
}

void VectorHost::make_cqs(const JsonAt& setup) {
  const JsonAt cqs = part_of(setup, "cqs");
  const auto make = [&](const std::string& name, u32 entries, bool events, const JsonAt& where) {
    // The verbs double the size: they tell the device of what they took only now and then.
    cqs_[name] = verbs_.create_cq(entries / 2, events ? channel_ : nullptr);
    if (!cqs_[name]) where.refuse("the device gives no CQ", "fewer or smaller CQs");
    symbols_.define(name, cqs_[name]->cqn, where);
  };
  make("cq", 2 * kCqEntries, true, setup);
  for (const auto& [name, unused] : cqs.value().items()) {
    const JsonAt cq = cqs[name];
    cq.check_keys({"entries", "events"});
    const u32 entries = u32(symbols_.value_or(cq, "entries", kCqEntries));
    if (entries < kMinCqEntries || entries > kMaxCqEntries || !std::has_single_bit(entries))
      cq["entries"].refuse(fmt::format("is {}", entries),
                           fmt::format("a power of two, {} .. {}", kMinCqEntries, kMaxCqEntries));
    make(name, entries, !cq.has("events") || cq["events"].value() == true, cq);
  }
}

void VectorHost::make_regions(const JsonAt& setup) {
  const JsonAt regions = part_of(setup, "regions");
  u64 number = 0;
  for (const auto& [name, unused] : regions.value().items()) {
    const JsonAt r = regions[name];
    r.check_keys({"bytes", "access", "pd", "va", "physical", "key", "seed", "register"});
    MemoryPlace place;
    place.va = symbols_.value_or(r, "va", kRegionVa + number * kRegionStep, ~u64{0});
    place.bytes = symbols_.value_or(r, "bytes", kRegionBytes, u64{1} << 33);
    place.physical = symbols_.value_or(r, "physical",
                                       kRegionVa + number * kRegionStep + kRegionPhysical, ~u64{0});
    const u32 key = u32(symbols_.value_or(r, "key", kFirstKey + number * kKeyStep, ~u32{0}));
    symbols_.define(name, place.va, r);
    symbols_.define(name + ".key", key, r);
    contents_.add(name, place, symbols_.value_or(r, "seed", number + 1, ~u64{0}));
    keys_[name] = key;
    ++number;
    if (r.has("register") && r["register"].value() == false) continue;
    Block block{};
    encode(MrAttributes{place.va, place.bytes, place.physical,
                        u32(symbols_.value_or(r, "pd", pds_.at("pd"), ~u32{0})), key,
                        u8(symbols_.value_or(r, "access", kAllAccess, 0xff))},
           block.data() + kCommandHeaderBytes);
    must_execute(CommandOpcode::RegisterMr, key_index(key), block, r);
  }
}

void VectorHost::make_windows(const JsonAt& setup) {
  static constexpr std::array<std::string_view, 3> kTypes{"1", "2A", "2B"};
  const JsonAt windows = part_of(setup, "windows");
  u32 number = 0;
  for (const auto& [name, unused] : windows.value().items()) {
    const JsonAt w = windows[name];
    w.check_keys({"type", "pd", "key"});
    const auto type = std::find(kTypes.begin(), kTypes.end(), w["type"].text());
    if (type == kTypes.end()) w["type"].refuse("is '" + w["type"].text() + "'", "1, 2A, 2B");
    MwAttributes a;
    a.type = KeyKind(u8(KeyKind::Window1) + (type - kTypes.begin()));
    a.pd = u32(symbols_.value_or(w, "pd", pds_.at("pd"), ~u32{0}));
    a.key = u32(symbols_.value_or(w, "key", kFirstWindowKey + number++ * kKeyStep, ~u32{0}));
    symbols_.define(name + ".key", a.key, w);
    windows_[name] = a.key;
    Block block{};
    encode(a, block.data() + kCommandHeaderBytes);
    must_execute(CommandOpcode::AllocMw, key_index(a.key), block, w);
  }
}

void VectorHost::make_srqs(const JsonAt& setup) {
  const JsonAt srqs = part_of(setup, "srqs");
  for (const auto& [name, unused] : srqs.value().items()) {
    const JsonAt s = srqs[name];
    s.check_keys({"max_wr", "max_sge", "limit", "pd", "port"});
    SrqInitAttr init;
    Pd pd{u32(symbols_.value_or(s, "pd", pds_.at("pd"), ~u32{0}))};
    init.pd = &pd, init.port = u32(symbols_.value_or(s, "port", 1, blocks::kMaxPorts));
    init.max_wr = u32(symbols_.value_or(s, "max_wr", kWorkRequests, 1 << 15));
    init.max_sge = u32(symbols_.value_or(s, "max_sge", kMaxSges, 1 << 15));
    init.srq_limit = u32(symbols_.value_or(s, "limit", 0, ~u32{0}));
    srqs_[name] = verbs_.create_srq(init);
    if (!srqs_[name]) s.refuse("the device gives no SRQ", "fewer or smaller SRQs");
    symbols_.define(name, srqs_[name]->srqn, s);
  }
}

Srq& VectorHost::srq_of(const JsonAt& json) const {
  const auto found = srqs_.find(json["srq"].text());
  if (found == srqs_.end())
    json["srq"].refuse("there is no SRQ '" + json["srq"].text() + "'", "one of setup.srqs");
  return *found->second;
}

void VectorHost::make_qps(const JsonAt& setup) {
  u32 number = 0;
  if (!setup.has("qps")) return make_qp("q", JsonAt(kNothing, "setup.qps.q"), 0);
  join_qps(setup);
  for (const auto& [name, unused] : setup["qps"].value().items())
    make_qp(name, setup["qps"][name], number++);
}

// "loop": ["a", "b"]: the numbers of two queue pairs that are connected to each other.
void VectorHost::join_qps(const JsonAt& setup) {
  if (!setup.has("loop")) return;
  std::vector<u32> numbers;
  for (const JsonAt& name : setup["loop"].entries()) {
    const nlohmann::json& qps = setup["qps"].value();
    const auto at = qps.find(name.text());
    if (at == qps.end()) name.refuse("there is no queue pair '" + name.text() + "'", "one of qps");
    numbers.push_back(kFirstQpn + u32(std::distance(qps.begin(), at)));
  }
  if (numbers.size() != 2 || numbers[0] == numbers[1])
    setup["loop"].refuse("joins no two queue pairs", "two names");
  loop_ = {numbers[0], numbers[1]};
}

void VectorHost::make_qp(const std::string& name, const JsonAt& json, u32 number) {
  QpInitAttr init;
  if (json.has("service")) init.service = service_of(json["service"]);
  const auto cq = [&](const char* key) {
    const std::string cq_name = json.has(key) ? json[key].text() : "cq";
    if (!cqs_.contains(cq_name)) json[key].refuse("there is no CQ '" + cq_name + "'", "one of cqs");
    return cqs_.at(cq_name);
  };
  init.send_cq = cq("send_cq"), init.recv_cq = cq("recv_cq");
  Pd pd{u32(symbols_.value_or(json, "pd", pds_.at("pd"), ~u32{0}))};
  init.pd = &pd;
  const auto size = [&](const char* key, u32 otherwise) {
    return u32(symbols_.value_or(json, key, otherwise, 1 << 15));
  };
  init.max_send_wr = size("max_send_wr", kWorkRequests);
  init.max_recv_wr = size("max_recv_wr", kWorkRequests);
  init.max_send_sge = size("max_send_sge", kMaxSges),
  init.max_recv_sge = size("max_recv_sge", kMaxSges);
  init.max_inline_data = size("max_inline", kMaxInline);
  init.sq_sig_all = !json.has("signal_all") || json["signal_all"].value() == true;
  if (json.has("srq")) init.srq = &srq_of(json);
  init.privileged = json.has("privileged") && json["privileged"].value() == true;
  VectorQp& made = qps_[name];
  made.name = name;
  made.qp =
      verbs_.create_qp(init, u32(symbols_.value_or(json, "qpn", kFirstQpn + number, 0xffffff)));
  if (!made.qp) json.refuse("the device gives no QP", std::string(name_of(verbs_.last_status())));
  symbols_.define(name, made.qp->qpn, json);
  const bool loops = is_of_loop(made.qp->qpn), second = loops && made.qp->qpn == loop_[1];
  const PortAttributes& far = loops ? port_ : peer_port_;
  QpAttributes a = default_attributes();
  a.dest_qpn = loops ? loop_[!second] : kFirstPeerQpn + number;
  if (second) std::swap(a.rq_psn, a.sq_psn);
  symbols_.define(name + ".peer", a.dest_qpn, json);
  a.dmac = far.mac, a.dlid = far.lid;
  a.dgid_high = load_be<8>(far.gids[0].bytes.data());
  a.dgid_low = load_be<8>(far.gids[0].bytes.data() + 8);
  std::array<u8, bytes_of<QpAttributes>()> body;
  encode(a, body.data());
  encode_qp_attributes(json, symbols_, body.data());
  decode_to(body.data(), a);
  const QpState last = a.state;
  QpState from = QpState::Reset;
  for (const QpState to : {QpState::Init, QpState::Rtr, QpState::Rts}) {
    if (last != QpState::Error && last != QpState::Sqd && u8(to) > u8(last)) break;
    a.state = to, a.mask = find_transition(init.service, std::exchange(from, to), to)->required;
    if (verbs_.modify_qp(*made.qp, a) != Error::None)
      json.refuse(fmt::format("{} is refused: {}", name_of(to), name_of(verbs_.last_status())),
                  "attributes that the transition takes");
  }
  if (last == QpState::Error || last == QpState::Sqd) {
    a.state = last, a.mask = kQpState;
    verbs_.modify_qp(*made.qp, a);
  }
  made.peer.service = init.service;
  made.peer.qpn = made.qp->qpn, made.peer.peer_qpn = a.dest_qpn;
  made.peer.pkey = port_.pkeys[a.pkey_index], made.peer.qkey = a.qkey;
  made.to_peer = {a.dest_qpn,        a.qkey,       port_.framing == u8(Framing::IbGlobal),
                  a.sgid_index,      a.sl,         a.traffic_class,
                  a.hop_limit,       a.flow_label, a.dlid,
                  a.udp_source_port, a.dmac,       a.dgid_high,
                  a.dgid_low};
  QpAttributes back = a;  // the peer's way to us
  back.dmac = port_.mac, back.dlid = port_.lid;
  back.dgid_high = load_be<8>(port_.gids[0].bytes.data());
  back.dgid_low = load_be<8>(port_.gids[0].bytes.data() + 8);
  made.peer.from_peer = detail::path_of(back, far, made.qp->qpn == kQp0 ? kQp0Lane : 0);
  PortAttributes global = far;  // where a datagram may have a GRH and another none
  global.framing = u8(Framing::IbGlobal);
  made.peer.global_from_peer = detail::path_of(back, is_native(Framing(far.framing)) ? global : far,
                                               made.qp->qpn == kQp0 ? kQp0Lane : 0);
}

void VectorHost::encode_qp_attributes(const JsonAt& json, const Symbols& symbols, u8* body) {
  const HeaderInfo& info = kHeaderInfo<QpAttributes>;
  for (const auto& [name, unused] : json.value().items()) {
    if (kQpKeys.contains(name)) continue;
    const FieldInfo* field = find_field(info, name);
    if (!field)
      json[name].refuse(
          "is no attribute of a queue pair",
          "service, qpn, pd, send_cq, recv_cq, max_send_wr, max_recv_wr, max_send_sge, "
          "max_recv_sge, max_inline, signal_all, privileged, srq, " +
              names_of_fields(info));
    set_field(body, *field, json[name], symbols);
  }
}
}  // namespace hca::testbench
