// SPDX-License-Identifier: Apache-2.0
// Compares the parsing of blocks::PortReceive in the chip with blocks::RxParserUnit, the twin of the
// RTL.
#include "model/blocks/port/port.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::rx_parser_twin {
namespace {
constexpr unsigned kItems = 300;
constexpr u64 kClock = 400'000'000;
constexpr Cycle kChecks = 2 + 2 + 7;  // after the parser: context, key, rules
constexpr unsigned kEnough = 32;      // places after the checks: no frame waits for one

// RDMA WRITEs that follow each other on a wire of a beat a cycle, some of them with a mistake.
struct Traffic {
  Traffic(engine::Random& random, u32 beat_bytes, u32 payload, bool mistakes) : beat(beat_bytes) {
    set_up(peer, 1);
    Cycle at = 10;
    u32 psn = 100;
    parsed.resize(kItems);
    for (unsigned i = 0; i < kItems; ++i) {
      const u32 bytes = u32(random.below(payload + 1));
      Packet* p = write_packet(pool, peer.qps[1], psn, bytes);
      if (mistakes && random.chance(1, 4))
        p->frame()[byte_to_change(random, p->frame_bytes)] ^= u8(1 << random.below(8));
      else
        ++psn;
      if (random.chance(1, 3)) at += random.below(12);
      packets.push_back(p), first_beat.push_back(at), frames.emplace_back(bytes_of(*p));
      at += beats(i);
    }
  }
  // A byte that matters for the frame's verdict: no address, and no field that routers may change.
  static u32 byte_to_change(engine::Random& random, u32 bytes) {
    constexpr u32 kEtherType = 12, kResv8a = 14 + 20 + 8 + 4;
    for (;;)
      if (const u32 at = u32(kEtherType + random.below(bytes - kEtherType)); at != kResv8a)
        return at;
  }
  static std::vector<u8> bytes_of(Packet& p) { return {p.frame(), p.frame() + p.frame_bytes}; }
  Cycle beats(unsigned i) const { return (frames[i].size() + beat - 1) / beat; }
  Plan<RxParserItem> plan() {
    Plan<RxParserItem> plan;
    for (unsigned i = 0; i < kItems; ++i) {
      proto::ParsedPacket packet;
      const bool icrc = proto::parse(frames[i], kLink, packet) == proto::PacketVerdict::Good &&
                        proto::icrc_good(frames[i], packet);
      plan.push_back({first_beat[i], {frames[i], kLink, {icrc, false}, &parsed[i]}});
    }
    return plan;
  }
  static constexpr proto::LinkLayer kLink = proto::LinkLayer::Ethernet;
  u32 beat;
  device::Contexts peer;
  PacketPool pool;
  std::vector<Packet*> packets;
  Cycles first_beat;
  std::vector<std::vector<u8>> frames;
  std::vector<ParsedFrame> parsed;
};
using Run = UnitRun<RxParserUnit, RxParserItem>;

struct Receiver : Bench, engine::ProbeSink {
  Receiver(const IcrcUnitConfig& icrc, Traffic& t, unsigned depth, const Cycles& waits)
      : config{.link_rate = u64{8} * icrc.beat_bytes * kClock},
        requests(depth, waits),
        port(config, icrc, kClock, contexts, responder, response, congestion) {
    set_up(contexts, 1, true);
    add(port, "port_receive"), add(requests, "requests");
    port.packets_in.connect(port.self, "wire");
    feed(port.bells_in, port, {});
    port.outputs.requests_out = &requests.in;
    requests.in.connect(port.self, requests.self, "requests");
    take(port.outputs.acks_out, port), take(port.outputs.cnps_out, port);
    take(port.outputs.bells_out, port), take(port.outputs.events_out, port);
    responder.probe = hub.add("responder_check", kStepNames), hub.attach(*this);
    for (unsigned i = 0; i < kItems; ++i)
      port.arrive(t.packets[i], t.first_beat[i] - config.latency);
    domain.run_until(1'000'000);
  }
  // The cycles in which requests are parsed.
  void event(const engine::Event& e) override { parsed.push_back(e.at - kChecks); }

