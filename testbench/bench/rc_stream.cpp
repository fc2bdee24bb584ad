// SPDX-License-Identifier: Apache-2.0
// RC between two HCAs under SystemC: WQEs in memory, doorbells, DMA, wire, responses, CQEs,
// everything through the sockets. The hosts only post and poll; what was moved is compared when the
// clock is off.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "testbench/bench/functional_limit.h"
#include "testbench/bench/processor_time.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/testbed/testbed.h"

namespace hca::bench {
using namespace hca::testbench;

namespace {
using proto::WorkOpcode;

struct Load {
  WorkOpcode opcode;
  u32 mtu, message_bytes;
  u32 depth;    // messages in flight
  u32 slots;    // message buffers in each memory, used in turn
  u32 qps = 1;  // queue pairs, which send in turn; `depth` is that of all together
};

// Keeps `depth` messages in flight for ever.
class Poster : public Program {
 public:
  Poster(const Endpoint& end, const Load& load) : end_(end), load_(load) {
    wr_.send_flags = kSignaled;
    wr_.opcode = load_.opcode;
    wr_.rkey = end_.peer_recv.rkey;
    wr_.compare_add = 1;
  }
  Cycle act(Cycle) override {
    if (posted_ - completed_ < load_.depth) {
      post();
      return end_.cpu->post_send;
    }
    const u32 found = end_.verbs->poll_cq(*end_.send_cq, wcs_);
    for (u32 i = 0; i < found; ++i) failed_ |= wcs_[i].status != proto::WcStatus::Success;
    completed_ += found;
    return found;
  }
  bool finished() const override { return false; }
  bool failed() const override { return failed_; }
  u64 completed() const { return completed_; }

 private:
  void post() {
    const u64 offset = posted_++ % load_.slots * slot_bytes(load_.message_bytes);
    const SgeList sge{end_.send_mr.addr + offset, load_.message_bytes, end_.send_mr.lkey};
    wr_.sg_list = {&sge, 1};
    wr_.remote_addr = end_.peer_recv.addr + offset;
    failed_ |= end_.verbs->post_send(*end_.qps[next_qp_], wr_) != Error::None;
    if (++next_qp_ == load_.qps) next_qp_ = 0;
  }
  Endpoint end_;
  Load load_;
  SendWr wr_;
  std::array<Wc, 16> wcs_;
  u64 posted_ = 0, completed_ = 0;
  u32 next_qp_ = 0;
  bool failed_ = false;
};

// Keeps receive WQEs posted.
class Receiver : public Program {
 public:
  Receiver(const Endpoint& end, const Load& load) : end_(end), load_(load) {}
  Cycle act(Cycle) override {
    if (posted_ - completed_ < 2 * load_.depth) {
      post();
      return end_.cpu->post_recv;
    }
    const u32 found = end_.verbs->poll_cq(*end_.recv_cq, wcs_);
    for (u32 i = 0; i < found; ++i) failed_ |= wcs_[i].status != proto::WcStatus::Success;
    completed_ += found;
    return found;
  }
  bool finished() const override { return false; }
  bool failed() const override { return failed_; }

