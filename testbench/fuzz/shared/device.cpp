// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/shared/device.h"

#include <algorithm>
#include <vector>

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
    .qps = 256, .cqs = 256, .regions = 1024, .srqs = 256, .pds = 256};
constexpr std::array kServices{Service::Rc, Service::Uc, Service::Ud};
}  // namespace

Device::Device(bool cycle)
    : model_((cycle ? testbench::make_cycle_device
                    : testbench::make_functional_device)({.limits = kLimits, .pages = &pages()})),
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
  for (std::size_t i = 0; i < kQps; ++i) connect(i);
  guard(false);
}

void Device::connect(std::size_t i) {
  testbench::QpInitAttr init;
  init.service = kServices[i], init.send_cq = init.recv_cq = cq_;
  init.max_send_wr = init.max_recv_wr = 16, init.max_send_sge = init.max_recv_sge = 4;
  testbench::Qp& qp = *(qps_[i] = verbs_.create_qp(init));
  const bool is_rc = kServices[i] == Service::Rc, is_ud = kServices[i] == Service::Ud;
  QpAttributes q{};
  q.port = 1, q.access = kWindowAccess, q.path_mtu = 256, q.dest_qpn = 0x4f;
  q.max_dest_rd_atomic = q.max_rd_atomic = 4, q.min_rnr_timer = 12;
  q.dmac = kPeerMac, q.dgid_low = u64{0xffff} << 32 | kPeerIp, q.hop_limit = 64;
  q.udp_source_port = 0xC000, q.timeout = 14, q.retry_count = q.rnr_retry = 2;
  const auto to = [&](QpState state, u32 mask) {
    q.state = state;
    q.mask = kQpState | mask;
    require(verbs_.modify_qp(qp, q) == Error::None);
  };
  to(QpState::Init, kQpPkeyIndex | kQpPort | (is_ud ? kQpQkey : kQpAccess));
  to(QpState::Rtr, is_ud ? 0
                         : kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn |
                               (is_rc ? kQpMaxDestRdAtomic | kQpMinRnrTimer : 0));
  to(QpState::Rts,
     kQpSqPsn | (is_rc ? kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpMaxRdAtomic : 0));
}

void Device::post_receives() {
  for (testbench::Qp* qp : qps_)
    for (u32 i = 0; i < kReceives; ++i) {
      const testbench::SgeList sge{kMemory + 4096 + 512 * i, 512, mr_.lkey};
      verbs_.post_recv(*qp, testbench::RecvWr{i, {&sge, 1}});
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
