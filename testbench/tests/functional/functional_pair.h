// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "model/functional/functional_hca.h"
#include "model/proto/wire/packet.h"
#include "testbench/host/verbs.h"

namespace hca::functional {
// Two functional HCAs, their hosts, and a wire that a test can read and cut.
struct Station {
  explicit Station(u32 count = 1, const proto::TransportOptions& transport = {})
      : ports(count), options(transport) {}
  const u32 ports;
  const proto::TransportOptions options;
  tlm_::HostMemory memory;
  std::deque<std::vector<u8>> sent;
  u32 sent_through = 0;  // port of the last frame
  FunctionalHca hca{
      {[this](u64 at, std::span<u8> to) { return memory.read(at, to.data(), to.size()), true; },
       [this](u64 at, std::span<const u8> from) {
         return memory.write(at, from.data(), from.size()), true;
       },
       [this](u32 port, std::span<const u8> frame) {
         sent.emplace_back(frame.begin(), frame.end()), sent_through = port;
       }},
      options,
      {.ports = ports}};
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
  u8 access = proto::kRemoteWrite;  // of both queue pairs
  u8 max_rd_atomic = 0, max_dest_rd_atomic = 0;
  u32 ports = 1;
  u8 port = 1;  // of both queue pairs
  proto::TransportOptions transport{};
};
// Opcodes of RC.
inline constexpr u8 kReadRequest = 0x0c, kReadFirst = 0x0d, kReadMiddle = 0x0e, kReadLast = 0x0f,
                    kReadOnly = 0x10, kAcknowledge = 0x11, kAtomicAcknowledge = 0x12,
                    kCompareSwap = 0x13, kFetchAdd = 0x14;

// Allows READs and ATOMICs, `depth` at a time.
inline PairOptions reading(u8 depth = 4) {
  PairOptions options;
  options.access = proto::kRemoteWrite | proto::kRemoteRead | proto::kRemoteAtomic;
  options.max_rd_atomic = options.max_dest_rd_atomic = depth;
  return options;
}

struct Pair {
  static constexpr u64 kBuffer = u64{1} << 32;
  static constexpr u32 kBufferBytes = 1 << 20;
  static constexpr u32 kFirstPsn = 0xfffffe;  // so that PSNs wrap

  const u8 port;
  Station a, b;
  testbench::Mr mr_a, mr_b;
  // True if frame `n` (from 0, per direction) is lost.
  std::function<bool(u32 n)> lost_from_a = [](u32) { return false; }, lost_from_b = lost_from_a;
  u32 carried_from_a = 0, carried_from_b = 0;
  std::vector<std::vector<u8>> log_a, log_b;  // all sent frames

  explicit Pair(PairOptions options = {})
      : port(options.port),
        a(options.ports, options.transport),
        b(options.ports, options.transport) {
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
    for (u32 i = 1; i <= s.ports; ++i) s.verbs.set_port(attributes(number, u8(i)), i);
    s.send_cq = s.verbs.create_cq(64), s.recv_cq = s.verbs.create_cq(64);
    testbench::QpInitAttr init;
    init.send_cq = s.send_cq, init.recv_cq = s.recv_cq;
    init.max_send_wr = options.send_entries, init.max_recv_wr = options.receive_entries;
    init.max_send_sge = init.max_recv_sge = 4, init.max_inline_data = 64;
    s.qp = s.verbs.create_qp(init, 0x10 + number);
  }
  // By station and port.
  static u64 mac(u8 number, u8 of) { return 0x020000000000 + number + 16 * (of - 1); }
  static u64 gid_low(u8 number, u8 of) { return 0xffff'0a000000 + number + 16 * (of - 1); }
  static proto::PortAttributes attributes(u8 number, u8 of) {
    proto::PortAttributes attributes{};
    attributes.framing = u8(proto::Framing::RoceV2Ip4), attributes.mtu = 4096;
    attributes.mac = mac(number, of);
    attributes.gids[0] = proto::make_gid(0, gid_low(number, of));
    return attributes;
  }

  void connect(Station& s, u8 own, u8 peer, const PairOptions& o) {
    using namespace proto;
    QpAttributes q{};
    q.state = QpState::Init, q.port = o.port, q.access = o.access;
    q.mask = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
    s.verbs.modify_qp(*s.qp, q);
    q.state = QpState::Rtr, q.path_mtu = o.path_mtu, q.dest_qpn = 0x10u + peer;
    q.rq_psn = q.sq_psn = kFirstPsn, q.min_rnr_timer = o.min_rnr_timer;
    q.max_dest_rd_atomic = o.max_dest_rd_atomic;
    q.dmac = mac(peer, o.port), q.dgid_low = gid_low(peer, o.port), q.hop_limit = 64;
    q.udp_source_port = u16(0xC000 + own);
    q.mask = kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic |
             kQpMinRnrTimer;
    s.verbs.modify_qp(*s.qp, q);
    q.state = QpState::Rts, q.timeout = o.timeout, q.retry_count = o.retry_count;
    q.rnr_retry = o.rnr_retry, q.max_rd_atomic = o.max_rd_atomic;
    q.mask = kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic;
    s.verbs.modify_qp(*s.qp, q);
  }

  // Carries frames until none is in flight.
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
    if (!lost(n++)) to.hca.receive(frame, port);
  }