 private:
  void post() {
    const u64 offset = posted_++ % load_.slots * slot_bytes(load_.message_bytes);
    const SgeList sge{end_.recv_mr.addr + offset, load_.message_bytes, end_.recv_mr.lkey};
    failed_ |= end_.verbs->post_recv(*end_.qp, {0, {&sge, 1}}) != Error::None;
  }
  Endpoint end_;
  Load load_;
  std::array<Wc, 16> wcs_;
  u64 posted_ = 0, completed_ = 0;
  bool failed_ = false;
};

Scenario scenario_of(const Load& load) {
  Scenario s = default_scenario();
  s.connection.path_mtu = load.mtu == 256 ? PathMtu::B256 : PathMtu::B4096;
  s.workload.resize(1);
  s.workload[0].from = s.workload[0].to = load.message_bytes;
  s.workload[0].depth = std::max(1u, load.depth / load.qps);
  s.workload[0].qps = load.qps;
  // 100 ns of MAC, FEC and PHY at each port and 20 m of cable; the quantum follows from these.
  s.cables[0].wire.latency = 100'000;
  for (NodeConfig& node : s.nodes) {
    node.hca.port[0].latency = 40;
    node.hca.core.max_qps = std::max(node.hca.core.max_qps, 2 * load.qps);
    node.host.post_send = node.host.completion = node.host.notice = 1000;
  }
  return s;
}

bool is_atomic(const Load& load) {
  return proto::kWorkRows[std::size_t(load.opcode)].answer == proto::Answer::Atomic;
}

// Both ends hold the same bytes; ATOMICs have added 1 for each that completed, or is under way.
bool moved_right(Testbed& bed, const Load& load, u64 completed) {
  std::vector<u8> near(load.slots * slot_bytes(load.message_bytes)), far(near.size());
  bed.node(0).memory.read(bed.end(0).send_mr.addr, near.data(), near.size());
  bed.node(1).memory.read(bed.end(1).recv_mr.addr, far.data(), far.size());
  if (!is_atomic(load)) return near == far;
  u64 sum = 0;
  for (u32 slot = 0; slot < load.slots; ++slot)
    sum += proto::load_le8(&far[slot * slot_bytes(load.message_bytes)]);
  return sum >= completed && sum <= completed + load.depth;
}

// The bytes that will be moved, at the end where they come from.
void fill(Testbed& bed, const Load& load) {
  std::vector<u8> bytes(load.slots * slot_bytes(load.message_bytes));
  if (!is_atomic(load))
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = u8(i * 7 + (i >> 8));
  const bool reads = load.opcode == WorkOpcode::RdmaRead || is_atomic(load);
  const u64 at = reads ? bed.end(1).recv_mr.addr : bed.end(0).send_mr.addr;
  bed.node(reads ? 1 : 0).memory.write(at, bytes.data(), bytes.size());
}

// The part of the run that counts: a script counts the instructions of this function. It is long
// enough that stopping, reading the clock and cutting a turn of the chips short do not matter.
[[gnu::noinline]] void simulate() { run_quiet_for({500, sc_core::SC_US}); }

void rc_stream(benchmark::State& state, Load load) {
  FreshKernel kernel;
  const Scenario scenario = scenario_of(load);
  Testbed bed(scenario);
  bed.connect();
  fill(bed, load);
  Poster poster(bed.end(0), load);
  Receiver receiver(bed.end(1), load);
  bed.node(0).run(&poster);
  if (load.opcode == WorkOpcode::Send) bed.node(1).run(&receiver);
  run_quiet_for({200, sc_core::SC_US});  // warm
  const u64 messages = poster.completed();
  const auto activations = [&] {
    return bed.node(0).hca.domain().ticks() + bed.node(1).hca.domain().ticks();
  };
  const u64 ticks = activations();
  const double time_before = sc_core::sc_time_stamp().to_seconds();
  // Stretches of the stream and of F take turns, so that what else runs on the machine meets both;
  // of each the least disturbed one counts.
  FunctionalLimit limit(std::max(load.mtu, 256u));
  double least_of_f = limit.stretch();                    // seconds a packet
  double best = std::numeric_limits<double>::infinity();  // seconds a message
  double begun = processor_seconds();
  u64 before = messages;
  const auto end_stretch = [&](double end) {
    best = std::min(best, (end - begun) / double(poster.completed() - before));
    least_of_f = std::min(least_of_f, limit.stretch());
    begun = processor_seconds();
    before = poster.completed();
  };
  for (auto _ : state) {
    simulate();
    if (const double end = processor_seconds(); end - begun >= FunctionalLimit::kStretch) {
      state.PauseTiming();
      end_stretch(end);
      state.ResumeTiming();
    }
  }
  // One that is too short counts if there is no other.
  if (std::isinf(best)) end_stretch(processor_seconds());
  const double completed = double(poster.completed() - messages);
  const double spent = best * completed;
  const u32 packets_each = std::max(1u, (load.message_bytes + load.mtu - 1) / load.mtu);
  const double packets = completed * packets_each;
  const double cycles = (sc_core::sc_time_stamp().to_seconds() - time_before) *
                        double(scenario.nodes[0].hca.core.hertz());
  const double per_packet = spent / packets;
  state.counters["packets"] = packets;
  state.counters["packets_per_s"] = 1 / per_packet;
  state.counters["messages_per_s"] = completed / spent;
  state.counters["ns_per_packet"] = per_packet * 1e9;
  state.counters["ratio_to_f"] = least_of_f / per_packet;
  state.counters["cycles_per_s"] = cycles / spent;
  state.counters["activations_per_packet"] = double(activations() - ticks) / packets;
  if (poster.failed() || receiver.failed() || !moved_right(bed, load, poster.completed()))
    state.SkipWithError("a message failed or its bytes differ");
}

// A stream is of messages of 64 KiB. In flight are as many as keep the wire busy; with many queue
// pairs 16 messages in all, each of another one, so that what a message costs more is what it costs
// to come to another queue pair.
struct Row {
  const char* name;
  Load load;
};
constexpr Row kRows[] = {
    {"rc_write/256", {WorkOpcode::RdmaWrite, 256, 65536, 4, 1}},
    {"rc_write/4096", {WorkOpcode::RdmaWrite, 4096, 65536, 4, 1}},
    {"rc_write_msg/64", {WorkOpcode::RdmaWrite, 256, 64, 128, 128}},
    {"rc_write_qps/1", {WorkOpcode::RdmaWrite, 256, 64, 16, 16, 1}},
    {"rc_write_qps/64", {WorkOpcode::RdmaWrite, 256, 64, 16, 16, 64}},
    {"rc_write_qps/1024", {WorkOpcode::RdmaWrite, 256, 64, 16, 16, 1024}},
    {"rc_write_qps/65536", {WorkOpcode::RdmaWrite, 256, 64, 16, 16, 65536}},
    {"rc_send/256", {WorkOpcode::Send, 256, 65536, 4, 1}},
    {"rc_send/4096", {WorkOpcode::Send, 4096, 65536, 4, 1}},
    {"rc_read/256", {WorkOpcode::RdmaRead, 256, 65536, 4, 1}},
    {"rc_read/4096", {WorkOpcode::RdmaRead, 4096, 65536, 4, 1}},
    {"rc_atomic/8", {WorkOpcode::FetchAdd, 256, 8, 16, 16}},
};
const bool kRegistered = [] {
  for (const Row& row : kRows)
    benchmark::RegisterBenchmark(row.name, rc_stream, row.load)->Unit(benchmark::kMicrosecond);
  return true;
}();
}  // namespace
}  // namespace hca::bench
