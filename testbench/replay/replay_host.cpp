// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "model/proto/transport/qp_transitions.h"
#include "testbench/host/verbs_names.h"
#include "testbench/replay/replay_fields.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
using namespace proto;

namespace {
// What the posts of an end need.
struct Needs {
  // A WQE has 256 bytes, control segment and address handle among them.
  u32 entries = 256, sges = 8;
  u32 inline_bytes = kPushBytes - kSendWqeBytes - kAddressHandleBytes;

  Needs(const Capture& capture, End end) {
    u32 posts = 0;
    for (const ReplayEvent& e : capture.events) {
      if (e.side != end || !e.kind.starts_with("post_")) continue;
      ++posts;
      sges = std::max(sges, u32(e.at("sge").entries().size()));
      if (e.kind == "post_send" && e.number("inline"))
        inline_bytes = std::max(inline_bytes, u32(sge_bytes(e)));
    }
    entries = std::max(entries, std::bit_ceil(2 * posts));
  }
};
// The recording device's port is not the host's choice.
constexpr u16 kSourcePort = kFirstUdpSourcePort;

WorkOpcode operation_of(const std::string& name) {
  if (const auto opcode = work_opcode_of(name)) return *opcode;
  throw std::runtime_error(fmt::format("the model has no operation '{}' yet", name));
}

std::vector<SgeList> sges_of(const ReplayEvent& e) {
  std::vector<SgeList> list;
  for (const JsonAt& sge : e.at("sge").entries())
    list.push_back({sge[0].number(), u32(sge[1].number()), u32(sge[2].number())});
  return list;
}

u64 half(const std::array<u8, 16>& gid, unsigned at) { return load_be<8>(gid.data() + at); }

[[noreturn]] void refused(std::string_view what, std::string_view why) {
  throw std::runtime_error(fmt::format("{}: the device refuses it: {}", what, why));
}
// Of a post.
void must_succeed(Error error, std::string_view what) {
  if (error != Error::None) refused(what, name_of(error));
}
}  // namespace

DeviceOptions options_of(const Capture& capture) {
  DeviceOptions options;
  const auto has = [&](std::string_view type) {
    return std::ranges::any_of(capture.events, [&](const ReplayEvent& e) {
      return e.kind == "qp" && e.text("type").starts_with(type);
    });
  };
  options.transport.xrc = has("XRC");
  options.transport.rd = has("RD");
  return options;
}

ReplayHost::ReplayHost(const Capture& capture, End end, ReplayDevice& device)
    : capture_(capture),
      end_(end),
      device_(device),
      verbs_(device.memory(),
             [&device](u32 offset, std::span<const u8> data) { device.mmio_write(offset, data); }) {
  verbs_.set_step([this] {
    device_.run();
    return false;
  });
  const ReplaySide& us = capture.side(end);
  PortAttributes port{};
  port.framing = u8(capture.framing);
  port.mtu = 4096;
  port.mac = us.mac;
  port.lid = us.lid;
  port.gids = {Gid{us.gid4}, Gid{us.gid6}};
  must_execute(verbs_.set_port(port), "port");
  async_ = verbs_.open_async_events();
  const Needs needs(capture, end);
  send_cq_ = verbs_.create_cq(needs.entries);
  recv_cq_ = verbs_.create_cq(needs.entries);
}

bool ReplayHost::execute(const ReplayEvent& event) {
  struct Row {
    std::string_view kind;
    void (ReplayHost::*run)(const ReplayEvent&);
  };
  static constexpr std::array rows{
      Row{"mr", &ReplayHost::register_region},  Row{"qp", &ReplayHost::create},
      Row{"connect", &ReplayHost::connect},     Row{"post_send", &ReplayHost::post_send},
      Row{"post_recv", &ReplayHost::post_recv}, Row{"mem_set", &ReplayHost::set_memory},
      Row{"destroy_qp", &ReplayHost::destroy},  Row{"alloc_mw", &ReplayHost::alloc_window},
      Row{"bind_mw", &ReplayHost::bind_window}, Row{"post_srq_recv", &ReplayHost::post_srq_recv},
      Row{"modify", &ReplayHost::modify},       Row{"srq", &ReplayHost::create_srq},
      Row{"rd_ready", &ReplayHost::make_ready},
  };
  for (const Row& row : rows)
    if (row.kind == event.kind) {
      (this->*row.run)(event);
      return true;
    }
  return false;
}

