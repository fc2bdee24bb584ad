// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/random_vector.h"

#include <fmt/format.h>

#include "model/proto/transport/psn.h"
#include "model/proto/wire/opcodes.h"

namespace hca::testbench::malice {
namespace {
constexpr u32 kRegionBytes = 8192;
constexpr u32 kLongest = 4160;  // payload: what is longer no port takes from its link
constexpr std::array<u32, 8> kFirstPsns{0,        1,        0x7ffffe, 0x7fffff,
                                        0x800000, 0xfffffd, 0xfffffe, 0xffffff};
constexpr std::array<u32, 3> kShortMtus{256, 512, 1024};
std::string service_opcode(std::string_view service, const std::string& name) {
  return service == "RC" || service == "XRC" ? name : std::string(service) + " " + name;
}
}  // namespace

RandomVector::RandomVector(u64 seed, u32 steps) : random_(seed) {
  vector_.name = fmt::format("random/{}", seed);
  set_up();
  while (vector_.document["steps"].size() < steps) step();
}

void RandomVector::set_up() {
  Json qps;
  static const std::array<std::array<const char*, 3>, 5> kinds{{{"rc", "RC", ""},
                                                                {"uc", "UC", ""},
                                                                {"ud", "UD", ""},
                                                                {"ini", "XRC", "initiator"},
                                                                {"tgt", "XRC", "target"}}};
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    End& end = ends_[i];
    end.name = kinds[i][0];
    end.service = kinds[i][1];
    end.side = kinds[i][2];
    end.path_mtu = end.service == "UD" ? 4096 : one_of(kShortMtus);
    end.expected = one_of(kFirstPsns), end.next = one_of(kFirstPsns);
    Json& qp = qps[end.name];
    qp["service"] = end.service, qp["SqPSN"] = end.next;
    if (end.service != "UD") qp["PathMTU"] = end.path_mtu, qp["RqPSN"] = end.expected;
    if (end.is_reliable() && end.sends()) {
      qp["RetryCount"] = random_.below(8);
      qp["RnrRetry"] = random_.below(8);
    }
    if (end.is_reliable() && end.receives()) qp["MaxDestRdAtomic"] = 1 + random_.below(4);
    if (!end.side.empty()) qp["side"] = end.side;
    if (end.side == "target") qp["xrcd"] = "d";
  }
  const Json of_xrc{{"xrcd", "d"}};
  vector_.document["setup"] = {{"options", {{"xrc", true}}},
                               {"xrc_domains", {{"d", Json::object()}}},
                               {"srqs", {{"x", of_xrc}, {"y", of_xrc}}},
                               {"regions",
                                {{"m", {{"bytes", kRegionBytes}}},
                                 {"read_only", {{"access", "remote_read"}}},
                                 {"foreign", {{"pd", "other"}}}}},
                               {"pds", {"other"}},
                               {"qps", qps}};
  vector_.document["steps"] = Json::array();
}

void RandomVector::add(const char* verb, Json json) {
  vector_.document["steps"].push_back({{verb, std::move(json)}});
}

u32 RandomVector::psn_near(u32 psn) {
  static constexpr std::array<u32, 12> deltas{
      1, 2, 0xffffff, 0xfffffe, 0x7fffff, 0x800000, 0x800001, 0x7ffffe, 16, 0xfffff0, 0, 0x400000};
  return proto::psn_add(psn, one_of(deltas));
}

// Around the bounds of packets; at most `packets` whole ones and one byte.
u32 RandomVector::length(u32 path_mtu, u32 packets) {
  const u32 whole = path_mtu * u32(random_.below(packets + 1));
  const std::array<u32, 8> all{0, 1, 3, whole, whole + 1, whole ? whole - 1 : 5, whole / 2, 8};
  return one_of(all);
}

RandomVector::Json RandomVector::place(u32 bytes) {
  if (chance(94)) return {"m", random_.below(kRegionBytes - bytes + 1), bytes};
  if (chance(30)) return {"read_only", 0, std::min(bytes, 4096u)};
  if (chance(30)) return {"foreign", 0, std::min(bytes, 4096u)};
  static const std::array<const char*, 4> places{"m + 8192", "m + 8191", "0xffffffffffffffff", "0"};
  static const std::array<const char*, 4> keys{"m.key", "m.key + 1", "0xffffff00", "0"};
  return {{"va", one_of(places)}, {"bytes", bytes}, {"key", one_of(keys)}};
}

