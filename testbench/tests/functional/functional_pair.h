// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "model/functional/functional_hca.h"
#include "model/proto/packet.h"
#include "testbench/verbs.h"

namespace hca::functional {
// Two functional HCAs, their hosts, and a wire that a test can read and cut.
struct Station {
  tlm_::HostMemory memory;
  std::deque<std::vector<u8>> sent;
  FunctionalHca hca{
      {[this](u64 at, std::span<u8> to) { memory.read(at, to.data(), to.size()); },
       [this](u64 at, std::span<const u8> from) { memory.write(at, from.data(), from.size()); },
       [this](std::span<const u8> frame) { sent.emplace_back(frame.begin(), frame.end()); }}};
  testbench::VerbsContext verbs{
      memory, [this](u32 offset, std::span<const u8> data) { hca.mmio_write(offset, data); }};
  testbench::Cq *send_cq = nullptr, *recv_cq = nullptr;
  testbench::Qp* qp = nullptr;

  std::vector<testbench::Wc> poll(testbench::Cq* cq) {
    std::vector<testbench::Wc> all(64);
    all.resize(verbs.poll_cq(*cq, all));
    return all;
  }
  std::vector<u8> bytes(u64 at, u64 count) {
    std::vector<u8> all(count);
    memory.read(at, all.data(), count);
    return all;
  }
};

struct PairOptions {
  u32 path_mtu = 256;
  u8 timeout = 14, retry_count = 7, rnr_retry = 7, min_rnr_timer = 12;
  u32 send_entries = 64, receive_entries = 64;
};

struct Pair {
  static constexpr u64 kBuffer = u64{1} << 32;
  static constexpr u32 kBufferBytes = 1 << 20;
  static constexpr u32 kFirstPsn = 0xfffffe;  // so that PSNs wrap

  Station a, b;
  testbench::Mr mr_a, mr_b;
  // Whether frame `n` (from 0, of one direction) is lost.
  std::function<bool(u32 n)> lost_from_a = [](u32) { return false; }, lost_from_b = lost_from_a;
  u32 carried_from_a = 0, carried_from_b = 0;
  std::vector<std::vector<u8>> log_a, log_b;  // all that was sent

  explicit Pair(PairOptions options = {}) {
    set_up(a, 1, options), set_up(b, 2, options);
    mr_a = a.verbs.reg_mr(kBuffer, kBufferBytes, 0xf);
    mr_b = b.verbs.reg_mr(kBuffer, kBufferBytes, 0xf);
    for (u32 i = 0; i < 4096; ++i) {
      const u8 byte = u8(i * 7 + 3);
      a.memory.write(kBuffer + i, &byte, 1);
    }
    connect(a, 1, 2, options), connect(b, 2, 1, options);
  }

  void set_up(Station& s, u8 number, const PairOptions& options) {
    proto::PortAttributes port{};
    port.framing = u8(proto::Framing::RoceV2Ip4), port.mtu = 4096, port.pkey = 0xffff;
    port.mac = 0x020000000000 + number, port.gid_low = gid_low(number);
    s.verbs.set_port(port);
    s.send_cq = s.verbs.create_cq(64), s.recv_cq = s.verbs.create_cq(64);
    testbench::QpInitAttr init;
    init.send_cq = s.send_cq, init.recv_cq = s.recv_cq;
    init.max_send_wr = options.send_entries, init.max_recv_wr = options.receive_entries;
    init.max_send_sge = init.max_recv_sge = 4, init.max_inline_data = 64;
    s.qp = s.verbs.create_qp(init, 0x10 + number);
  }
  static u64 gid_low(u8 number) { return 0xffff'0a000000 + number; }

  void connect(Station& s, u8 own, u8 peer, const PairOptions& o) {
    using namespace proto;
    QpAttributes q{};
    q.state = QpState::Init, q.port = 1, q.access = kRemoteWrite;
    q.mask = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
    s.verbs.modify_qp(*s.qp, q);
    q.state = QpState::Rtr, q.path_mtu = o.path_mtu, q.dest_qpn = 0x10u + peer;
    q.rq_psn = q.sq_psn = kFirstPsn, q.min_rnr_timer = o.min_rnr_timer;
    q.dmac = 0x020000000000 + peer, q.dgid_low = gid_low(peer), q.hop_limit = 64;
    q.udp_source_port = u16(0xC000 + own);
    q.mask = kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic |
             kQpMinRnrTimer;
    s.verbs.modify_qp(*s.qp, q);
    q.state = QpState::Rts, q.timeout = o.timeout, q.retry_count = o.retry_count;
    q.rnr_retry = o.rnr_retry;
    q.mask = kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic;
    s.verbs.modify_qp(*s.qp, q);
  }

  // Carries frames until none is on the way.
  void carry() {
    while (!a.sent.empty() || !b.sent.empty()) {
      if (!a.sent.empty())
        carry_one(a, b, lost_from_a, carried_from_a, log_a);
      else
        carry_one(b, a, lost_from_b, carried_from_b, log_b);
    }
  }
  void carry_one(Station& from, Station& to, const std::function<bool(u32)>& lost, u32& n,
                 std::vector<std::vector<u8>>& log) {
    const std::vector<u8> frame = std::move(from.sent.front());
    from.sent.pop_front();
    log.push_back(frame);
    if (!lost(n++)) to.hca.receive(frame);
  }

  testbench::Error post(proto::WorkOpcode opcode, u64 id, std::vector<testbench::SgeList> sges,
                        u32 flags = testbench::kSignaled, u64 remote = kBuffer) {
    testbench::SendWr wr;
    wr.wr_id = id, wr.sg_list = sges, wr.opcode = opcode, wr.send_flags = flags;
    wr.remote_addr = remote, wr.rkey = mr_b.rkey, wr.imm_data = 0x12345678;
    return a.verbs.post_send(*a.qp, wr);
  }
  testbench::Error post_receive(u64 id, std::vector<testbench::SgeList> sges) {
    return b.verbs.post_recv(*b.qp, testbench::RecvWr{id, sges});
  }
  testbench::SgeList from_a(u32 offset, u32 bytes) const {
    return {kBuffer + offset, bytes, mr_a.lkey};
  }
  testbench::SgeList into_b(u32 offset, u32 bytes) const {
    return {kBuffer + offset, bytes, mr_b.lkey};
  }
};

inline proto::ParsedPacket parsed(std::span<const u8> frame) {
  proto::ParsedPacket packet;
  if (proto::parse(frame, proto::LinkLayer::Ethernet, packet) != proto::PacketVerdict::Good)
    throw std::runtime_error("a frame is malformed");
  return packet;
}
// OpCode and PSN of each frame.
inline std::vector<std::pair<u32, u32>> opcodes_and_psns(
    const std::vector<std::vector<u8>>& frames) {
  std::vector<std::pair<u32, u32>> all;
  for (const auto& frame : frames) {
    const proto::ParsedPacket p = parsed(frame);
    all.emplace_back(p.bth.opcode, p.bth.psn);
  }
  return all;
}
}  // namespace hca::functional
