// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/both_models/loop.h"

#include <stdexcept>

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u32 kFirstPsn = 0xfffffe;  // so that PSNs wrap
constexpr u8 kRights = kAllAccess;

template <class T>
T must(T made, const char* what) {
  if (!made) throw std::runtime_error(what);
  return made;
}
}  // namespace

Loop::Loop(const ReplayRunner& runner, Framing framing)
    : device(runner.make(options_for(runner))),
      verbs(device->memory(),
            [this](u32 offset, std::span<const u8> data) { device->mmio_write(offset, data); }) {
  verbs.set_step([this] { return device->run(), false; });
  must(verbs.set_port(port(framing)) == Error::None, "SetPort");
  async = must(verbs.open_async_events(), "CreateEq");
  send_cq = must(verbs.create_cq(64), "CreateCq"), recv_cq = must(verbs.create_cq(64), "CreateCq");
  mr = verbs.reg_mr(kMemory, kBytes, kRights);
  must(mr.lkey, "RegisterMr");
  for (u32 i = 0; i < kBytes / 2; ++i) {
    const u8 byte = byte_at(i);
    device->memory().write(kMemory + i, &byte, 1);
  }
}

PortAttributes Loop::port(Framing framing) {
  PortAttributes port{};
  port.framing = u8(framing), port.mtu = 4096, port.mac = kMac;
  port.gids[0] = gid_of_ipv4(kIp);
  return port;
}

QpInitAttr Loop::init_of(const LoopOptions& o) const {
  QpInitAttr init;
  init.service = o.service, init.send_cq = send_cq, init.recv_cq = recv_cq;
  init.max_send_wr = init.max_recv_wr = o.entries;
  init.max_send_sge = o.sges, init.max_inline_data = o.inline_bytes;
  init.max_recv_sge = o.receive_sges ? o.receive_sges : o.sges;
  return init;
}

Loop::Ends Loop::connect(const LoopOptions& options) {
  QpInitAttr init = init_of(options);
  Ends ends;
  ends.from = must(verbs.create_qp(init), "CreateQp");
  init.srq = options.srq;
  ends.to = must(verbs.create_qp(init), "CreateQp");
  bring_up(*ends.from, ends.to->qpn, options), bring_up(*ends.to, ends.from->qpn, options);
  return ends;
}

void Loop::bring_up(Qp& qp, u32 peer, const LoopOptions& options) {
  const bool rc = options.service == Service::Rc, ud = options.service == Service::Ud;
  QpAttributes q{};
  q.port = 1, q.access = kWindowAccess, q.path_mtu = 256, q.dest_qpn = peer;
  q.rq_psn = q.sq_psn = kFirstPsn, q.max_dest_rd_atomic = q.max_rd_atomic = 4;
  q.min_rnr_timer = 12, q.dmac = kMac, q.dgid_low = u64{0xffff} << 32 | kIp, q.hop_limit = 64;
  q.udp_source_port = 0xC000, q.qkey = kQkey, q.dlid = options.dlid;
  q.timeout = options.timeout, q.retry_count = options.retry_count, q.rnr_retry = 7;
  const auto to = [&](QpState state, u32 mask) {
    q.state = state, q.mask = kQpState | mask;
    must(verbs.modify_qp(qp, q) == Error::None, "ModifyQp");
  };
  to(QpState::Init, kQpPkeyIndex | kQpPort | (ud ? kQpQkey : kQpAccess));
  to(QpState::Rtr, ud ? 0
                      : kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn |
                            (rc ? kQpMaxDestRdAtomic | kQpMinRnrTimer : 0));
  to(QpState::Rts, kQpSqPsn | (rc ? kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpMaxRdAtomic : 0));
}

void Loop::carry() {
  for (std::vector<Frame> frames = take(); !frames.empty(); frames = take()) give(frames);
}
std::vector<Frame> Loop::take() {
  device->run();
  return device->take_frames();
}
void Loop::give(const std::vector<Frame>& frames) {
  for (const Frame& frame : frames) device->inject(frame);
}

SendWr Loop::wr_of(const Ends& ends, u64 wr_id, const SgeList& sge, u64 to) const {
  SendWr wr;
  wr.wr_id = wr_id, wr.sg_list = {&sge, 1}, wr.send_flags = kSignaled;
  wr.opcode = ends.from->cap.service == Service::Ud || ends.to->cap.srq ? WorkOpcode::Send
                                                                        : WorkOpcode::RdmaWrite;
  wr.remote_addr = kMemory + to, wr.rkey = mr.rkey;
  wr.ah.dest_qpn = ends.to->qpn, wr.ah.qkey = kQkey, wr.ah.dmac = kMac, wr.ah.hop_limit = 64;
  wr.ah.dgid_low = u64{0xffff} << 32 | kIp, wr.ah.udp_source_port = 0xC000;
  return wr;
}
Error Loop::post(const Ends& ends, u64 wr_id, u32 bytes, u64 to) {
  const SgeList from = sge(0, bytes);
  return verbs.post_send(*ends.from, wr_of(ends, wr_id, from, to));
}
Error Loop::post_receive(const Ends& ends, u64 wr_id, u32 bytes, u64 to) {
  const SgeList into = sge(to, bytes);
  const RecvWr wr{wr_id, {&into, 1}};
  return ends.to->cap.srq ? verbs.post_srq_recv(*ends.to->cap.srq, wr)
                          : verbs.post_recv(*ends.to, wr);
}

std::vector<u8> Loop::bytes(u64 offset, u64 count) {
  std::vector<u8> all(count);
  device->memory().read(kMemory + offset, all.data(), count);
  return all;
}
bool Loop::arrived(u32 count, u64 to) { return bytes(to, count) == bytes(0, count); }

Loop::Results Loop::poll(Cq* of) {
  std::vector<Wc> all(64);
  all.resize(verbs.poll_cq(*of, all));
  Results results;
  for (const Wc& wc : all) results.emplace_back(wc.wr_id, wc.status);
  return results;
}
std::vector<EventType> Loop::events() {
  std::vector<EventType> types;
  while (const auto event = verbs.get_async_event(*async)) types.push_back(event->type);
  device->run();
  return types;
}
DropCounters Loop::drops() {
  const VerbsContext::Command query =
      verbs.begin(CommandOpcode::QueryDrops, 1, std::span<const u8>());
  device->run();
  std::array<u8, bytes_of<DropCounters>()> body;
  device->memory().read(query.block + kCommandHeaderBytes, body.data(), body.size());
  return decode<DropCounters>(body.data());
}
}  // namespace hca::testbench