void RandomVector::step() {
  End& end = ends_[random_.below(ends_.size())];
  const u64 what = random_.below(100);
  if (what < 20 && end.receives()) return post_receive(end);
  if (what < 38 && end.sends()) return post_send(end);
  if (what < 40) return revive(end);
  if (what < 41) return add("advance", chance(70) ? "20 us" : "100 ms");
  if (what < 58 && !end.outstanding.empty()) return response(end);
  if (!end.receives() && !chance(5)) return post_send(end);
  end.service == "UD" ? datagram(end) : request(end);
}

// ---- The host
void RandomVector::post_receive(End& end) {
  const u32 grh = end.service == "UD" ? 40 : 0, count = u32(1 + random_.below(3));
  Json sges = Json::array();
  for (u32 i = 0; i < count; ++i)
    sges.push_back(place(grh + length(std::min(end.path_mtu, 1024u), 2)));
  Json post{{"wr_id", ++wr_id_}, {"sge", sges}};
  if (end.service == "XRC")
    post["srq"] = chance(70) ? "x" : "y";
  else
    post["qp"] = end.name;
  add("post_recv", std::move(post));
}

void RandomVector::post_send(End& end) {
  struct Op {
    const char *name, *answer;
    bool remote, atomic;
    u32 services;  // 1 RC, 2 UC, 4 UD
  };
  static constexpr std::array<Op, 8> ops{
      Op{"SEND", "Acknowledge", false, false, 7},
      Op{"SEND_WITH_IMM", "Acknowledge", false, false, 7},
      Op{"SEND_WITH_INV", "Acknowledge", false, false, 1},
      Op{"RDMA_WRITE", "Acknowledge", true, false, 3},
      Op{"RDMA_WRITE_WITH_IMM", "Acknowledge", true, false, 3},
      Op{"RDMA_READ", "RDMA READ Response", true, false, 1},
      Op{"ATOMIC_CMP_AND_SWP", "ATOMIC Acknowledge", true, true, 1},
      Op{"ATOMIC_FETCH_AND_ADD", "ATOMIC Acknowledge", true, true, 1}};
  const u32 bit = end.is_reliable() ? 1 : end.service == "UC" ? 2 : 4;
  const Op* op;
  do op = &one_of(ops);
  while (!(op->services & bit) && !chance(2));
  const u32 bytes = op->atomic ? 8 : length(std::min(end.path_mtu, 1024u), 3);
  Json wr{{"qp", end.name}, {"wr_id", ++wr_id_}, {"op", op->name}};
  if (bytes) wr["sge"] = Json::array({place(bytes)});
  if (end.service == "XRC") wr["remote_srq"] = 5;
  if (op->remote) wr["remote"] = 0x1000 + 8 * random_.below(64), wr["rkey"] = 0x1234;
  if (std::string_view(op->name).ends_with("IMM")) wr["imm"] = 0xabcd;
  if (std::string_view(op->name).ends_with("INV")) wr["invalidate"] = 0x4321;
  if (op->atomic) wr[std::string_view(op->name).ends_with("ADD") ? "add" : "compare"] = 3;
  if (chance(10)) wr["unsignaled"] = true;
  if (chance(10)) wr["flags"] = {"fence"};
  if (chance(10)) wr["push"] = true;
  add("post_send", std::move(wr));
  const u32 packets = proto::psns_of(bytes, end.path_mtu);
  if (end.is_reliable()) end.outstanding.push_back({op->answer, end.next, packets, bytes});
  end.next = proto::psn_add(end.next, packets);
}

// By Reset to RTS.
void RandomVector::revive(End& end) {
  const bool is_ud = end.service == "UD";
  const auto modify = [&](Json body) {
    add("command", {{"name", "ModifyQp"}, {"object", end.name}, {"body", std::move(body)}});
  };
  if (chance(25)) return modify({{"State", "Error"}});
  end.expected = one_of(kFirstPsns), end.next = one_of(kFirstPsns);
  end.message.clear(), end.outstanding.clear(), end.left = end.msn = 0;
  modify({{"State", "Reset"}});
  Json init{{"State", "Init"}, {"P_KeyIndex", 0}, {"Port", 1}}, rtr{{"State", "RTR"}};
  if (is_ud)
    init["Q_Key"] = 0;
  else
    init["Access"] = "all";
  modify(init);
  if (!is_ud) {
    rtr.update({{"DMAC", "0x020000000002"},
                {"DGIDHigh", 0},
                {"DGIDLow", "0xffffc0000202"},
                {"HopLimit", 64},
                {"UdpSourcePort", "0xc000"},
                {"PathMTU", end.path_mtu},
                {"DestQP", end.name + ".peer"},
                {"RqPSN", end.expected}});
    if (end.is_reliable() && end.receives())
      rtr.update({{"MaxDestRdAtomic", 4}, {"MinRnrTimer", 12}});
  }
  modify(rtr);
  Json rts{{"State", "RTS"}, {"SqPSN", end.next}};
  if (end.is_reliable()) rts["Timeout"] = 14;
  if (end.is_reliable() && end.sends())
    rts.update({{"RetryCount", 7}, {"RnrRetry", 7}, {"MaxRdAtomic", 4}});
  modify(rts);
}

