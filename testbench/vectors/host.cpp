// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/host.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "model/proto/qp_transitions.h"
#include "testbench/vectors/command_bodies.h"

namespace hca::testbench {
using namespace proto;

namespace {
// What a set-up leaves out.
constexpr u64 kRegionVa = 0x100'0000, kRegionStep = 0x100'0000, kRegionPhysical = 0x800'0000;
constexpr u64 kRegionBytes = 4096;
constexpr u32 kFirstKey = 0x10041, kKeyStep = 0x101;
constexpr u32 kFirstQpn = 0x11, kFirstPeerQpn = 0x21;
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
  return a;
}
constexpr u32 kToInit = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
constexpr u32 kToRtr =
    kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer;
constexpr u32 kToRts =
    kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic;

const std::set<std::string, std::less<>> kQpKeys{
    "pd",           "send_cq",    "recv_cq",    "max_send_wr", "max_recv_wr", "max_send_sge",
    "max_recv_sge", "max_inline", "signal_all", "qp",          "status"};

// The bits of a mask: path fields share one.
u32 mask_of_field(std::string_view name) {
  for (std::size_t i = 0; i < kQpMaskNames.size(); ++i)
    if (kQpMaskNames[i] == name) return u32{1} << i;
  return kQpPath;
}

struct OperationName {
  std::string_view name;
  WorkOpcode opcode;
};
constexpr std::array kOperations{
    OperationName{"SEND", WorkOpcode::Send},
    OperationName{"SEND_WITH_IMM", WorkOpcode::SendImmediate},
    OperationName{"SEND_WITH_INV", WorkOpcode::SendInvalidate},
    OperationName{"RDMA_WRITE", WorkOpcode::RdmaWrite},
    OperationName{"RDMA_WRITE_WITH_IMM", WorkOpcode::RdmaWriteImmediate},
    OperationName{"RDMA_READ", WorkOpcode::RdmaRead},
    OperationName{"ATOMIC_CMP_AND_SWP", WorkOpcode::CompareSwap},
    OperationName{"ATOMIC_FETCH_AND_ADD", WorkOpcode::FetchAdd},
};
struct FlagName {
  std::string_view name;
  SendFlags flag;
};
constexpr std::array kFlags{FlagName{"fence", kFence}, FlagName{"solicited", kSolicited},
                            FlagName{"inline", kInline}};

WorkOpcode operation_of(const JsonAt& json) {
  std::string names;
  for (const OperationName& row : kOperations) {
    if (row.name == json.text()) return row.opcode;
    names += std::string(names.empty() ? "" : ", ") + std::string(row.name);
  }
  json.refuse("is '" + json.text() + "'", names);
}

void check_keys(const JsonAt& json, std::initializer_list<std::string_view> allowed) {
  std::string names;
  for (const std::string_view name : allowed)
    names += (names.empty() ? "" : ", ") + std::string(name);
  if (!json.value().is_object()) json.refuse("is no object", "one with " + names);
  for (const auto& [key, unused] : json.value().items())
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      json[key].refuse("is unknown", names);
}

const nlohmann::json kNothing = nlohmann::json::object();
JsonAt part_of(const JsonAt& setup, const char* name) {
  return setup.has(name) ? setup[name] : JsonAt(kNothing, name);
}

u64 number_or(const JsonAt& json, const char* key, u64 otherwise, u64 max, const Symbols& symbols) {
  return json.has(key) ? symbols.value(json[key], max) : otherwise;
}

// What came instead of what the step says.
std::optional<std::string> judge_error(const JsonAt& json, Error error) {
  const std::string wanted = json.has("error") ? json["error"].text() : "success";
  if (wanted == name_of(error)) return std::nullopt;
  return fmt::format("expected {}, got {}", wanted, name_of(error));
}
}  // namespace