  PortConfig config;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  ResponderCheck responder{{.latency = 7, .interval = 1}, context, contexts, protection};
  ResponseCheck response{{}, context, contexts};
  Congestion congestion{{}, kClock};
  StallingTaker<Packet*, kMostPackets> requests;
  PortReceive port;
  engine::ProbeHub hub;
  Cycles parsed;
};

struct Times {
  Times(engine::Random& random, u32 beat) {
    icrc.beat_bytes = unit.beat_bytes = beat;
    if (random.chance(1, 2)) return;  // as shipped
    icrc.latency = unit.latency = 1 + random.below(9);
  }
  IcrcUnitConfig icrc;
  RxParserUnit::Config unit;
};

bool same(const proto::ParsedPacket& a, const proto::ParsedPacket& b) {
  return a.opcode == b.opcode && a.bth.psn == b.bth.psn && a.bth.dest_qp == b.bth.dest_qp &&
         a.bth.pkey == b.bth.pkey && a.bth.ack_req == b.bth.ack_req &&
         a.payload_offset == b.payload_offset && a.payload_bytes == b.payload_bytes &&
         a.icrc_offset == b.icrc_offset && a.reth.va == b.reth.va && a.reth.rkey == b.reth.rkey &&
         a.reth.dma_len == b.reth.dma_len;
}
}  // namespace

// The chip parses with its icrc_unit: together they take icrc_unit.latency.
TEST_CASE("a frame is parsed by the port in the cycle in which it leaves the parser unit",
          "[rx_parser_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  engine::Random random(seed);
  const Times times(random, 64);
  CAPTURE(seed, times.icrc.latency);
  Traffic t(random, 64, 600, true);
  const Run unit(times.unit, t.plan(), 8, {});
  const Receiver port(times.icrc, t, kEnough, {});
  Cycles good;
  u64 bad_icrc = 0;
  for (unsigned i = 0; i < kItems; ++i) {
    const ParsedFrame& p = t.parsed[i];
    bad_icrc += p.verdict == proto::PacketVerdict::BadIcrc;
    if (p.verdict != proto::PacketVerdict::Good) continue;
    REQUIRE(good.size() < port.requests.items.size());
    CHECK(same(port.requests.items[good.size()]->parsed, p.packet));
    good.push_back(unit.leaves()[i]);
  }
  const u64 bad_frame = kItems - good.size() - bad_icrc;
  CHECK(port.parsed == good);
  CHECK(port.port.counters.rx_bad_icrc == bad_icrc);
  CHECK(port.port.counters.rx_bad_frame == bad_frame);
  CHECK(bad_icrc + bad_frame > kItems / 8);
}

// All headers of a frame of less than 128 bytes are here with its last byte, for which the unit
// does not wait less.
TEST_CASE("a frame that ends before its 128th byte is parsed by the port as many beats earlier",
          "[rx_parser_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  const u32 beat = GENERATE(32u, 64u);
  engine::Random random(seed);
  const Times times(random, beat);
  CAPTURE(seed, beat, times.icrc.latency);
  Traffic t(random, beat, 80, false);
  const Run unit(times.unit, t.plan(), 8, {});
  const Receiver port(times.icrc, t, kEnough, {});
  const Cycle all = proto::kMaxHeaderBytes / beat;
  Cycles parsed;
  Cycle free = 0;  // the frame before has gone through icrc_unit
  for (unsigned i = 0; i < kItems; ++i) {
    const Cycle missing = all - std::min(all, t.beats(i));
    parsed.push_back(std::max(unit.leaves()[i] - missing, free + times.icrc.latency));
    free = parsed.back() - times.icrc.latency + t.beats(i);
  }
  CHECK(port.parsed == parsed);
}

// The unit requests room with the first beat, the port with the 128th byte, one cycle later; the
// checks lie between the port and its receiver.
TEST_CASE("a frame that waits for room waits as long in the port as in the parser unit",
          "[rx_parser_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  engine::Random random(seed);
  const Times times(random, 64);
  const unsigned depth = 1 + unsigned(random.below(8));
  CAPTURE(seed, times.icrc.latency, depth);
  Traffic t(random, 64, 600, false);
  const Cycles waits = random_waits(random, kItems);
  const Run unit(times.unit, t.plan(), depth, waits, kChecks - 1);
  const Receiver port(times.icrc, t, depth, waits);
  CHECK(port.parsed == unit.leaves());
}
}  // namespace hca::test::rx_parser_twin
