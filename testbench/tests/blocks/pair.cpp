// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/blocks/pair.h"

#include <array>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "model/device/execute_command.h"
#include "model/engine/digest.h"
#include "model/proto/wire/ip_checksum.h"

namespace hca::test {
using namespace proto;

namespace {
template <class T>
CommandHeader command(device::Contexts& contexts, CommandOpcode opcode, u32 object, const T& body) {
  u8 block[kCommandBytes] = {};
  encode(CommandHeader{opcode, {}, false, object}, block);
  encode(body, block + kCommandHeaderBytes);
  execute_command(contexts, block);
  const auto header = decode<CommandHeader>(block);
  if (header.status != CommandStatus::Ok) throw std::runtime_error("command refused");
  return header;
}

u64 mac_of(u32 port, bool second) { return 0x02000000000a + second + 16 * (port - 1); }
u64 gid_low_of(u32 port, bool second) { return 0xffffc0000201 + second + 16 * (port - 1); }
u64 send_ring(u32 qpn) { return kSendRings + u64{qpn} * kEntries * 128; }
u64 cq_ring(u32 cqn) { return kCqs + (u64{cqn - 1} << kLogCqes) * kCqeBytes; }
u64 receive_ring(u32 qpn) { return kReceiveRings + u64{qpn} * kEntries * 64; }

void enter_rts(QpAttributes& a, const PairConfig& config, bool second) {
  a.state = QpState::Rts, a.sq_psn = second ? 200 : 100, a.timeout = config.timeout;
  a.retry_count = config.retry_count, a.rnr_retry = config.rnr_retry;
  a.max_rd_atomic = config.max_rd_atomic;
  a.mask = kQpState | kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic;
}

// What a switch does that is about to overflow; the IPv4 header gets a new checksum.
void mark(Packet& p) {
  u8* ip = p.frame() + p.shape.network_offset;
  const u16 before = u16(load_be<2>(ip));
  ip[1] |= kEcnCongestionExperienced;
  store_be<2>(ip + 10, checksum_after(u16(load_be<2>(ip + 10)), before, u16(load_be<2>(ip))));
}
}  // namespace

void set_up(device::Contexts& c, const PairConfig& config, bool second) {
  c.limits.first_qp = 1;  // so that queue pairs, CQs and rings count alike
  const u32 ports = u32(c.ports.size());
  for (u32 number = 1; number <= ports; ++number) {
    PortAttributes port{};
    port.framing = u8(Framing::RoceV2Ip4), port.mtu = 4096;
    port.mac = mac_of(number, second);
    port.gids[0] = make_gid(0, gid_low_of(number, second));
    command(c, CommandOpcode::SetPort, number, port);
  }
  if (c.needs_context_memory)
    command(c, CommandOpcode::SetContextMemory, 0, ContextMemoryAttributes{kContexts});
  command(c, CommandOpcode::AllocPd, 1, CommandDoorbell{});
  if (config.armed) command(c, CommandOpcode::CreateEq, 1, QueueAttributes{kEqs, kLogEqes, 0});
  for (u32 cqn = 1; cqn <= config.cqs; ++cqn) {
    command(c, CommandOpcode::CreateCq, cqn,
            QueueAttributes{cq_ring(cqn), config.log_cqes, config.armed});
    if (config.armed) c.cqs[cqn].armed = Arm::Next;
  }
  command(c, CommandOpcode::RegisterMr, 0,
          MrAttributes{kData, kMemoryBytes - kData, kData, 1, kKey, Rights(config.access | 0x0f)});
  for (u32 qpn = 1; qpn <= config.qps; ++qpn) {
    command(c, CommandOpcode::CreateQp, qpn,
            QpCreate{0, false, 1, 1 + (qpn - 1) % config.cqs, 1 + (qpn - 1) % config.cqs,
                     send_ring(qpn), receive_ring(qpn), kLogEntries, kLogEntries, 7, 6});
    QpAttributes a{};
    a.state = QpState::Init, a.port = u8(1 + (qpn - 1) % ports), a.access = config.access;
    a.mask = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
    command(c, CommandOpcode::ModifyQp, qpn, a);
    a.state = QpState::Rtr, a.path_mtu = config.path_mtu, a.dest_qpn = qpn,
    a.rq_psn = second ? 100 : 200;
    a.max_dest_rd_atomic = config.max_dest_rd_atomic, a.max_rd_atomic = config.max_rd_atomic;
    a.min_rnr_timer = config.min_rnr_timer, a.dmac = mac_of(a.port, !second);
    a.dgid_low = gid_low_of(a.port, !second), a.hop_limit = 64,
    a.udp_source_port = u16(0xc000 + qpn);
    a.mask = kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic |
             kQpMinRnrTimer;
    command(c, CommandOpcode::ModifyQp, qpn, a);
    enter_rts(a, config, second);
    command(c, CommandOpcode::ModifyQp, qpn, a);
  }
}

Pair::Side::Side(const PairConfig& c, u64 seed)
    : memory(kMemoryBytes),
      timing(c.memory_latency),
      chip(c.chip, c.domain, timing, *this),
      host(chip, memory),
      wire_latency(c.wire_latency) {
  engine::Random random(seed);
  for (u64 i = kData; i < kMemoryBytes; i += 8) {
    const u64 word = random();
    std::memcpy(&memory[i], &word, 8);
  }
  set_up(chip.contexts, c, seed == 2);
  host.self = {&chip.domain, chip.domain.add_last(host, "host")};
  host.log_cqes = c.log_cqes, host.start(c.qps, c.cqs);
  chip.probes.attach(digest);
}

bool Pair::Side::read_memory(u64 address, std::span<u8> to, u32 bytes, Cycle at) {
  if (sees) sees(address, bytes, false, at);
  if (address >= kContexts) {
    std::vector<u8>& entry = contexts[address];
    entry.resize(bytes);
    std::copy(entry.begin(), entry.end(), to.begin());
    return true;
  }
  std::memcpy(to.data(), &memory.at(address), bytes);
  return true;
}
bool Pair::Side::write_memory(u64 address, std::span<const u8> from, u32 bytes, Cycle at) {
  if (sees) sees(address, bytes, true, at);
  if (address >= kContexts) return contexts[address].assign(from.begin(), from.end()), true;
  if (address + bytes > memory.size()) throw std::runtime_error("write outside of memory");
  std::memcpy(&memory[address], from.data(), bytes);
  if (address < kData) control_writes.push_back({at, address});
  if (address >= kCqs && address < kData) host.cqe_written();
  return true;
}
std::vector<Cycle> Pair::Side::writes_to(u64 from, u64 bytes) const {
  std::vector<Cycle> found;
  for (const auto& [at, address] : control_writes)
    if (address - from < bytes) found.push_back(at);
  return found;
}
void Pair::Side::transmit(Packet* packet, Cycle at) {
  sent_frames.push_back({at, packet->psn});
  if (loses(*packet)) return PacketPool::give_back(packet);
  if (marks(*packet)) mark(*packet);
  peer->chip.ports[packet->port]->receive.arrive(packet, at + wire_latency);
}

Pair::Pair(const PairConfig& c) : config(c), a(config, 1), b(config, 2) {
  a.peer = &b, b.peer = &a;
}

bool Pair::run(Cycle quantum, Cycle limit) {
  if (!quantum) quantum = config.wire_latency;
  while (!(a.host.finished() && b.host.finished())) {
    cycles += quantum;
    if (cycles > limit) return false;
    a.chip.domain.run_until(cycles);
    b.chip.domain.run_until(cycles);
    if (a.chip.domain.asleep() && b.chip.domain.asleep()) break;
  }
  return a.host.finished() && b.host.finished();
}

void Pair::advance(Cycle count) {
  for (const Cycle end = cycles + count; cycles < end;) {
    cycles = std::min(cycles + config.wire_latency, end);
    a.chip.domain.run_until(cycles), b.chip.domain.run_until(cycles);
  }
}

u64 Pair::digest() const {
  engine::Digest d;
  for (const Side* s : {&a, &b}) {
    d.add(s->digest.value());
    u64 sum = 0;
    for (u64 i = 0; i < kMemoryBytes; i += 8) {
      u64 word;
      std::memcpy(&word, &s->memory[i], 8);
      sum = sum * 0x9e3779b97f4a7c15u + word;
    }
    d.add(sum);
    for (const Cycle at : s->host.sent_at) d.add(at);
    for (const Cycle at : s->host.received_at) d.add(at);
  }
  return d.value();
}

std::string Pair::report() const {
  std::string text = "cycle " + std::to_string(cycles) + "\n";
  for (const Side* side : {&a, &b}) {
    text += side == &a ? "A\n" : "B\n";
    side->chip.for_each_counters([&](std::string_view name, const auto& counters) {
      engine::for_each_counter(counters, [&](const auto& row, u64 value) {
        if (value)
          text += "  " + std::string(name) + "." + std::string(row.name) + " " +
                  std::to_string(value) + "\n";
      });
    });
    text += side->chip.domain.stuck_report();
  }
  return text;
}

void finish(Pair& pair) {
  const bool finished = pair.run();
  INFO(pair.report());
  REQUIRE(finished);
}
void check_success(const std::vector<Cqe>& cqes, std::size_t count) {
  REQUIRE(cqes.size() == count);
  for (const Cqe& cqe : cqes) CHECK(cqe.status == WcStatus::Success);
}

void TestHost::tick() {
  poll();
  if (posted == plan.size() || posted - done >= window) return;
  post(plan[posted]);
  if (posted != plan.size() && posted - done < window) wake_at(now() + 1);
}

void TestHost::poll() {
  if (now() < poll_from_) return;
  poll_from_ = kNever;
  for (u32 cqn = 1; cqn <= consumers_.size(); ++cqn) poll(cqn);
}

void TestHost::poll(u32 cqn) {
  u32& consumer = consumers_[cqn - 1];
  const u32 before = consumer;
  for (;; ++consumer) {
    const u8* slot = &memory_[cq_ring(cqn) + u64{consumer & ((1u << log_cqes) - 1)} * kCqeBytes];
    const auto cqe = decode<Cqe>(slot);
    if (cqe.phase != !(consumer >> log_cqes & 1)) break;
    const bool receive = cqe.opcode >= CqeOpcode::Receive;
    (receive ? received : sent).push_back(cqe);
    (receive ? received_at : sent_at).push_back(now());
    if (receive) continue;
    // Unsignaled messages before it are done as well.
    auto& queue = in_flight_[cqe.qpn];
    for (bool found = false; !found && !queue.empty(); ++done)
      found = queue.front(), queue.pop_front();
  }
  if (consumer == before) return;
  u8 bell[8];
  encode(CqDoorbell{Arm::None, cqn, consumer}, bell);
  chip_.doorbell.write(now() + mmio_latency, u32(BarOffset::CqDoorbell), bell);
}

void TestHost::ring_command(u64 address) {
  u8 bell[8];
  store_be<8>(bell, address);
  chip_.doorbell.write(now() + mmio_latency, u32(BarOffset::CommandDoorbell), bell);
}

void TestHost::post(const Message& m) {
  const u32 index = producers_[m.qpn]++;
  u8* slot = &memory_[send_ring(m.qpn) + u64{index & (kEntries - 1)} * 128];
  std::memset(slot, 0, 128);
  SendWqe w{};
  w.opcode = m.opcode, w.signaled = m.signaled, w.sge_count = u8(m.sges), w.index = u16(index);
  w.remote_va = kData + m.remote, w.rkey = m.rkey, w.immediate = m.immediate;
  w.fence = m.fence, w.solicited = m.solicited;
  const bool flushes = m.opcode == WorkOpcode::Flush;
  if (flushes) w.sge_count = 0;
  if (m.inline_data) w.inline_data = true, w.inline_bytes = u16(m.bytes), w.sge_count = 0;
  encode(w, slot);
  u8* sges = slot + kSendWqeBytes;
  if (m.inline_data) std::memcpy(sges, &memory_[kData + m.local], m.bytes);
  if (row_of(w).answer == Answer::Atomic) {
    encode(AtomicOperands{m.operand, m.compare}, sges);
    sges += bytes_of<AtomicOperands>();
  }
  if (flushes) encode(FlushOperands{kPlaceGlobal, kFlushRange, m.bytes}, sges);
  u32 at = 0;
  for (u32 i = 0; i < w.sge_count; ++i) {
    const u32 bytes = i + 1 == m.sges ? m.bytes - at : m.bytes / m.sges;
    encode(Sge{kData + m.local + at, kKey, bytes}, sges + i * kSgeBytes);
    at += bytes;
  }
  ring(m.pushed ? BarOffset::PushBuffer : BarOffset::SendDoorbell, m.qpn, producers_[m.qpn],
       m.pushed ? slot : nullptr);
  in_flight_[m.qpn].push_back(m.signaled);
  posted_at.push_back(now()), ++posted;
}

void TestHost::post_receives(u32 qpn, u32 count, u32 bytes, u32 sges) {
  for (u32 i = 0; i < count; ++i) {
    const u32 index = receives_[qpn]++;
    u8* slot = &memory_[receive_ring(qpn) + u64{index & (kEntries - 1)} * 64];
    encode(ReceiveWqe{u8(sges), u16(index)}, slot);
    for (u32 s = 0; s < sges; ++s)
      encode(Sge{kData + 0x800000 + u64{index} * bytes + u64{s} * (bytes / sges), kKey,
                 s + 1 == sges ? bytes - s * (bytes / sges) : bytes / sges},
             slot + kReceiveWqeBytes + s * kSgeBytes);
  }
  ring(BarOffset::ReceiveDoorbell, qpn, receives_[qpn]);
}

void TestHost::ring(BarOffset offset, u32 qpn, u32 producer, const u8* pushed) {
  std::array<u8, 8 + 128> bell;
  encode(QueueDoorbell{qpn, u16(producer)}, bell.data());
  if (pushed) std::copy_n(pushed, 128, &bell[8]);
  chip_.doorbell.write(now() + mmio_latency, u32(offset), std::span(bell).first(pushed ? 136 : 8));
}

void start_by_command(Pair& pair) {
  for (Pair::Side* side : {&pair.a, &pair.b})
    for (u32 qpn = 1; qpn <= pair.config.qps; ++qpn) {
      side->chip.contexts.qps[qpn].state = QpState::Rtr;
      QpAttributes a{};
      enter_rts(a, pair.config, side == &pair.b);
      side->host.command(qpn, CommandOpcode::ModifyQp, qpn, a);
    }
  pair.advance(2000 * pair.config.qps);
  // They look at their plans again.
  for (Pair::Side* side : {&pair.a, &pair.b}) side->host.start(pair.config.qps, pair.config.cqs);
}

void plan_all_operations(Pair& pair, u32 qps) {
  using enum proto::WorkOpcode;
  constexpr std::array kAll{Send, RdmaWrite, RdmaRead, FetchAdd};
  engine::Random random(4);
  for (u32 i = 0; i < 40; ++i) {
    Message m;
    m.opcode = kAll[i % kAll.size()], m.qpn = 1 + i % qps;
    m.bytes = m.opcode == FetchAdd ? proto::kAtomicBytes : u32(random.below(3000));
    m.local = 0x1000 * i, m.remote = 0x200000 + 0x1000 * i;
    pair.a.host.plan.push_back(m);
  }
  for (u32 qpn = 1; qpn <= qps; ++qpn) pair.b.host.post_receives(qpn, 30, 4096);
  u32 frames = 0;
  pair.a.loses = [frames](const Packet&) mutable { return ++frames % 17 == 0; };
}
}  // namespace hca::test
