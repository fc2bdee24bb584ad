// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/random_vector.h"

#include <fmt/format.h>

#include "model/proto/transport/psn.h"

namespace hca::testbench::malice {
namespace {
constexpr std::array<u32, 3> kShortMtus{256, 512, 1024};
constexpr const char* kAllRights = "all | flush_global | flush_persistent | remote_atomic_write";
}  // namespace

RandomVector::RandomVector(u64 seed, u32 steps) : random_(seed) {
  vector_.name = fmt::format("random/{}", seed);
  set_up();
  while (vector_.document["steps"].size() < steps) step();
}

void RandomVector::set_up() {
  static const std::array<std::array<const char*, 3>, kEnds> kinds{{{"rc", "RC", ""},
                                                                    {"uc", "UC", ""},
                                                                    {"ud", "UD", ""},
                                                                    {"ini", "XRC", "initiator"},
                                                                    {"tgt", "XRC", "target"},
                                                                    {"rda", "RD", ""},
                                                                    {"rdb", "RD", ""},
                                                                    {"rdc", "RD", ""}}};
  Json qps, contexts;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    flow.path_mtu = std::string_view(kinds[i][1]) == "UD" ? 4096 : one_of(kShortMtus);
    flow.expected = one_of(kFirstPsns), flow.next = one_of(kFirstPsns);
    if (i < kFirstContext) continue;
    flow.ee = i == kFirstContext ? "e" : "f";
    contexts[flow.ee] = context_attributes(flow);
  }
  for (std::size_t i = 0; i < kEnds; ++i) {
    End& end = ends_[i];
    end.name = kinds[i][0], end.service = kinds[i][1], end.side = kinds[i][2];
    end.flow = std::min(i, kFirstContext);
    qps[end.name] = attributes_of(end);
  }
  static const std::array<const char*, 2> classes{"b", "f"}, retries{"b", "d"},
      aborts{"complete", "keep"}, pkeys{"context", "request"};
  const Json of_xrc{{"xrcd", "d"}};
  vector_.document["setup"] = {{"options",
                                {{"xrc", true},
                                 {"rd", true},
                                 {"apm", true},
                                 {"extended", true},
                                 {"flush", true},
                                 {"atomic_write", true},
                                 {"rd_error_class", one_of(classes)},
                                 {"rd_retry_class", one_of(retries)},
                                 {"rd_abort", one_of(aborts)},
                                 {"rd_qkey_nak_pkey", one_of(pkeys)}}},
                               {"xrc_domains", {{"d", Json::object()}}},
                               {"rd_domains", {"rdd", "other_rdd"}},
                               {"ee_contexts", contexts},
                               {"srqs", {{"x", of_xrc}, {"y", of_xrc}}},
                               {"regions",
                                {{"m", {{"bytes", kRegionBytes}, {"access", kAllRights}}},
                                 {"read_only", {{"access", "remote_read"}}},
                                 {"foreign", {{"pd", "other"}}}}},
                               {"pds", {"other"}},
                               {"qps", qps}};
  vector_.document["steps"] = Json::array();
}

RandomVector::Json RandomVector::attributes_of(const End& end) {
  const Flow& flow = flow_of(end);
  Json qp{{"service", end.service}};
  if (end.is_rd()) {
    qp["rdd"] = end.name == "rdc" && chance(10) ? "other_rdd" : "rdd";
    qp["ee"] = flow.ee, qp["Access"] = kAllRights;
    return qp;
  }
  qp["SqPSN"] = flow.next;
  if (end.service != "UD") {
    qp["PathMTU"] = flow.path_mtu, qp["RqPSN"] = flow.expected;
    qp["Access"] = end.service == "UC" ? "all" : kAllRights;
  }
  if (end.is_reliable() && end.sends())
    qp["RetryCount"] = random_.below(8), qp["RnrRetry"] = random_.below(8);
  if (end.is_reliable() && end.receives()) qp["MaxDestRdAtomic"] = 1 + random_.below(4);
  if (!end.side.empty()) qp["side"] = end.side;
  if (end.side == "target") qp["xrcd"] = "d";
  return qp;
}

RandomVector::Json RandomVector::context_attributes(Flow& flow) {
  return {{"rdd", "rdd"},
          {"PathMTU", flow.path_mtu},
          {"RqPSN", flow.expected},
          {"SqPSN", flow.next},
          {"RetryCount", random_.below(4)},
          {"RnrRetry", random_.below(4)},
          {"MaxDestRdAtomic", 1 + random_.below(4)}};
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
  End& end = ends_[random_.below(kEnds)];
  choose_context(end);
  const u64 what = random_.below(100);
  if (what < 20 && end.receives()) return post_receive(end);
  if (what < 36 && end.sends()) return post_send(end);
  if (what < 37) return let_time_pass();
  if (what < 39) return end.is_rd() && chance(60) ? revive_context(flow_of(end)) : revive(end);
  if (what < 43 && end.migrates()) return migrate(end);
  if (what < 58 && !flow_of(end).outstanding.empty()) return response(end);
  if (!end.receives() && !chance(5)) return post_send(end);
  end.service == "UD" ? datagram(end) : request(end);
}