  testbench::Error post(proto::WorkOpcode opcode, u64 id, std::vector<testbench::SgeList> sges,
                        u32 flags = testbench::kSignaled, u64 remote = kBuffer) {
    testbench::SendWr wr;
    wr.wr_id = id, wr.sg_list = sges, wr.opcode = opcode, wr.send_flags = flags;
    wr.remote_addr = remote, wr.rkey = mr_b.rkey, wr.imm_data = 0x12345678;
    return a.verbs.post_send(*a.qp, wr);
  }
  // An ATOMIC on the word at `remote` of B; its result goes to offset `into` of A's buffer.
  testbench::Error post_atomic(u64 id, u64 add_or_compare, std::optional<u64> swap, u32 into = 0,
                               u64 remote = kBuffer) {
    const testbench::SgeList sge = from_a(into, 8);
    testbench::SendWr wr;
    wr.wr_id = id, wr.sg_list = {&sge, 1}, wr.send_flags = testbench::kSignaled;
    wr.opcode = swap ? proto::WorkOpcode::CompareSwap : proto::WorkOpcode::FetchAdd;
    wr.remote_addr = remote, wr.rkey = mr_b.rkey;
    wr.compare_add = add_or_compare, wr.swap = swap.value_or(0);
    return a.verbs.post_send(*a.qp, wr);
  }
  // A frame as A's requester or, for a response, B's responder would send it.
  std::vector<u8> frame(u8 opcode, u32 psn, const proto::ExtHeaders& ext = {}, u32 bytes = 0,
                        bool ack_req = false) const {
    using namespace proto;
    const OpcodeRow& row = *opcode_row(opcode);
    const u8 from = row.is_request ? 1 : 2, to = row.is_request ? 2 : 1;
    AddressVector av;
    av.source_mac = 0x020000000000 + from, av.destination_mac = 0x020000000000 + to;
    av.source_gid = gid_of_ipv4(0x0a000000 + from);
    av.destination_gid = gid_of_ipv4(0x0a000000 + to);
    const Path path = make_path(av);
    Bth bth{};
    bth.pkey = 0xffff, bth.dest_qp = 0x10u + to, bth.psn = psn, bth.ack_req = ack_req;
    std::vector<u8> out(frame_bytes(path, row, bytes));
    const u32 at = write_headers(path, row, bth, ext, bytes, out.data(), 0);
    for (u32 i = 0; i < bytes; ++i) out[at + i] = u8(i + 1);
    finish_frame(out.data(), shape_of(path, row, bytes));
    return out;
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

inline proto::ExtHeaders reth(u64 va, u32 rkey, u32 bytes) {
  proto::ExtHeaders ext;
  ext.reth = {va, rkey, bytes};
  return ext;
}
inline proto::ExtHeaders atomic_eth(u64 va, u32 rkey, u64 swap_add, u64 compare = 0) {
  proto::ExtHeaders ext;
  ext.atomic_eth = {va, rkey, swap_add, compare};
  return ext;
}
inline proto::ExtHeaders aeth(u8 syndrome, u32 msn) {
  proto::ExtHeaders ext;
  ext.aeth = {syndrome, msn};
  return ext;
}
// The work requests of these completions, and their statuses.
using Results = std::vector<std::pair<u64, proto::WcStatus>>;
inline Results results(const std::vector<testbench::Wc>& all) {
  Results list;
  for (const testbench::Wc& wc : all) list.emplace_back(wc.wr_id, wc.status);
  return list;
}

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
// All frames that B sends now, in response to one frame.
inline std::vector<std::vector<u8>> answers(Pair& pair, const std::vector<u8>& request) {
  pair.b.hca.receive(request);
  std::vector<std::vector<u8>> all(pair.b.sent.begin(), pair.b.sent.end());
  pair.b.sent.clear();
  return all;
}
}  // namespace hca::functional