VectorHost::VectorHost(const JsonAt& setup, ReplayDevice& device)
    : device_(device),
      verbs_(device.memory(),
             [&device](u32 offset, std::span<const u8> data) { device.mmio_write(offset, data); }),
      contents_(device.memory()) {
  check_keys(setup, {"framing", "pkeys", "port", "options", "pds", "cqs", "regions", "qps"});
  verbs_.set_step([this] { return device_.run(), false; });
  block_ = verbs_.alloc(kCommandBytes, kCommandBytes);
  make_port(setup);
  async_ = verbs_.open_async_events();
  channel_ = verbs_.create_comp_channel();
  make_pds(setup), make_cqs(setup), make_regions(setup), make_qps(setup);
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
  peer_port_ = port_, peer_port_.mac = kPeerMac, peer_port_.lid = kPeerLid;
  peer_port_.gids[0] = ip4 ? gid_of_ipv4(kPeerIp) : make_gid(kGidHigh, kPeerGid);
  if (setup.has("pkeys")) {
    const std::vector<JsonAt> keys = setup["pkeys"].entries();
    if (keys.size() > kPkeyEntries) setup["pkeys"].refuse("is longer than the table", "16 entries");
    port_.pkeys = {};
    for (std::size_t i = 0; i < keys.size(); ++i)
      port_.pkeys[i] = u16(symbols_.value(keys[i], 0xffff));
  }
  if (verbs_.set_port(port_) != Error::None)
    throw std::runtime_error(
        fmt::format("setup: the port is refused: {}", name_of(verbs_.last_status())));
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
    check_keys(cq, {"entries", "events"});
    make(name, u32(number_or(cq, "entries", kCqEntries, 1 << 16, symbols_)),
         !cq.has("events") || cq["events"].value() == true, cq);
  }
}

void VectorHost::make_regions(const JsonAt& setup) {
  const JsonAt regions = part_of(setup, "regions");
  u64 number = 0;
  for (const auto& [name, unused] : regions.value().items()) {
    const JsonAt r = regions[name];
    check_keys(r, {"bytes", "access", "pd", "va", "physical", "key", "seed", "register"});
    MemoryPlace place;
    place.va = number_or(r, "va", kRegionVa + number * kRegionStep, ~u64{0}, symbols_);
    place.bytes = number_or(r, "bytes", kRegionBytes, u64{1} << 33, symbols_);
    place.physical = number_or(r, "physical", kRegionVa + number * kRegionStep + kRegionPhysical,
                               ~u64{0}, symbols_);
    const u32 key = u32(number_or(r, "key", kFirstKey + number * kKeyStep, ~u32{0}, symbols_));
    symbols_.define(name, place.va, r);
    symbols_.define(name + ".key", key, r);
    contents_.add(name, place, number_or(r, "seed", number + 1, ~u64{0}, symbols_));
    keys_[name] = key;
    ++number;
    if (r.has("register") && r["register"].value() == false) continue;
    Block block{};
    encode(MrAttributes{place.va, place.bytes, place.physical,
                        u32(number_or(r, "pd", pds_.at("pd"), ~u32{0}, symbols_)), key,
                        u8(number_or(r, "access", kAllAccess, 0xff, symbols_))},
           block.data() + kCommandHeaderBytes);
    must_execute(CommandOpcode::RegisterMr, key_index(key), block, r);
  }
}

void VectorHost::make_qps(const JsonAt& setup) {
  u32 number = 0;
  if (!setup.has("qps")) return make_qp("q", JsonAt(kNothing, "setup.qps.q"), 0);
  for (const auto& [name, unused] : setup["qps"].value().items())
    make_qp(name, setup["qps"][name], number++);
}