void ReplayHost::register_region(const ReplayEvent& e) {
  const MemoryRegion region{e.number("addr"), e.number("len"),
                            e.has("init_seed") ? e.number("init_seed") : 0, e.has("init_seed")};
  if (region.address + region.length < region.address)
    e.at("len").refuse("the region ends beyond 64 bits", "regions inside of the address space");
  regions_[e.text("name")] = region;
  std::vector<u8> bytes(region.length);
  for (u64 i = 0; i < region.length; ++i)
    if (region.has_pattern) bytes[i] = pattern_byte(region.seed, i);
  device_.memory().write(region.address, bytes);
  const Mr mr = verbs_.reg_mr(region.address, region.length, access_of(e.at("access")),
                              u32(e.number("rkey")));
  if (mr.rkey != e.number("rkey")) refused("mr", name_of(verbs_.last_status()));
  if (e.has("lkey") && e.number("lkey") != mr.lkey)
    e.at("lkey").refuse("is not the rkey", "one key for each region: the rkey");
}

// Of type 1 if a bind_mw is for it: a window of type 2 is bound by a work request.
void ReplayHost::alloc_window(const ReplayEvent& e) {
  const u32 key = u32(e.number("rkey"));
  const bool is_type_1 = std::ranges::any_of(capture_.events, [&](const ReplayEvent& bind) {
    return bind.kind == "bind_mw" && bind.side == end_ &&
           key_index(u32(bind.number("mw_rkey_new"))) == key_index(key);
  });
  const Mw mw = verbs_.alloc_mw(is_type_1 ? KeyKind::Window1 : KeyKind::Window2B, key);
  if (mw.rkey != key) refused("alloc_mw", name_of(verbs_.last_status()));
  windows_[key_index(key)] = mw;
}

// The device has a new key byte for each binding, in order; the recording device has its own: bound
// again until it is that one.
void ReplayHost::bind_window(const ReplayEvent& e) {
  const u32 key = u32(e.number("mw_rkey_new"));
  const auto window = windows_.find(key_index(key));
  if (window == windows_.end())
    e.at("mw_rkey_new").refuse("names no window", "a key with the index of an alloc_mw's");
  const MemoryInfo memory{e.number("bind_addr"), e.number("bind_len"), u32(e.number("mr_lkey")),
                          access_of(e.at("bind_access"))};
  do must_execute(verbs_.bind_mw(window->second, memory), "bind_mw");
  while (window->second.rkey != key);
}

void ReplayHost::create(const ReplayEvent& e) {
  const std::optional<QpType> type = qp_type(e.text("type"));
  if (!type)
    throw std::runtime_error(fmt::format("the model has no {} queue pairs yet", e.text("type")));
  if (type->side == QpSide::EeContext) {
    if (!verbs_.create_eec(u32(e.number("qpn")))) refused("qp", name_of(verbs_.last_status()));
    return;
  }
  QpInitAttr init;
  init.service = type->service;
  init.side = type->side;
  if (type->side == QpSide::Target) init.xrcd = xrc_domain();
  init.send_cq = send_cq_;
  init.recv_cq = recv_cq_;
  const Needs needs(capture_, end_);
  init.max_send_wr = init.max_recv_wr = needs.entries;
  init.max_send_sge = init.max_recv_sge = needs.sges;
  init.max_inline_data = needs.inline_bytes;
  const u32 qpn = u32(e.number("qpn"));
  if (type->side == QpSide::Both && capture_.shares_receives(end_, qpn)) {
    if (!srq_) srq_ = verbs_.create_srq({.max_wr = needs.entries, .max_sge = needs.sges});
    init.srq = srq_;
  }
  qps_[qpn] = verbs_.create_qp(init, qpn);
  if (!qps_[qpn]) refused("qp", name_of(verbs_.last_status()));
}