// ---- The peer
void RandomVector::request(End& end) {
  Json p;
  std::string opcode;
  u32 bytes = 0, psns = 1;
  const u32 mtu = end.path_mtu;
  if (!end.message.empty() && chance(88)) {
    const bool is_last = end.left <= mtu;
    bytes = is_last ? end.left : mtu;
    opcode = end.message + (is_last ? chance(20) ? " Last with Immediate" : " Last" : " Middle");
    end.left -= bytes;
    if (is_last) end.message.clear();
  } else {
    const u64 kind = random_.below(end.is_reliable() ? 6 : 4);
    const std::string name = kind < 2 ? "SEND" : "RDMA WRITE";
    const u32 whole = length(mtu, 3);
    p["VA"] = fmt::format("m + {}", random_.below(kRegionBytes - whole)), p["R_Key"] = "m.key";
    p["DMALen"] = whole;
    end.message.clear();
    if (kind == 4) {
      opcode = "RDMA READ Request", psns = proto::psns_of(whole, mtu);
    } else if (kind == 5) {
      opcode = chance(50) ? "CmpSwap" : "FetchAdd", p.erase("DMALen");
      p["VA"] = fmt::format("m + {}", random_.below(64) * 8 + (chance(5) ? 4 : 0));
      p["SwapDt/AddDt"] = random_.below(3);
    } else if (whole > mtu) {
      opcode = name + " First", bytes = mtu, end.message = name, end.left = whole - mtu;
    } else {
      opcode = name + (chance(20) ? " Only with Immediate" : " Only"), bytes = whole;
    }
    if (name == "SEND" && kind < 4) p.erase("VA"), p.erase("R_Key"), p.erase("DMALen");
  }
  p["opcode"] = service_opcode(end.service, opcode), p["PSN"] = end.expected;
  if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
  if (end.is_reliable() && chance(30)) p["A"] = random_.below(2);
  if (end.service == "XRC" && chance(20)) p["XRCSRQ"] = chance(90) ? Json("y") : Json(99);
  if (chance(22)) return spoil(end, p), give(end, std::move(p));
  end.expected = proto::psn_add(end.expected, psns);
  give(end, std::move(p));
}

void RandomVector::datagram(End& end) {
  const u32 bytes = chance(5) ? u32(4095 + random_.below(3)) : length(1024, 2);
  Json p{{"opcode", chance(30) ? "UD SEND Only with Immediate" : "UD SEND Only"},
         {"PSN", random_.below(1 << 24)}};
  if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
  if (chance(22)) spoil(end, p);
  give(end, std::move(p));
}

void RandomVector::response(End& end) {
  Asked& head = end.outstanding.front();
  Json p{{"PSN", head.psn}, {"Syndrome", 0x1f}, {"MSN", end.msn + 1}};
  const std::string answer = head.answer;
  bool done = true;
  if (answer == "RDMA READ Response") {
    const bool first = head.packets == proto::psns_of(head.bytes, end.path_mtu),
               last = head.packets == 1;
    const u32 sent = (proto::psns_of(head.bytes, end.path_mtu) - head.packets) * end.path_mtu;
    const u32 bytes = std::min(head.bytes - sent, end.path_mtu);
    p["opcode"] = answer + (first && last ? " Only"
                            : first       ? " First"
                            : last        ? " Last"
                                          : " Middle");
    if (!first && !last) p.erase("Syndrome"), p.erase("MSN");
    if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
    done = last;
  } else {
    p["opcode"] = answer;
    if (answer == "Acknowledge") p["PSN"] = proto::psn_add(head.psn, head.packets - 1);
    if (answer != "Acknowledge") p["OrigRemDt"] = random_.below(1 << 20);
  }
  if (chance(22)) {
    // RNR timers are long: those of a model whose work takes time fire in `advance` too.
    static constexpr std::array<u32, 14> syndromes{0x00, 0x01, 0x20, 0x3e, 0x3f, 0x40, 0x5f,
                                                   0x60, 0x61, 0x62, 0x63, 0x64, 0x7f, 0x80};
    if (p.contains("Syndrome") && chance(50))
      p["Syndrome"] = one_of(syndromes);
    else
      spoil(end, p);
    return give(end, std::move(p));
  }
  if (done)
    end.msn = proto::psn_add(end.msn, 1), end.outstanding.erase(end.outstanding.begin());
  else
    head.psn = proto::psn_add(head.psn, 1), --head.packets;
  give(end, std::move(p));
}

