// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/overlap_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/proto/transport/psn.h"
#include "model/proto/transport/syndrome.h"

namespace hca::testbench::malice::overlap {
using namespace proto;

namespace {
constexpr u32 kFirstPsn = 0xfffff0, kCqes = 64, kPeerEecn = 0x41;
constexpr std::array<Service, kPeers> kServices{Service::Rc, Service::Xrc, Service::Rd};
constexpr u8 kRights = kLocalWrite | kRemoteWrite | kRemoteRead | kRemoteAtomic;
constexpr u64 kPage = 4096;

struct PacketRow {
  What what;
  proto::Operation operation;
  ExtSet carried;
  bool has_payload;
};
constexpr std::array kPacketRows{
    PacketRow{What::Write, proto::Operation::Write, {}, true},
    PacketRow{What::Put, proto::Operation::Put, Ext::Eoeth, true},
    PacketRow{What::Read, proto::Operation::ReadRequest, {}, false},
    PacketRow{What::Get, proto::Operation::Get, Ext::Eoeth, false},
    PacketRow{What::FetchAdd, proto::Operation::FetchAdd, {}, false},
    PacketRow{What::CompareSwap, proto::Operation::CompareSwap, {}, false},
    PacketRow{What::Send, proto::Operation::Send, {}, true},
    PacketRow{What::SendInvalidate, proto::Operation::Send, Ext::Ieth, true},
    PacketRow{What::ReadData, proto::Operation::ReadResponse, {}, true},
};
const PacketRow* packet_of(What what) {
  for (const PacketRow& row : kPacketRows)
    if (row.what == what) return &row;
  return nullptr;
}
DeviceOptions options_of(const ReplayRunner& runner) {
  DeviceOptions options;
  options.transport.credits = false;  // how many receives are free is a matter of the moment
  options.transport.xrc = options.transport.rd = options.transport.extended = true;
  return options_for(runner, options);
}
}  // namespace

Device::Device(const ReplayRunner& runner)
    : device_(runner.make(options_of(runner))),
      verbs_(device_->memory(),
             [this](u32 offset, std::span<const u8> data) { device_->mmio_write(offset, data); }) {
  verbs_.set_step([this] { return device_->run(), false; });
  set_port(verbs_);
  memory_ = verbs_.alloc(kPage, kPage);
  keys_[0] = verbs_.reg_mr(memory_, kBytes, kRights);
  must(keys_[0].lkey, "the region is refused");
  make_queues();
}

void Device::make_queues() {
  QpInitAttr init;
  init.max_send_wr = init.max_recv_wr = 16, init.sq_sig_all = true;
  const auto make = [&](Ring& send, Ring& receive) {
    for (Ring* ring : {&send, &receive})
      must(ring->cq = verbs_.create_cq(kCqes), "a CQ is refused");
    init.send_cq = send.cq, init.recv_cq = receive.cq;
    Qp* const qp = verbs_.create_qp(init);
    must(qp, "a queue pair is refused");
    return qp;
  };
  xrcd_ = verbs_.alloc_xrcd().value(), rdd_ = verbs_.alloc_rdd().value();
  for (u8 actor = 0; actor < kQps; ++actor) {
    End& end = ends_[actor];
    const Service service = actor < kPeers ? kServices[actor] : Service::Rc;
    init.service = service == Service::Rd ? service : Service::Rc;
    end.qp = make(end.send, end.receive), end.failed = true;
    if (service == Service::Xrc) make_target(end);
    if (service == Service::Rd) make_context(end);
    watch(actor, actor < kPeers ? end.receive : end.send);
  }
  init.service = Service::Rc;
  Ring unused;
  connect(verbs_, *(registrar_ = make(registered_, unused)), kFirstPsn);
  verbs_.memory().watch(verbs_.command_blocks(), VerbsContext::kCommandBlockBytes,
                        [this](u64, u64) {
                          for (u8 key = 1; key < kKeys.size(); ++key)
                            if (deregistering_[key] && verbs_.done(*deregistering_[key])) {
                              deregistering_[key].reset();
                              if (completed_) completed_(kCommand, key, WcStatus::Success);
                            }
                        });
}

// A target in place of the queue pair; its receive WQEs come from an SRQ.
void Device::make_target(End& end) {
  QpInitAttr init;
  init.service = Service::Xrc, init.side = QpSide::Target, init.xrcd = xrcd_;
  must(end.qp = verbs_.create_qp(init), "a target is refused");
}

// A second queue pair with the same CQs, and the EE context of both.
void Device::make_context(End& end) {
  must(end.second = verbs_.create_qp(end.qp->cap), "a queue pair is refused");
  end.eecn = verbs_.create_eec().value();
}

// Nothing is left of earlier bursts.
void Device::revive(u8 actor) {
  End& end = ends_[actor];
  const Service service = end.qp->cap.service;
  const u32 rdd = service == Service::Rd ? rdd_ : 0;
  connect(verbs_, *end.qp, kFirstPsn, kPeerQpn + actor, rdd);
  if (service == Service::Rd) {
    connect(verbs_, *end.second, kFirstPsn, kPeerQpn + actor, rdd);
    connect_context(verbs_, end.eecn, kFirstPsn, kPeerEecn, rdd);
  }
  if (service != Service::Xrc) return;
  SrqInitAttr init;
  init.max_wr = 16, init.xrcd = xrcd_, init.cq = end.receive.cq;
  must(end.srq = verbs_.create_srq(init), "an SRQ is refused");
}

void Device::watch(u8 actor, Ring& ring) {
  const auto look = [this, actor, &ring](u64, u64) {
    for (std::array<u8, kCqeBytes> bytes;; ++ring.seen) {
      const u32 index = ring.cq->consumer + ring.seen;
      verbs_.memory().read(ring.cq->address + u64{index % kCqes} * kCqeBytes, bytes.data(),
                           bytes.size());
      const Cqe cqe = decode<Cqe>(bytes.data());
      if (cqe.phase == bool(index / kCqes & 1)) return;
      if (completed_) completed_(actor, ring.seen, cqe.status);
    }
  };
  verbs_.memory().watch(ring.cq->address, u64{kCqes} * kCqeBytes, look);
}

// ---- In front of a burst
void Device::prepare(const Burst& burst, State& state) {
  for (u8 key = 1; key < kKeys.size(); ++key)
    if (state.keys[key] != Key::Valid) give_key(key, state.keys[key] == Key::Gone);
  state.keys.fill(Key::Valid);
  Outcome before;
  for (u8 actor = 0; actor < kQps; ++actor) {
    End& end = ends_[actor];
    if (end.failed)
      revive(actor), end.psn = kFirstPsn;
    else
      end.psn = psn_add(end.psn, end.begun);
    end.failed = false, end.begun = 0, frames_[actor].clear();
    poll(actor, end.receive, before), poll(actor, end.send, before);
  }
  for (const Operation& op : burst)
    if (is_receive(op.what))
      post_receive(op);
    else if (op.what == What::ReadData)
      post_read(op);
  device_->run();
  device_->take_frames();
}

void Device::give_key(u8 key, bool is_new) {
  Mr& mr = keys_[key];
  if (is_new) must((mr = verbs_.alloc_mr()).lkey, "a key is refused");
  const Span span = kKeys[key];
  const u32 name = make_key(key_index(mr.rkey), u8(key_byte(mr.rkey) + 1));
  SendWr wr;
  wr.opcode = WorkOpcode::RegisterMr, wr.rkey = name;
  wr.memory = {memory_ + span.begin, span.end - span.begin, 0, kRights, memory_ + span.begin, 0};
  must(verbs_.post_send(*registrar_, wr) == Error::None, "REG_MR is refused");
  device_->run();
  std::array<Wc, 2> wc;
  must(verbs_.poll_cq(*registered_.cq, wc) == 1 && wc[0].status == WcStatus::Success,
       "REG_MR fails");
  mr = {memory_ + span.begin, span.end - span.begin, name, name};
}

void Device::post_receive(const Operation& op) {
  const SgeList sge{memory_ + op.at, op.bytes, keys_[0].lkey};
  RecvWr wr;
  if (op.bytes) wr.sg_list = {&sge, 1};
  const End& end = ends_[op.actor];
  const Error error = end.srq
                          ? verbs_.post_srq_recv(*end.srq, wr)
                          : verbs_.post_recv(op.second && end.second ? *end.second : *end.qp, wr);
  must(error == Error::None, "a receive is refused");
}

void Device::post_read(const Operation& op) {
  const SgeList sge{memory_ + op.at, op.bytes, keys_[0].lkey};
  SendWr wr;
  wr.opcode = WorkOpcode::RdmaRead, wr.sg_list = {&sge, 1}, wr.remote_addr = 0x1000, wr.rkey = 1;
  must(verbs_.post_send(*ends_[op.actor].qp, wr) == Error::None, "a READ is refused");
}

// ---- During a burst
void Device::begin(const Operation& op) {
  if (op.what == What::HostWrite) return reuse(op);
  if (op.what == What::Deregister) {
    deregistering_[op.key] =
        verbs_.begin(CommandOpcode::DeregisterMr, keys_[op.key].lkey, std::span<const u8>());
    return;
  }
  if (op.what == What::LocalInvalidate) {
    SendWr wr;
    wr.opcode = WorkOpcode::LocalInvalidate, wr.imm_data = keys_[op.key].rkey;
    must(verbs_.post_send(*ends_[op.actor].qp, wr) == Error::None, "Local Invalidate is refused");
    return;
  }
  device_->inject(frame_of(op));
  ++ends_[op.actor].begun;
}

void Device::reuse(const Operation& op) {
  const std::vector<u8> bytes(op.bytes, op.fill);
  verbs_.memory().write(memory_ + op.at, bytes);
}

Frame Device::frame_of(const Operation& op) const {
  const PacketRow& packet = *packet_of(op.what);
  const End& end = ends_[op.actor];
  const Mr& mr = keys_[op.key];
  ExtHeaders ext{};
  ext.reth = {memory_ + op.at, mr.rkey, op.bytes};
  ext.atomic_eth = {memory_ + op.at, mr.rkey, op.operand, op.compare};
  ext.ieth.rkey = mr.rkey;
  ext.aeth = {ack_syndrome(0x1f), 0};
  const Service service = end.qp->cap.service;
  const OpcodeRow& row =
      built_row(*opcode_row(service, packet.operation, Position::Only, packet.carried));
  if (row.has(Ext::Eoeth))
    ext.eoeth = {extended_opcode_of(row), op.what == What::Get ? op.bytes : 0, 0};
  ext.xrc_eth.xrc_srq = end.srq ? end.srq->srqn : 0;
  ext.rdeth.ee_context = end.eecn;
  ext.deth = {kPeerQkey, kPeerQpn + op.actor};
  const Qp& to = op.second && end.second ? *end.second : *end.qp;
  const std::vector<u8> payload(packet.has_payload ? op.bytes : 0, op.fill);
  return peer_frame(to.qpn, row, psn_add(end.psn, end.begun), ext, payload);
}

// ---- What is seen
std::vector<Device::Answer> Device::answers() {
  std::vector<Answer> answers;
  for (const Frame& frame : device_->take_frames()) {
    const ParsedPacket p = parsed(frame);
    const u8 actor = u8(p.bth.dest_qp - kPeerQpn);
    must(actor < kPeers, "somebody else is answered");
    std::vector<u8> payload = payload_of(frame);
    std::string text = fmt::format("{} PSN {:#x}", p.opcode->name, p.bth.psn);
    if (p.has(Ext::Aeth)) text += fmt::format(" {:#x} MSN {}", p.aeth.syndrome, p.aeth.msn);
    if (p.has(Ext::AtomicAckEth)) text += fmt::format(" {:#x}", p.atomic_ack_eth.original);
    if (!payload.empty()) text += fmt::format(" {:02x}", fmt::join(payload, ""));
    auto& texts = frames_[actor];
    if (!texts.empty() && texts.back().starts_with("Acknowledge PSN")) texts.pop_back();
    texts.push_back(std::move(text));
    if (p.has(Ext::Aeth) && syndrome_kind(p.aeth.syndrome) == SyndromeKind::Nak)
      ends_[actor].failed = true;
    answers.push_back({actor, psn_sub(p.bth.psn, ends_[actor].psn), p, std::move(payload)});
  }
  return answers;
}

Outcome Device::finish() {
  device_->run();
  answers();
  Outcome outcome;
  outcome.frames = frames_;
  for (u8 actor = 0; actor < kQps; ++actor)
    poll(actor, ends_[actor].receive, outcome), poll(actor, ends_[actor].send, outcome);
  verbs_.memory().read(memory_, outcome.memory.data(), outcome.memory.size());
  return outcome;
}

void Device::poll(u8 actor, Ring& ring, Outcome& outcome) {
  std::array<Wc, kCqes> all;
  const u32 n = verbs_.poll_cq(*ring.cq, all);
  ring.seen = 0;
  for (u32 i = 0; i < n; ++i) {
    const Wc& wc = all[i];
    // G20.4: of an SRQ, those WQEs are flushed that were taken: by how many requests, is the order's.
    if (wc.status == WcStatus::WrFlushErr && ends_[actor].qp->cap.service == Service::Xrc) continue;
    outcome.completions[actor].push_back(
        fmt::format("{} {} {} {:#x}", int(wc.opcode), int(wc.status), wc.byte_len, wc.imm_data));
    if (wc.status != WcStatus::Success) ends_[actor].failed = true;
  }
}

std::optional<std::string> find_difference(const Outcome& functional, const Outcome& cycle) {
  for (u8 actor = 0; actor < kQps; ++actor) {
    if (functional.frames[actor] != cycle.frames[actor])
      return fmt::format("answers of actor {}: functional {}, cycle {}", actor,
                         functional.frames[actor], cycle.frames[actor]);
    if (functional.completions[actor] != cycle.completions[actor])
      return fmt::format("completions of actor {}: functional {}, cycle {}", actor,
                         functional.completions[actor], cycle.completions[actor]);
  }
  if (functional.memory != cycle.memory)
    return fmt::format("memory: functional {:02x}, cycle {:02x}", fmt::join(functional.memory, " "),
                       fmt::join(cycle.memory, " "));
  return std::nullopt;
}
}  // namespace hca::testbench::malice::overlap