void ReplayHost::connect(const ReplayEvent& e) {
  const u32 number = u32(e.number("qpn"));
  Qp* const q = capture_.is_context(end_, number) ? nullptr : &qp(number);
  const ReplaySide& peer = capture_.side(other(end_));
  const auto& dgid = e.number("ipv6") ? peer.gid6 : peer.gid4;
  QpAttributes a{};
  a.port = 1;
  a.access = access_of(e.at("qp_access"));
  if (!q) a.rdd = rd_domain();
  const auto mask = [&](QpState from, QpState to) {
    const Services kind = q ? kind_of(q->cap.service, q->cap.side) : Services{kEeContext};
    return find_transition(kind, from, to)->required;
  };
  const auto modify = [&](std::string_view what) {
    must_execute(q ? verbs_.modify_qp(*q, a) : verbs_.modify_eec(number, a), what);
  };
  a.state = QpState::Init;
  a.mask = mask(QpState::Reset, QpState::Init);
  if (e.has("qkey")) a.qkey = u32(e.number("qkey"));
  modify("connect, to Init");
  a.state = QpState::Rtr;
  a.mask = mask(QpState::Init, QpState::Rtr);
  a.path_mtu = u32(e.number("path_mtu"));
  a.dest_qpn = u32(e.number("dest_qpn"));
  a.rq_psn = u32(e.number("rq_psn"));
  a.min_rnr_timer = u8(e.number("min_rnr_timer"));
  a.max_dest_rd_atomic = u8(e.number("max_dest_rd_atomic"));
  a.dlid = peer.lid;
  a.sl = e.has("sl") ? u8(e.number("sl")) : 0;
  a.dmac = peer.mac;
  a.dgid_high = half(dgid, 0);
  a.dgid_low = half(dgid, 8);
  a.sgid_index = e.number("ipv6") ? 1 : 0;
  a.traffic_class = u8(e.number("traffic_class"));
  a.hop_limit = u8(e.number("hop_limit"));
  a.flow_label = u32(e.number("flow_label"));
  a.udp_source_port = kSourcePort;
  modify("connect, to RTR");
  a.state = QpState::Rts;
  a.mask = mask(QpState::Rtr, QpState::Rts);
  a.timeout = u8(e.number("timeout"));
  a.retry_count = u8(e.number("retry_cnt"));
  a.rnr_retry = u8(e.number("rnr_retry"));
  a.sq_psn = u32(e.number("sq_psn"));
  a.max_rd_atomic = u8(e.number("max_rd_atomic"));
  modify("connect, to RTS");
  if (q && q->cap.service == Service::Ud)
    handles_[number] = {a.dest_qpn,
                        0,
                        capture_.framing == Framing::IbGlobal,
                        a.sgid_index,
                        a.sl,
                        a.traffic_class,
                        a.hop_limit,
                        a.flow_label,
                        a.dlid,
                        a.udp_source_port,
                        a.dmac,
                        a.dgid_high,
                        a.dgid_low};
}

void ReplayHost::post_send(const ReplayEvent& e) {
  const std::vector<SgeList> sges = sges_of(e);
  SendWr wr;
  wr.wr_id = e.number("wr_id");
  wr.sg_list = sges;
  wr.opcode = operation_of(e.text("op"));
  const auto flag = [&](const char* name, SendFlags bit) { return e.number(name) ? bit : 0u; };
  wr.send_flags = flag("signaled", kSignaled) | flag("solicited", kSolicited) |
                  flag("fence", kFence) | flag("inline", kInline);
  if (e.has("imm")) wr.imm_data = u32(e.number("imm"));
  if (e.has("invalidate_rkey")) wr.imm_data = u32(e.number("invalidate_rkey"));
  if (e.has("compare_add")) {
    wr.compare_add = e.number("compare_add");
    wr.swap = e.number("swap");
  }
  if (e.has("remote_addr")) {
    wr.remote_addr = e.number("remote_addr");
    wr.rkey = u32(e.number("rkey"));
  }
  if (e.has("bind_addr")) {
    wr.rkey = u32(e.number("mw_rkey_new"));
    wr.memory = {e.number("bind_addr"), e.number("bind_len"), u32(e.number("mr_lkey")),
                 access_of(e.at("bind_access"))};
  }
  if (e.has("eecn")) {
    wr.rd = {u32(e.number("eecn")), u32(e.number("remote_qpn")), u32(e.number("remote_qkey"))};
  } else if (e.has("remote_qpn")) {
    wr.ah = handles_.at(u32(e.number("qpn")));
    if (e.has("traffic_class")) wr.ah.traffic_class = u8(e.number("traffic_class"));
    wr.ah.dest_qpn = u32(e.number("remote_qpn"));
    wr.ah.qkey = u32(e.number("remote_qkey"));
  }
  if (e.has("remote_srqn")) wr.remote_srqn = u32(e.number("remote_srqn"));
  must_succeed(verbs_.post_send(qp(u32(e.number("qpn"))), wr), "post_send");
}