void RandomVector::give(End& end, Json packet) {
  packet["qp"] = end.name;
  end.last = packet;
  add("inject", std::move(packet));
}

// One thing is wrong, or perhaps wrong.
void RandomVector::spoil(const End& end, Json& p) {
  static const std::array<const char*, 5> keys{"m.key + 1", "read_only.key", "foreign.key", "0",
                                               "0xffffffff"};
  static const std::array<const char*, 6> places{"m + 8191", "m + 8192",  "0xffffffffffffffff",
                                                 "0",        "read_only", "foreign"};
  static constexpr std::array<u32, 6> pkeys{0x7fff, 0x8001, 1, 0, 0x8000, 0xfffe};
  static const std::array<const char*, 5> qkeys{"1", "0x80010000", "0x80000000", "0xffffffff",
                                                "0x7fffffff"};
  static const std::array<const char*, 6> qpns{"0", "1", "0xffffff", "rc", "uc", "tgt"};
  const bool has_reth = p.contains("DMALen"), has_key = p.contains("R_Key");
  switch (random_.below(15)) {
    case 0:
    case 1:
      p["PSN"] = psn_near(p["PSN"].get<u32>());
      return;
    case 2:
      if (has_key) p["R_Key"] = one_of(keys);
      return;
    case 3:
      if (has_key) p["VA"] = one_of(places);
      return;
    case 4:
      static constexpr std::array<u32, 7> lengths{0,          1,          256,       1025,
                                                  0x80000000, 0x80000001, 0xffffffff};
      if (has_reth) p["DMALen"] = one_of(lengths);
      return;
    case 5: {
      const u32 mtu = end.path_mtu;
      const std::array<u32, 7> all{0, 1, mtu - 1, mtu, mtu + 1, mtu + 4, 2 * mtu};
      p["payload"] = {{"bytes", std::min(one_of(all), kLongest)}, {"seed", 9}};
      return;
    }
    case 6:
      p["P_Key"] = one_of(pkeys);
      return;
    case 7:
      if (end.service == "UD") p["Q_Key"] = one_of(qkeys);
      return;
    case 8:
    case 9: {
      const proto::OpcodeRow& row = one_of(proto::kOpcodeRows);
      const std::string service(name_of(row.service)), name(row.name);
      p = {{"opcode", service == end.service ? name : service + " " + name}, {"PSN", p["PSN"]}};
      if (chance(50)) p["payload"] = {{"bytes", length(end.path_mtu, 1)}, {"seed", 7}};
      return;
    }
    case 10:
      p["DestQP"] = one_of(qpns);
      return;
    case 11:
      p["ICRC"] = "bad";
      return;
    case 12:
      p["PadCnt"] = random_.below(4);
      return;
    case 13: {
      const std::array<const char*, 5> bits{"SE", "M", "A", "F", "B"};
      p[one_of(bits)] = random_.below(2);
      return;
    }
    default:
      if (!end.last.is_null()) p = end.last;
  }
}

Vector shrink(Vector vector, const std::function<bool(const Vector&)>& fails) {
  const auto steps = [](Vector& v) -> nlohmann::json& { return v.document["steps"]; };
  for (std::size_t chunk = steps(vector).size() / 2; chunk; chunk = chunk > 1 ? chunk / 2 : 0)
    for (std::size_t at = 0; at + chunk <= steps(vector).size();) {
      Vector smaller = vector;
      nlohmann::json& list = steps(smaller);
      list.erase(list.begin() + long(at), list.begin() + long(at + chunk));
      if (fails(smaller))
        vector = std::move(smaller);
      else
        at += chunk;
    }
  return vector;
}
}  // namespace hca::testbench::malice