void VectorHost::make_qp(const std::string& name, const JsonAt& json, u32 number) {
  QpInitAttr init;
  const auto cq = [&](const char* key) {
    const std::string cq_name = json.has(key) ? json[key].text() : "cq";
    if (!cqs_.contains(cq_name)) json[key].refuse("there is no CQ '" + cq_name + "'", "one of cqs");
    return cqs_.at(cq_name);
  };
  init.send_cq = cq("send_cq"), init.recv_cq = cq("recv_cq");
  Pd pd{u32(number_or(json, "pd", pds_.at("pd"), ~u32{0}, symbols_))};
  init.pd = &pd;
  const auto size = [&](const char* key, u32 otherwise) {
    return u32(number_or(json, key, otherwise, 1 << 15, symbols_));
  };
  init.max_send_wr = size("max_send_wr", kWorkRequests);
  init.max_recv_wr = size("max_recv_wr", kWorkRequests);
  init.max_send_sge = size("max_send_sge", kMaxSges),
  init.max_recv_sge = size("max_recv_sge", kMaxSges);
  init.max_inline_data = size("max_inline", kMaxInline);
  init.sq_sig_all = !json.has("signal_all") || json["signal_all"].value() == true;
  VectorQp& made = qps_[name];
  made.name = name;
  made.qp = verbs_.create_qp(init, kFirstQpn + number);
  if (!made.qp) json.refuse("the device gives no QP", std::string(name_of(verbs_.last_status())));
  symbols_.define(name, made.qp->qpn, json);
  symbols_.define(name + ".peer", kFirstPeerQpn + number, json);

  QpAttributes a = default_attributes();
  a.dest_qpn = kFirstPeerQpn + number;
  a.dmac = peer_port_.mac, a.dlid = peer_port_.lid;
  a.dgid_high = load_be<8>(peer_port_.gids[0].bytes.data());
  a.dgid_low = load_be<8>(peer_port_.gids[0].bytes.data() + 8);
  std::array<u8, bytes_of<QpAttributes>()> body;
  encode(a, body.data());
  encode_qp_attributes(json, symbols_, body.data());
  decode_to(body.data(), a);
  const QpState last = a.state;
  struct Stage {
    QpState state;
    u32 mask;
  };
  for (const Stage& stage :
       {Stage{QpState::Init, kToInit}, Stage{QpState::Rtr, kToRtr}, Stage{QpState::Rts, kToRts}}) {
    if (last != QpState::Error && last != QpState::Sqd && u8(stage.state) > u8(last)) break;
    a.state = stage.state, a.mask = stage.mask;
    if (verbs_.modify_qp(*made.qp, a) != Error::None)
      json.refuse(
          fmt::format("{} is refused: {}", name_of(stage.state), name_of(verbs_.last_status())),
          "attributes that the transition takes");
  }
  if (last == QpState::Error || last == QpState::Sqd) {
    a.state = last, a.mask = kQpState;
    verbs_.modify_qp(*made.qp, a);
  }
  made.peer.qpn = made.qp->qpn, made.peer.peer_qpn = a.dest_qpn;
  made.peer.pkey = port_.pkeys[a.pkey_index];
  QpAttributes back = a;  // the peer's way to us
  back.dmac = port_.mac, back.dlid = port_.lid;
  back.dgid_high = load_be<8>(port_.gids[0].bytes.data());
  back.dgid_low = load_be<8>(port_.gids[0].bytes.data() + 8);
  made.peer.from_peer = detail::path_of(back, peer_port_);
}

void VectorHost::encode_qp_attributes(const JsonAt& json, const Symbols& symbols, u8* body) {
  const HeaderInfo& info = kHeaderInfo<QpAttributes>;
  for (const auto& [name, unused] : json.value().items()) {
    if (kQpKeys.contains(name)) continue;
    const FieldInfo* field = find_field(info, name);
    if (!field)
      json[name].refuse("is no attribute of a queue pair",
                        "pd, send_cq, recv_cq, max_send_wr, max_recv_wr, max_send_sge, "
                        "max_recv_sge, max_inline, signal_all, " +
                            names_of_fields(info));
    set_field(body, *field, json[name], symbols);
  }
}

const VectorQp& VectorHost::qp_of(const JsonAt& json) const {
  if (!json.has("qp")) {
    if (qps_.size() == 1) return qps_.begin()->second;
    json["qp"].refuse("is missing", "a queue pair of the set-up");
  }
  const auto found = qps_.find(json["qp"].text());
  if (found == qps_.end())
    json["qp"].refuse("there is no queue pair '" + json["qp"].text() + "'", "one of the set-up");
  return found->second;
}
const VectorQp* VectorHost::qp_of_peer(u32 peer_qpn) const {
  for (const auto& [name, qp] : qps_)
    if (qp.peer.peer_qpn == peer_qpn) return &qp;
  return nullptr;
}
const VectorQp* VectorHost::qp_of_number(u32 qpn) const {
  for (const auto& [name, qp] : qps_)
    if (qp.peer.qpn == qpn) return &qp;
  return nullptr;
}
PacketContext VectorHost::packet_context(const VectorQp& qp) const {
  return {symbols_, qp.peer,
          [this](const JsonAt& json) { return contents_.bytes_of(json, symbols_); }};
}

