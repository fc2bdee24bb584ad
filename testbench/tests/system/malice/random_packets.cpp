// SPDX-License-Identifier: Apache-2.0
// What the peers send.
#include <fmt/format.h>

#include "model/proto/transport/psn.h"
#include "model/proto/wire/opcodes.h"
#include "testbench/tests/system/malice/random_vector.h"

namespace hca::testbench::malice {
namespace {
constexpr u32 kLongest = 4160;  // payload: what is longer no port takes from its link
std::string service_opcode(std::string_view service, const std::string& name) {
  return service == "UC" || service == "UD" ? std::string(service) + " " + name : name;
}
}  // namespace

// The next packet of a message.
RandomVector::Json RandomVector::continue_request(Flow& flow) {
  const bool is_last = flow.left <= flow.path_mtu, is_put = !flow.put.is_null();
  const u32 bytes = is_last ? flow.left : flow.path_mtu;
  Json p = is_put ? flow.put : Json::object();
  if (is_put) p["Offset"] = flow.put["DMALen"].get<u32>() - flow.left;
  const bool with_immediate = is_last && !is_put && chance(20);
  p["opcode"] = flow.message + (with_immediate ? " Last with Immediate"
                                : is_last      ? " Last"
                                               : " Middle");
  if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
  flow.left -= bytes;
  if (is_last) flow.message.clear(), flow.put = nullptr;
  return p;
}

RandomVector::Json RandomVector::begin_request(End& end, u32& psns) {
  Flow& flow = flow_of(end);
  const u32 mtu = flow.path_mtu, whole = length(mtu, 3);
  Json p{{"VA", fmt::format("m + {}", random_.below(kRegionBytes - whole))},
         {"R_Key", "m.key"},
         {"DMALen", whole}};
  flow.message.clear(), flow.put = nullptr, flow.left = 0;
  const auto whole_words = [&](u32 wrong) {
    return fmt::format("m + {}", random_.below(64) * 8 + (chance(5) ? wrong : 0));
  };
  std::string message = "SEND";
  switch (end.is_reliable() ? random_.below(10) : random_.below(4)) {
    case 0:
    case 1:
      p = Json::object();
      break;
    case 2:
    case 3:
      message = "RDMA WRITE";
      break;
    case 4:
      p["opcode"] = "RDMA READ Request", psns = proto::psns_of(whole, mtu);
      return p;
    case 5:
      p["opcode"] = chance(50) ? "CmpSwap" : "FetchAdd", p.erase("DMALen");
      p["VA"] = whole_words(4), p["SwapDt/AddDt"] = random_.below(3);
      return p;
    case 6:
      p["opcode"] = "GET Memory", p["ResponseDataLength"] = whole;
      psns = proto::psns_of(whole, mtu);
      if (chance(20)) p["payload"] = {{"bytes", 1 + random_.below(256)}, {"seed", 3}};
      return p;
    case 7:
      p["opcode"] = "FLUSH", p["PLT"] = 1 + random_.below(3), p["SEL"] = random_.below(2);
      return p;
    case 8:
      if (end.service == "RC") {
        p["opcode"] = "ATOMIC WRITE", p["VA"] = whole_words(4), p["DMALen"] = 8;
        p["payload"] = {{"bytes", 8}, {"seed", random_.below(256)}};
        return p;
      }
      [[fallthrough]];
    default:
      message = "PUT Memory", p["Offset"] = 0;
  }
  const bool is_put = message == "PUT Memory";
  const u32 bytes = std::min(whole, mtu);
  const bool with_immediate = whole <= mtu && !is_put && chance(20);
  if (is_put && whole > mtu) flow.put = p;
  if (whole > mtu) flow.message = message, flow.left = whole - mtu;
  p["opcode"] = message + (whole > mtu      ? " First"
                           : with_immediate ? " Only with Immediate"
                                            : " Only");
  if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
  return p;
}

void RandomVector::request(End& end) {
  Flow& flow = flow_of(end);
  u32 psns = 1;
  const bool goes_on = !flow.message.empty() && chance(88);
  // RD: a message goes on to its queue pair.
  End& to = goes_on && end.is_rd() && chance(95) ? ends_[flow.owner] : end;
  Json p = goes_on ? continue_request(flow) : begin_request(end, psns);
  if (!goes_on) flow.owner = std::size_t(&to - ends_.data());
  p["opcode"] = service_opcode(to.service, p["opcode"].get<std::string>()),
  p["PSN"] = flow.expected;
  if (to.is_reliable() && chance(30)) p["A"] = random_.below(2);
  if (to.service == "XRC" && chance(20)) p["XRCSRQ"] = chance(90) ? Json("y") : Json(99);
  if (to.is_rd()) {
    p["EEContext"] = flow.ee;
    if (chance(3))
      p = {{"opcode", "RESYNC"}, {"PSN", psn_near(flow.expected)}, {"EEContext", flow.ee}};
    if (p["opcode"] == "RESYNC" && chance(90)) {
      flow.expected = p["PSN"].get<u32>(), psns = 1;
      flow.message.clear(), flow.put = nullptr;
    }
  }
  add_path(to, p);
  if (chance(22)) return spoil(to, p), give(to, std::move(p));
  flow.expected = proto::psn_add(flow.expected, psns);
  give(to, std::move(p));
}

// The path that the peer uses, and its M bit. Armed, it may change to the other one.
void RandomVector::add_path(End& end, Json& p) {
  using proto::PathMigState;
  if (!end.migrates()) return;
  if (end.migration == PathMigState::Armed && chance(10))
    end.migration = PathMigState::Migrated, end.away = !end.away;
  else if (end.migration == PathMigState::Rearm && chance(70))
    end.migration = PathMigState::Armed;
  p["M"] = u32(end.migration == PathMigState::Migrated || chance(3));
  if (end.away != chance(2)) p["IPv4"] = {{"Source", "192.0.2.3"}};
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
  Flow& flow = flow_of(end);
  End& to = flow.served && chance(97) ? ends_[*flow.served] : end;
  Asked& head = flow.outstanding.front();
  Json p{{"PSN", head.psn}, {"Syndrome", 0x1f}, {"MSN", flow.msn + 1}};
  bool done = true;
  if (head.answer == "RDMA READ Response") {
    const u32 all = proto::psns_of(head.bytes, flow.path_mtu);
    const bool first = head.packets == all, last = head.packets == 1;
    const u32 bytes = std::min(head.bytes - (all - head.packets) * flow.path_mtu, flow.path_mtu);
    p["opcode"] = head.answer + (first && last ? " Only"
                                 : first       ? " First"
                                 : last        ? " Last"
                                               : " Middle");
    if (!first && !last) p.erase("Syndrome"), p.erase("MSN");
    if (bytes) p["payload"] = {{"bytes", bytes}, {"seed", random_.below(256)}};
    done = last;
  } else {
    p["opcode"] = head.answer;
    if (head.answer == "Acknowledge") p["PSN"] = proto::psn_add(head.psn, head.packets - 1);
    if (head.answer != "Acknowledge") p["OrigRemDt"] = random_.below(1 << 20);
  }
  if (to.is_rd()) p["EEContext"] = flow.ee;
  add_path(to, p);
  if (chance(22)) return refuse_response(to, std::move(p));
  if (!done) {
    head.psn = proto::psn_add(head.psn, 1), --head.packets;
  } else {
    flow.msn = proto::psn_add(flow.msn, 1);
    flow.outstanding.erase(flow.outstanding.begin());
  }
  give(to, std::move(p));
  if (done && flow.served) end_served(flow);
}

// A NAK, or one thing is wrong.
void RandomVector::refuse_response(End& end, Json p) {
  // RNR timers are long: those of a model whose work takes time fire in `advance` too.
  static constexpr std::array<u32, 14> syndromes{0x00, 0x01, 0x20, 0x3e, 0x3f, 0x40, 0x5f,
                                                 0x60, 0x61, 0x62, 0x63, 0x64, 0x7f, 0x80};
  if (!p.contains("Syndrome") || chance(50)) return spoil(end, p), give(end, std::move(p));
  const u32 syndrome = one_of(syndromes);
  p["Syndrome"] = syndrome;
  give(end, std::move(p));
  Flow& flow = flow_of(end);
  if (syndrome >= 0x61 && syndrome <= 0x64) begin_resync(flow, Flow::Resync::Fails);
  if (syndrome >= 0x20 && syndrome <= 0x3f) begin_resync(flow, Flow::Resync::Suspends);
}

void RandomVector::give(End& end, Json packet) {
  packet["qp"] = end.name;
  end.last = packet;
  add("inject", std::move(packet));
}

// One thing is wrong, or perhaps wrong.
void RandomVector::spoil(End& end, Json& p) {
  static const std::array<const char*, 5> keys{"m.key + 1", "read_only.key", "foreign.key", "0",
                                               "0xffffffff"};
  static const std::array<const char*, 6> places{"m + 8191", "m + 8192",  "0xffffffffffffffff",
                                                 "0",        "read_only", "foreign"};
  static constexpr std::array<u32, 6> pkeys{0x7fff, 0x8001, 1, 0, 0x8000, 0xfffe};
  static const std::array<const char*, 5> qkeys{"1", "0x80010000", "0x80000000", "0xffffffff",
                                                "0x7fffffff"};
  static const std::array<const char*, 8> qpns{"0",  "1",   "0xffffff", "rc",
                                               "uc", "tgt", "rda",      "rdb"};
  static constexpr std::array<u32, 7> lengths{0, 1, 256, 1025, 0x80000000, 0x80000001, 0xffffffff};
  const u32 mtu = flow_of(end).path_mtu;
  const bool has_reth = p.contains("DMALen"), has_key = p.contains("R_Key");
  switch (random_.below(17)) {
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
      if (has_reth) p["DMALen"] = one_of(lengths);
      return;
    case 5: {
      const std::array<u32, 7> all{0, 1, mtu - 1, mtu, mtu + 1, mtu + 4, 2 * mtu};
      p["payload"] = {{"bytes", std::min(one_of(all), kLongest)}, {"seed", 9}};
      return;
    }
    case 6:
      p["P_Key"] = one_of(pkeys);
      return;
    case 7: {
      const auto is = [&](const char* what) {
        return p["opcode"].get<std::string>().find(what) != std::string::npos;
      };
      const bool is_request = !is("Response") && !is("Acknowledge");
      if (end.service == "UD" || (end.is_rd() && is_request)) p["Q_Key"] = one_of(qkeys);
      return;
    }
    case 8:
    case 9: {
      const proto::OpcodeRow& row = one_of(proto::kOpcodeRows);
      const std::string service(name_of(row.service)), name(row.name);
      p = {{"opcode", service == end.service ? name : service + " " + name}, {"PSN", p["PSN"]}};
      if (chance(50)) p["payload"] = {{"bytes", length(mtu, 1)}, {"seed", 7}};
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
    case 14:
      if (p.contains("EEContext")) p["EEContext"] = chance(60) ? Json(77) : chance(50) ? "e" : "f";
      return;
    case 15: {
      const char* field = chance(50) ? "Offset" : "ResponseDataLength";
      if (p.contains(field)) p[field] = psn_near(p[field].get<u32>());
      return;
    }
    default:
      if (!end.last.is_null()) p = end.last;
  }
}
}  // namespace hca::testbench::malice