void ReplayHost::post_recv(const ReplayEvent& e) {
  const std::vector<SgeList> sges = sges_of(e);
  must_succeed(verbs_.post_recv(qp(u32(e.number("qpn"))), RecvWr{e.number("wr_id"), sges}),
               "post_recv");
}

u32 ReplayHost::xrc_domain() {
  if (!xrcd_) xrcd_ = verbs_.alloc_xrcd().value_or(0);
  if (!xrcd_) refused("qp", name_of(verbs_.last_status()));
  return xrcd_;
}

// That of XRC has the number by which packets name it.
Srq& ReplayHost::srq_of(const ReplayEvent& post) {
  if (!post.has("srqn")) {
    if (!srq_) refused("post_srq_recv", "no queue pair of this end is on an SRQ");
    return *srq_;
  }
  Srq*& srq = xrc_srqs_[u32(post.number("srqn"))];
  if (srq) return *srq;
  const Needs needs(capture_, end_);
  SrqInitAttr init{.max_wr = needs.entries, .max_sge = needs.sges};
  init.xrcd = xrc_domain();
  init.cq = recv_cq_;
  srq = verbs_.create_srq(init, u32(post.number("srqn")));
  if (!srq) refused("post_srq_recv", name_of(verbs_.last_status()));
  return *srq;
}

void ReplayHost::create_srq(const ReplayEvent& e) {
  if (e.has("srqn")) srq_of(e);
}

void ReplayHost::post_srq_recv(const ReplayEvent& e) {
  Srq& srq = srq_of(e);
  const std::vector<SgeList> sges = sges_of(e);
  must_succeed(verbs_.post_srq_recv(srq, RecvWr{e.number("wr_id"), sges}), "post_srq_recv");
}

void ReplayHost::set_memory(const ReplayEvent& e) {
  const MemoryRegion& region = region_of(e);
  const std::vector<u8> bytes = e.at("hex").hex();
  check_inside(region, e.number("off"), bytes.size(), e.at("off"));
  device_.memory().write(region.address + e.number("off"), bytes);
}

void ReplayHost::destroy(const ReplayEvent&) {
  for (const auto& [qpn, q] : qps_) must_execute(verbs_.destroy_qp(*q), "destroy_qp");
  qps_.clear();
}

void ReplayHost::must_execute(Error error, std::string_view what) const {
  if (error != Error::None) refused(what, name_of(verbs_.last_status()));
}

Qp& ReplayHost::qp(u32 qpn) {
  const auto found = qps_.find(qpn);
  if (found == qps_.end()) throw std::runtime_error(fmt::format("there is no QP {:#x}", qpn));
  return *found->second;
}

const ReplayHost::MemoryRegion& ReplayHost::region_of(const ReplayEvent& e) const {
  const auto found = regions_.find(e.text("mr"));
  if (found == regions_.end())
    e.at("mr").refuse("is " + e.at("mr").value().dump(), "the name of an mr event before it");
  return found->second;
}
void ReplayHost::check_inside(const MemoryRegion& region, u64 offset, u64 bytes,
                              const JsonAt& where) {
  if (offset > region.length || bytes > region.length - offset)
    where.refuse(fmt::format("{} bytes at offset {} leave the region", bytes, offset),
                 fmt::format("0 .. {}", region.length));
}

std::vector<PolledCompletion> ReplayHost::poll() {
  std::vector<PolledCompletion> all;
  Wc wc;
  for (Cq* cq : {recv_cq_, send_cq_})
    while (verbs_.poll_cq(*cq, {&wc, 1})) all.push_back({cq == recv_cq_ ? "recv" : "send", wc});
  return all;
}

std::vector<AsyncEvent> ReplayHost::poll_async() {
  std::vector<AsyncEvent> all;
  if (!verbs_.take_interrupt(*async_)) return all;
  while (const auto event = verbs_.get_async_event(*async_)) all.push_back(*event);
  return all;
}

}  // namespace hca::testbench
