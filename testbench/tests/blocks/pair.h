// SPDX-License-Identifier: Apache-2.0
// Two chips, their memories and a wire, without SystemC: the fixture of cycle tests.
#pragma once
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "model/blocks/chip.h"
#include "model/engine/random.h"

namespace hca::test {
using namespace hca::blocks;

inline constexpr u64 kSendRings = 0x10000, kReceiveRings = 0x200000, kEqs = 0x300000,
                     kCommands = 0x380000;
inline constexpr u64 kCqs = 0x400000, kData = 0x800000;
inline constexpr u8 kLogCqes = 12, kLogEqes = 8;
inline constexpr u64 kMemoryBytes = 0x2000000;
inline constexpr u64 kContexts = u64{1} << 40;  // of caches: elsewhere
inline constexpr u32 kLogEntries = 6, kEntries = 1u << kLogEntries;
inline constexpr u32 kKey = 0x100;

struct Message {
  proto::WorkOpcode opcode = proto::WorkOpcode::RdmaWrite;
  u32 qpn = 1;
  u64 local = 0, remote = 0;  // offsets in the data region
  u32 bytes = 0;
  bool signaled = true;
  u32 sges = 1;
  bool fence = false, solicited = false;
  u32 immediate = 0;             // or the key to invalidate
  u64 operand = 0, compare = 0;  // ATOMIC: the added or swapped-in value
  bool inline_data = false, pushed = false;
  u32 rkey = kKey;
};

// Host software of one chip: posts the given work as far as the queues allow, polls its CQ when a
// CQE arrives.
class TestHost : public engine::Block {
 public:
  TestHost(Chip& chip, std::vector<u8>& memory) : chip_(chip), memory_(memory) {}

  std::vector<Message> plan;
  std::vector<proto::Cqe> sent, received;
  std::vector<Cycle> sent_at, received_at, posted_at;
  u32 window = 16;  // messages in flight
  Cycle mmio_latency = 20;
  u8 log_cqes = kLogCqes;  // entries of each CQ
  u32 posted = 0, done = 0;

  void tick();
  // Visible from the next cycle on, whenever this block ticks.
  void cqe_written() { poll_from_ = std::min(poll_from_, now() + 1), wake_at(now() + 1); }
  void post_receives(u32 qpn, u32 count, u32 bytes, u32 sges = 1);
  // Writes a command block into slot `slot` and rings its doorbell; the command is done when the
  // block is written back.
  template <class T>
  void command(u32 slot, proto::CommandOpcode opcode, u32 object, const T& body) {
    const u64 address = kCommands + u64{slot} * proto::kCommandBytes;
    proto::encode(proto::CommandHeader{opcode, {}, false, object}, &memory_[address]);
    proto::encode(body, &memory_[address + proto::kCommandHeaderBytes]);
    ring_command(address);
  }
  void start(u32 qps, u32 cqs = 1) {
    producers_.resize(qps + 1), receives_.resize(qps + 1), in_flight_.resize(qps + 1),
        consumers_.resize(cqs);
    wake_at(now() + 1);
  }
  bool finished() const { return done == plan.size(); }

 private:
  void poll();
  void poll(u32 cqn);
  void ring_command(u64 address);
  void post(const Message& m);
  void ring(proto::BarOffset offset, u32 qpn, u32 producer, const u8* pushed = nullptr);

  Chip& chip_;
  std::vector<u8>& memory_;
  std::vector<u32> producers_, receives_;
  std::vector<std::deque<bool>> in_flight_;  // by QP: signaled or not
  std::vector<u32> consumers_;               // by CQ number - 1
  Cycle poll_from_ = kNever;
};

// A chip whose ports take everything at once.
inline ChipConfig chip_without_link_control() {
  ChipConfig chip;
  chip.link_control.mode = FlowControl::Endless;
  return chip;
}

struct PairConfig {
  ChipConfig chip = chip_without_link_control();
  engine::Domain::Options domain;
  Cycle wire_latency = 40, memory_latency = 60;
  u32 qps = 1, path_mtu = 1024;
  u32 cqs = 1;  // queue pairs use them in turn
  u8 log_cqes = kLogCqes;
  bool armed = false;  // all CQs, for the next CQE; EQEs then go to EQ 1
  u8 timeout = 4, retry_count = 7, rnr_retry = 7, min_rnr_timer = 1;
  u8 max_rd_atomic = 4, max_dest_rd_atomic = 4;
  proto::Rights access = 0x0f;
};

// Creates by commands the ports, region kKey, the EQ, the CQs and the queue pairs 1 .. qps, which
// use the ports in turn; they are connected and in RTS.
void set_up(device::Contexts& contexts, const PairConfig& config, bool second);

class Pair {
 public:
  struct Side : Outside {
    Side(const PairConfig& c, u64 seed);
    bool read_memory(u64 address, std::span<u8> to, u32 bytes, Cycle at) override;
    bool write_memory(u64 address, std::span<const u8> from, u32 bytes, Cycle at) override;
    void transmit(Packet* packet, Cycle at) override;

    std::vector<u8> memory;
    std::map<u64, std::vector<u8>> contexts;  // by address, from kContexts on
    FixedHostTiming timing;
    Chip chip;
    TestHost host;
    Side* peer = nullptr;
    Cycle wire_latency;
    std::function<bool(const Packet&)> loses = [](const Packet&) { return false; };
    // marked with Congestion Experienced on the way
    std::function<bool(const Packet&)> marks = loses;
    std::vector<std::pair<Cycle, u32>> sent_frames;     // first bit, PSN
    std::vector<std::pair<Cycle, u64>> control_writes;  // by the chip, below kData: cycle, address
    // The cycles in which the chip wrote into [from, from + bytes).
    std::vector<Cycle> writes_to(u64 from, u64 bytes) const;
    // Called for each access of the chip to memory.
    std::function<void(u64 address, u32 bytes, bool write, Cycle at)> sees;
    engine::DigestSink digest;
  };

  explicit Pair(const PairConfig& c);
  // Runs until both hosts are finished or `limit`; false: not finished.
  bool run(Cycle quantum = 0, Cycle limit = 50'000'000);
  // Advances both chips, with or without work.
  void advance(Cycle cycles);
  u64 digest() const;
  // For a message: all non-zero counters, and the reports of blocks that wait.
  std::string report() const;
  u8* data(Side& side, u64 offset) { return side.memory.data() + kData + offset; }

  PairConfig config;
  Side a, b;
  Cycle cycles = 0;
};

// Puts the queue pairs of both into RTR again and then into RTS, now by commands of the hosts.
void start_by_command(Pair& pair);
// Plans 40 messages of `a`, alternating SEND, WRITE, READ and FetchAdd, on `qps` queue pairs in
// turn, and the receive WQEs of `b`; one frame in 17 of `a` is lost.
void plan_all_operations(Pair& pair, u32 qps);
// Fails the test, with the chips' report, unless both hosts finish in time.
void finish(Pair& pair);
// Checks for this many CQEs, all successful.
void check_success(const std::vector<proto::Cqe>& cqes, std::size_t count);
}  // namespace hca::test
