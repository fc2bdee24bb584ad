// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/shared/device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/proto/transport/qp_transitions.h"
#include "model/proto/wire/packet.h"
#include "testbench/host/functional_device.h"
#include "testbench/testbed/cycle_device.h"

namespace hca::fuzz {
using namespace proto;
using testbench::Error;

namespace {
// As in the captures, whose frames are the seeds.
constexpr u64 kMac = 0x02000000000b, kPeerMac = 0x02000000000a;
constexpr u32 kIp = 0xc0000202, kPeerIp = 0xc0000201;
constexpr u8 kGuard = 0xa5;
tlm_::PageStore& pages() {
  static tlm_::PageStore store;
  return store;
}
// An object with a number far ahead takes the time to make all those below it.
constexpr device::ObjectLimits kLimits{
    .qps = 256, .cqs = 256, .regions = 1024, .srqs = 256, .pds = 256, .ee_contexts = 256};
struct QpKindRow {
  Service service;
  QpSide side;
};
constexpr std::array kKinds{
    QpKindRow{Service::Rc, QpSide::Both},    QpKindRow{Service::Uc, QpSide::Both},
    QpKindRow{Service::Ud, QpSide::Both},    QpKindRow{Service::Xrc, QpSide::Initiator},
    QpKindRow{Service::Xrc, QpSide::Target}, QpKindRow{Service::Rd, QpSide::Both},
    QpKindRow{Service::Rd, QpSide::Both}};
static_assert(kKinds.size() == Device::kQps);
testbench::DeviceOptions options() {
  testbench::DeviceOptions options;
  options.limits = kLimits;
  options.pages = &pages();
  TransportOptions& t = options.transport;
  t.xrc = t.rd = t.apm = t.extended = t.flush = t.atomic_write = true;
  return options;
}
QpAttributes attributes() {
  QpAttributes q{};
  q.port = 1;
  q.access = kWindowAccess;
  q.path_mtu = 256;
  q.dest_qpn = Device::kPeerQpn;
  q.qkey = Device::kQkey;
  q.max_dest_rd_atomic = q.max_rd_atomic = 4;
  q.min_rnr_timer = 12;
  q.dmac = kPeerMac;
  q.dgid_low = u64{0xffff} << 32 | kPeerIp;
  q.hop_limit = 64;
  q.udp_source_port = 0xC000;
  q.timeout = 14;
  q.retry_count = q.rnr_retry = 2;
  return q;
}
constexpr std::array kWay{QpState::Init, QpState::Rtr, QpState::Rts};
}  // namespace

Device::Device(bool cycle)
    : model_((cycle ? testbench::make_cycle_device : testbench::make_functional_device)(options())),
      verbs_(model_->memory(),
             [this](u32 offset, std::span<const u8> bytes) { model_->mmio_write(offset, bytes); }) {
  verbs_.set_step([this] {
    model_->run();
    return false;
  });
  PortAttributes port{};
  port.framing = u8(Framing::RoceV2Ip4), port.mtu = 4096, port.mac = kMac;
  port.gids[0] = gid_of_ipv4(kIp);
  require(verbs_.set_port(port) == Error::None);
  verbs_.open_async_events();
  cq_ = verbs_.create_cq(64);
  mr_ = verbs_.reg_mr(kMemory, kMemoryBytes, kAllAccess | kBindWindow);
  xrcd_ = verbs_.alloc_xrcd().value();
  testbench::SrqInitAttr srq;
  srq.max_wr = 16;
  srq.max_sge = 4;
  srq.xrcd = xrcd_;
  srq.cq = cq_;
  srq_ = verbs_.create_srq(srq);
  rdd_ = verbs_.alloc_rdd().value();
  eecn_ = verbs_.create_eec().value();
  connect_context();
  for (std::size_t i = 0; i < kQps; ++i) connect(i);
  guard(false);
}

void Device::connect(std::size_t i) {
  const auto [service, side] = kKinds[i];
  const bool sends = side != QpSide::Target;
  testbench::QpInitAttr init;
  init.service = service;
  init.side = side;
  if (!sends) init.xrcd = xrcd_;
  if (sends) init.send_cq = cq_;
  if (side == QpSide::Both) init.recv_cq = cq_;
  init.max_send_wr = init.max_recv_wr = 16;
  init.max_send_sge = init.max_recv_sge = 4;
  qps_[i] = verbs_.create_qp(init);
  testbench::Qp& qp = *qps_[i];
  QpAttributes q = attributes();
  q.rdd = rdd_;
  const u32 also = service == Service::Rd ? kQpAccess | kQpMinRnrTimer : 0;
  QpState from = QpState::Reset;
  for (const QpState state : kWay) {
    const Services kind = kind_of(service, side);
    const QpTransition& t = *find_transition(kind, std::exchange(from, state), state);
    q.state = state;
    q.mask = t.required | (t.optional & also);
    require(verbs_.modify_qp(qp, q) == Error::None);
  }
}

void Device::connect_context() {
  QpAttributes q = attributes();
  q.rdd = rdd_;
  QpState from = QpState::Reset;
  for (const QpState state : kWay) {
    q.state = state;
    q.mask = find_transition(kEeContext, std::exchange(from, state), state)->required;
    require(verbs_.modify_eec(eecn_, q) == Error::None);
  }
}

void Device::post_receives() {
  for (u32 i = 0; i < kReceives; ++i) {
    const testbench::SgeList sge{kMemory + 4096 + 512 * i, 512, mr_.lkey};
    const testbench::RecvWr wr{i, {&sge, 1}};
    for (std::size_t k = 0; k < kQps; ++k)
      if (kKinds[k].side == QpSide::Both) verbs_.post_recv(*qps_[k], wr);
    verbs_.post_srq_recv(*srq_, wr);
  }
}

void Device::guard(bool check) {
  tlm_::HostMemory& memory = model_->memory();
  for (const u64 at : {kMemory - kGuardBytes, kMemory + kMemoryBytes}) {
    if (!check) {
      memory.fill(at, kGuard, kGuardBytes);
      continue;
    }
    std::array<u8, kGuardBytes> bytes;
    memory.read(at, bytes.data(), bytes.size());
    require(std::all_of(bytes.begin(), bytes.end(), [](u8 byte) { return byte == kGuard; }));
  }
}

void Device::finish() {
  model_->run();
  for (u32 i = 0; i < 4 && model_->next_timer(); ++i) {
    model_->advance_to_next_timer();
    model_->run();
  }
  model_->take_frames();
  guard(true);
}
}  // namespace hca::fuzz
