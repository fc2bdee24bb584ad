// SPDX-License-Identifier: Apache-2.0
// The full WRITE path of two HCAs under SystemC: WQEs in memory, doorbells, DMA, wire, ACKs, CQEs,
// everything through the sockets. The host only posts and polls; what was written is compared when
// the clock is off.
#include <benchmark/benchmark.h>

#include <cstring>

#include "testbench/bench/functional_limit.h"
#include "testbench/bench/processor_time.h"
#include "testbench/fresh_kernel.h"
#include "testbench/testbed.h"

namespace hca::bench {
using namespace hca::testbench;

namespace {
struct Load {
  u32 mtu, message_bytes;
  u32 depth;  // messages in flight
  u32 slots;  // message buffers in each memory, used in turn
};

// Keeps `depth` messages in flight for ever.
class Poster : public Program {
 public:
  Poster(const Endpoint& end, const Load& load) : end_(end), load_(load) {}
  Cycle act(Cycle) override {
    if (posted_ - completed_ < load_.depth) return post(), end_.cpu->post_send;
    std::array<Wc, 16> wcs;
    const u32 found = end_.verbs->poll_cq(*end_.send_cq, wcs);
    for (u32 i = 0; i < found; ++i) failed_ |= wcs[i].status != proto::WcStatus::Success;
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
    SendWr wr;
    wr.sg_list = {&sge, 1}, wr.send_flags = kSignaled, wr.opcode = proto::WorkOpcode::RdmaWrite;
    wr.remote_addr = end_.peer_recv.addr + offset, wr.rkey = end_.peer_recv.rkey;
    failed_ |= end_.verbs->post_send(*end_.qp, wr) != Error::None;
  }
  Endpoint end_;
  Load load_;
  u64 posted_ = 0, completed_ = 0;
  bool failed_ = false;
};

Scenario scenario_of(const Load& load) {
  Scenario s = default_scenario();
  s.connection.path_mtu = load.mtu == 256 ? PathMtu::B256 : PathMtu::B4096;
  s.workload.resize(1);
  s.workload[0].from = s.workload[0].to = load.message_bytes;
  s.workload[0].depth = load.depth;
  // 100 ns of MAC, FEC and PHY at each port and 20 m of cable; the quantum follows from these.
  for (blocks::ChipConfig& hca : s.hca) hca.port.latency = 40;
  s.wire.latency = 100'000;
  for (HostConfig& host : s.host) host.post_send = host.completion = host.notice = 1000;
  return s;
}

bool same_bytes(Testbed& bed, const Load& load) {
  std::vector<u8> sent(load.slots * slot_bytes(load.message_bytes)), received(sent.size());
  bed.node(0).memory.read(bed.end(0).send_mr.addr, sent.data(), sent.size());
  bed.node(1).memory.read(bed.end(1).recv_mr.addr, received.data(), received.size());
  return sent == received;
}

void rc_write(benchmark::State& state, Load load) {
  FreshKernel kernel;
  const Scenario scenario = scenario_of(load);
  Testbed bed(scenario);
  bed.connect();
  std::vector<u8> bytes(load.slots * slot_bytes(load.message_bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = u8(i * 7 + (i >> 8));
  bed.node(0).memory.write(bed.end(0).send_mr.addr, bytes.data(), bytes.size());
  Poster poster(bed.end(0), load);
  bed.node(0).run(&poster);
  sc_core::sc_start(200, sc_core::SC_US);  // warm
  const u64 messages = poster.completed();
  const auto activations = [&] {
    return bed.node(0).hca.domain().ticks() + bed.node(1).hca.domain().ticks();
  };
  const u64 ticks = activations();
  const double time_before = sc_core::sc_time_stamp().to_seconds();
  const double start = processor_seconds();
  for (auto _ : state) sc_core::sc_start(50, sc_core::SC_US);
  const double spent = processor_seconds() - start;
  const double packets =
      double(poster.completed() - messages) * (load.message_bytes + load.mtu - 1) / load.mtu;
  const double cycles =
      (sc_core::sc_time_stamp().to_seconds() - time_before) * double(scenario.hca[0].core.clock);
  const double per_packet = spent / packets;
  state.counters["packets_per_s"] = 1 / per_packet;
  state.counters["messages_per_s"] = double(poster.completed() - messages) / spent;
  state.counters["ns_per_packet"] = per_packet * 1e9;
  state.counters["ratio_to_f"] =
      FunctionalLimit::seconds_per_packet(load.mtu < 256 ? 256 : load.mtu) / per_packet;
  state.counters["cycles_per_s"] = cycles / spent;
  state.counters["activations_per_packet"] = double(activations() - ticks) / packets;
  if (poster.failed() || !same_bytes(bed, load))
    state.SkipWithError("a message failed or its bytes differ");
}
BENCHMARK_CAPTURE(rc_write, 256, (Load{256, 4096, 32, 4}))
    ->Name("rc_write/256")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rc_write, 4096, (Load{4096, 16384, 16, 2}))
    ->Name("rc_write/4096")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(rc_write, msg_64, (Load{256, 64, 128, 128}))
    ->Name("rc_write_msg/64")
    ->Unit(benchmark::kMicrosecond);
}  // namespace
}  // namespace hca::bench