// ---- The host
void RandomVector::post_receive(End& end) {
  const u32 grh = end.service == "UD" ? 40 : 0, count = u32(1 + random_.below(3));
  Json sges = Json::array();
  for (u32 i = 0; i < count; ++i)
    sges.push_back(place(grh + length(std::min(flow_of(end).path_mtu, 1024u), 2)));
  Json post{{"wr_id", ++wr_id_}, {"sge", sges}};
  if (end.service == "XRC")
    post["srq"] = chance(70) ? "x" : "y";
  else
    post["qp"] = end.name;
  add("post_recv", std::move(post));
}

void RandomVector::post_send(End& end) {
  enum : u32 { kRc = 1, kUc = 2, kUd = 4, kXrc = 8, kRd = 16, kReliable = kRc | kXrc | kRd };
  struct Op {
    const char *name, *answer;
    bool remote;
    u32 bytes;  // 0: any
    u32 services;
  };
  static constexpr const char* kRead = "RDMA READ Response";
  static constexpr std::array<Op, 12> ops{
      Op{"SEND", "Acknowledge", false, 0, kReliable | kUc | kUd},
      Op{"SEND_WITH_IMM", "Acknowledge", false, 0, kReliable | kUc | kUd},
      Op{"SEND_WITH_INV", "Acknowledge", false, 0, kRc | kXrc},
      Op{"RDMA_WRITE", "Acknowledge", true, 0, kReliable | kUc},
      Op{"RDMA_WRITE_WITH_IMM", "Acknowledge", true, 0, kReliable | kUc},
      Op{"RDMA_READ", kRead, true, 0, kReliable},
      Op{"ATOMIC_CMP_AND_SWP", "ATOMIC Acknowledge", true, 8, kReliable},
      Op{"ATOMIC_FETCH_AND_ADD", "ATOMIC Acknowledge", true, 8, kReliable},
      Op{"EXTENDED_GET", kRead, true, 0, kReliable},
      Op{"EXTENDED_PUT", "Acknowledge", true, 0, kReliable},
      Op{"FLUSH", kRead, true, 0, kReliable},
      Op{"ATOMIC_WRITE", kRead, true, 8, kRc}};
  const u32 bit = end.service == "RC"    ? kRc
                  : end.service == "UC"  ? kUc
                  : end.service == "UD"  ? kUd
                  : end.service == "XRC" ? kXrc
                                         : kRd;
  const Op* op;
  do op = &one_of(ops);
  while (!(op->services & bit) && !chance(2));
  Flow& flow = flow_of(end);
  const std::string_view name = op->name;
  u32 bytes = op->bytes ? op->bytes : length(std::min(flow.path_mtu, 1024u), 3);
  if (name == "FLUSH") bytes = 0;
  Json wr{{"qp", end.name}, {"wr_id", ++wr_id_}, {"op", op->name}};
  if (bytes) wr["sge"] = Json::array({place(bytes)});
  if (end.service == "XRC") wr["remote_srq"] = 5;
  if (end.is_rd()) wr["rd"] = {{"EEC", chance(98) ? Json(flow.ee) : Json(77)}};
  if (op->remote) wr["remote"] = 0x1000 + 8 * random_.below(64), wr["rkey"] = 0x1234;
  if (name.ends_with("IMM")) wr["imm"] = 0xabcd;
  if (name.ends_with("INV")) wr["invalidate"] = 0x4321;
  if (name.starts_with("ATOMIC_") && name != "ATOMIC_WRITE")
    wr[name.ends_with("ADD") ? "add" : "compare"] = 3;
  if (name == "FLUSH")
    wr["operands"] = {{"Placement", 1 + random_.below(3)}, {"Selectivity", 0}, {"Length", 8}};
  if (name == "EXTENDED_GET" && bytes && chance(40)) {
    const u32 request = u32(random_.below(std::min(bytes, 256u) + 1));
    wr["operands"] = {{"RequestBytes", request}}, bytes -= request;
  }
  if (name == "ATOMIC_WRITE") bytes = 0;  // of its answer
  if (chance(10)) wr["unsignaled"] = true;
  if (chance(10)) wr["flags"] = {"fence"};
  if (chance(10)) wr["push"] = true;
  // Timers that start at different times expire in this order: migrations raise events.
  if (end.migration == proto::PathMigState::Armed) add("advance", "20 us");
  add("post_send", std::move(wr));
  const u32 packets = proto::psns_of(bytes, flow.path_mtu);
  const Asked asked{op->answer, flow.next, packets, bytes};
  if (end.is_rd()) {
    end.waiting.emplace_back(end.flow, asked);
    return serve();
  }
  if (end.is_reliable()) flow.outstanding.push_back(asked);
  flow.next = proto::psn_add(flow.next, packets);
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