// ---- Work requests
std::vector<SgeList> VectorHost::sges_of(const JsonAt& json) const {
  std::vector<SgeList> list;
  if (!json.has("sge")) return list;
  for (const JsonAt& sge : json["sge"].entries()) {
    if (sge.value().is_object()) {
      list.push_back({symbols_.value(sge["va"]), u32(symbols_.value(sge["bytes"], ~u32{0})),
                      u32(symbols_.value(sge["key"], ~u32{0}))});
      continue;
    }
    const MemoryPlace& place = contents_.find(sge[0]);
    list.push_back({place.va + symbols_.value(sge[1]), u32(symbols_.value(sge[2], ~u32{0})),
                    keys_.at(sge[0].text())});
  }
  return list;
}

std::optional<std::string> VectorHost::post_send(const JsonAt& json) {
  check_keys(json, {"qp", "op", "wr_id", "sge", "inline", "remote", "rkey", "imm", "invalidate",
                    "compare", "swap", "add", "flags", "unsignaled", "push", "error"});
  SendWr wr;
  std::vector<SgeList> sges = sges_of(json);
  wr.opcode = operation_of(json["op"]);
  wr.wr_id = number_or(json, "wr_id", 0, ~u64{0}, symbols_);
  wr.send_flags = json.has("unsignaled") ? 0 : u32(kSignaled);
  if (json.has("flags"))
    for (const JsonAt& flag : json["flags"].entries()) {
      const auto row = std::find_if(kFlags.begin(), kFlags.end(),
                                    [&](const FlagName& f) { return f.name == flag.text(); });
      if (row == kFlags.end()) flag.refuse("is unknown", "fence, solicited, inline");
      wr.send_flags |= row->flag;
    }
  if (json.has("inline")) {
    const std::vector<u8> bytes = contents_.bytes_of(json["inline"], symbols_);
    const u64 at = verbs_.alloc(std::max<u64>(bytes.size(), 1));
    verbs_.memory().write(at, bytes);
    sges = {{at, u32(bytes.size()), 0}}, wr.send_flags |= kInline;
  }
  wr.sg_list = sges;
  wr.remote_addr = number_or(json, "remote", 0, ~u64{0}, symbols_);
  wr.rkey = u32(number_or(json, "rkey", 0, ~u32{0}, symbols_));
  for (const char* key : {"imm", "invalidate"})
    if (json.has(key)) wr.imm_data = u32(symbols_.value(json[key], ~u32{0}));
  wr.compare_add = number_or(json, json.has("add") ? "add" : "compare", 0, ~u64{0}, symbols_);
  wr.swap = number_or(json, "swap", 0, ~u64{0}, symbols_);
  wr.push = json.has("push") && json["push"].value() == true;
  return judge_error(json, verbs_.post_send(*qp_of(json).qp, wr));
}

std::optional<std::string> VectorHost::post_recv(const JsonAt& json) {
  check_keys(json, {"qp", "wr_id", "sge", "error"});
  const std::vector<SgeList> sges = sges_of(json);
  const RecvWr wr{number_or(json, "wr_id", 0, ~u64{0}, symbols_), sges};
  return judge_error(json, verbs_.post_recv(*qp_of(json).qp, wr));
}

void VectorHost::arm(const JsonAt& json) {
  check_keys(json, {"cq", "solicited"});
  verbs_.req_notify_cq(cq_of(json), json.has("solicited") && json["solicited"].value() == true);
}

Cq& VectorHost::cq_of(const JsonAt& json) const {
  const std::string name = json.has("cq") ? json["cq"].text() : "cq";
  const auto found = cqs_.find(name);
  if (found == cqs_.end()) json["cq"].refuse("there is no CQ '" + name + "'", "one of cqs");
  return *found->second;
}

// A write to the BAR as it stands here.
void VectorHost::ring(const JsonAt& json) {
  check_keys(json, {"offset", "hex"});
  device_.mmio_write(u32(symbols_.value(json["offset"], ~u32{0})), json["hex"].hex());
}

// ---- Commands
CommandStatus VectorHost::execute(CommandOpcode opcode, u32 object, Block& block) {
  encode(CommandHeader{opcode, CommandStatus::Ok, false, object}, block.data());
  device_.memory().write(block_, block);
  std::array<u8, 8> bell;
  encode(CommandDoorbell{block_}, bell.data());
  device_.mmio_write(u32(BarOffset::CommandDoorbell), bell);
  device_.run();
  device_.memory().read(block_, block.data(), block.size());
  const auto header = decode<CommandHeader>(block.data());
  if (!header.done) throw std::runtime_error("the device stopped and did not execute a command");
  return header.status;
}

