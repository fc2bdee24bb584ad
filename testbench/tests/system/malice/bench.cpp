// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/bench.h"

#include <numeric>

#include "model/proto/transport/psn.h"

namespace hca::testbench::malice {
using namespace proto;

Bench::Bench(const ReplayRunner& runner)
    : device_(runner.make(options_for(runner))),
      verbs(device_->memory(),
            [this](u32 offset, std::span<const u8> data) { device_->mmio_write(offset, data); }) {
  verbs.set_step([this] { return device_->run(), false; });
  set_port(verbs);
  own_pd_ = verbs.alloc_pd(), stranger_pd_ = verbs.alloc_pd();
  cq_ = verbs.create_cq(64);
  for (std::size_t who = 0; who < kWho; ++who) make(Who(who)), restore(Who(who));
}

void Bench::make(Who who) {
  QpInitAttr init;
  init.send_cq = init.recv_cq = cq_, init.pd = pd_of(who);
  init.max_send_wr = init.max_recv_wr = 16;
  ends_[std::size_t(who)].qp = verbs.create_qp(init);
  must(ends_[std::size_t(who)].qp, "a queue pair is refused");
}

void Bench::restore(Who who) {
  End& end = ends_[std::size_t(who)];
  connect(verbs, *end.qp, kFirstPsn);
  end.expected = end.next = kFirstPsn;
  completions(), sent();
}

void Bench::took_request(Who who) {
  u32& psn = ends_[std::size_t(who)].expected;
  psn = psn_add(psn, 1);
}
void Bench::sent_request(Who who) {
  u32& psn = ends_[std::size_t(who)].next;
  psn = psn_add(psn, 1);
}

Frame Bench::frame(u8 opcode, u32 psn, const ExtHeaders& ext, u32 payload) const {
  std::vector<u8> bytes(payload);
  std::iota(bytes.begin(), bytes.end(), u8(1));
  return peer_frame(ends_[0].qp->qpn, *opcode_row(opcode), psn, ext, bytes);
}

void Bench::give(const Frame& frame) {
  device_->inject(frame);
  device_->run();
}

std::vector<Wc> Bench::completions() {
  std::vector<Wc> all(64);
  all.resize(verbs.poll_cq(*cq_, all));
  return all;
}
}  // namespace hca::testbench::malice