void VectorHost::must_execute(CommandOpcode opcode, u32 object, Block& block, const JsonAt& where) {
  if (const CommandStatus status = execute(opcode, object, block); status != CommandStatus::Ok)
    where.refuse(fmt::format("the device refuses it: {}", name_of(status)), "what it takes");
}

std::optional<std::string> VectorHost::command(const JsonAt& json,
                                               std::vector<FieldDifference>& differences) {
  check_keys(json, {"name", "object", "body", "status", "answer"});
  const CommandBody* row = find_command(json["name"].text());
  if (!row) json["name"].refuse("is no command", names_of_commands());
  Block block{};
  const auto each = [&](const char* part, const auto& visit) {
    if (!json.has(part)) return;
    if (!row->body) json[part].refuse("the command has no structure", "none");
    for (const auto& [name, unused] : json[part].value().items()) {
      const FieldInfo* field = find_field(*row->body, name);
      if (!field) json[part][name].refuse("is no field", names_of_fields(*row->body));
      visit(*field, json[part][name]);
    }
  };
  u8* const body = block.data() + kCommandHeaderBytes;
  if (json.has("body") && row->opcode == CommandOpcode::ModifyQp) {
    u32 mask = 0;
    for (const auto& [name, unused] : json["body"].value().items())
      if (name != "Mask") mask |= mask_of_field(name);
    store_be<4>(body, mask);
  }
  each("body", [&](const FieldInfo& f, const JsonAt& at) { set_field(body, f, at, symbols_); });
  const CommandStatus status =
      execute(row->opcode, u32(number_or(json, "object", 0, ~u32{0}, symbols_)), block);
  if (row->opcode == CommandOpcode::ModifyQp && status == CommandStatus::Ok)
    if (const VectorQp* qp = qp_of_number(u32(number_or(json, "object", 0, ~u32{0}, symbols_)))) {
      qp->qp->state = decode<QpAttributes>(body).state;
      if (qp->qp->state == QpState::Reset)
        qp->qp->sq_posted = qp->qp->sq_completed = qp->qp->rq_posted = qp->qp->rq_completed = 0;
    }
  const std::string wanted = json.has("status") ? json["status"].text() : "Ok";
  if (wanted != name_of(status))
    return fmt::format("{}: expected status {}, got {}", row->name, wanted, name_of(status));
  each("answer", [&](const FieldInfo& f, const JsonAt& at) {
    if (auto differs = compare_field(body, *row->body, f, at, symbols_))
      differences.push_back(std::move(*differs));
  });
  return std::nullopt;
}

// ---- What comes back
std::vector<QueueCompletion> VectorHost::poll() {
  std::vector<QueueCompletion> all;
  Wc wc;
  std::set<Cq*> seen;
  for (const auto& [name, cq] : cqs_)
    while (verbs_.poll_cq(*cq, {&wc, 1}))
      all.push_back({wc.qp_num, u8(wc.opcode) >= u8(CqeOpcode::Receive), wc});
  return all;
}
std::optional<AsyncEvent> VectorHost::next_async_event() { return verbs_.get_async_event(*async_); }
std::optional<u32> VectorHost::next_cq_event() { return verbs_.get_cq_event(*channel_); }

std::map<std::string, std::string> VectorHost::query_all() {
  std::map<std::string, std::string> all;
  const auto query = [&](CommandOpcode opcode, u32 object, const std::string& name) {
    Block block{};
    const CommandStatus status = execute(opcode, object, block);
    const HeaderInfo* body = find_command(kCommandOpcodes[std::size_t(opcode) - 1].name)->body;
    std::string text = std::string(name_of(status));
    for (u32 i = 0; body && i < body->bytes; ++i)
      text += fmt::format("{:02x}", block[kCommandHeaderBytes + i]);
    all[name] = text;
  };
  for (const auto& [name, qp] : qps_) query(CommandOpcode::QueryQp, qp.peer.qpn, "QP " + name);
  for (const auto& [name, key] : keys_) query(CommandOpcode::QueryMr, key, "MR " + name);
  for (const auto& [name, cq] : cqs_) query(CommandOpcode::QueryCq, cq->cqn, "CQ " + name);
  for (const auto& [name, pd] : pds_) query(CommandOpcode::QueryPd, pd, "PD " + name);
  return all;
}
}  // namespace hca::testbench
