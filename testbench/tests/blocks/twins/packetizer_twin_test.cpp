// SPDX-License-Identifier: Apache-2.0
// Compares blocks::Packetizer of the chip with blocks::PacketizerUnit, the twin of the RTL.
#include "model/blocks/port/icrc_unit.h"
#include "model/blocks/send/packetizer.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::packetizer_twin {
namespace {
constexpr unsigned kItems = 300;
constexpr u32 kMostFrame = 700;  // bytes, of an MTU of 512

// Frames with payloads up to `most` bytes.
struct Traffic {
  Traffic(engine::Random& random, u32 most) : arrivals(random_arrivals(random, kItems, 12)) {
    bth.dest_qp = 1;
    for (unsigned i = 0; i < kItems; ++i) {
      PacketizerItem item;
      item.address = &address, item.opcode = proto::opcode_row(0x04), item.bth = &bth;
      item.ext = &ext, item.payload = payload.data(), item.frame = frame.data();
      item.payload_bytes = 1 + u32(random.below(most));
      plan.push_back({arrivals[i], item});
    }
  }
  Cycles arrivals;
  proto::AddressVector address;
  proto::Bth bth{};
  proto::ExtHeaders ext{};
  std::vector<u8> payload = std::vector<u8>(4096), frame = std::vector<u8>(4400);
  Plan<PacketizerItem> plan;
};
using Run = UnitRun<PacketizerUnit, PacketizerItem>;

// The chip's block, in the requester's segment: a packet starts when it has arrived and there is
// room, and requests its payload in one piece.
struct ChipBlock : Bench {
  ChipBlock(const PacketizerConfig& config, const Traffic& t, unsigned depth, const Cycles& waits)
      : asks(depth, waits), packetizer(config, 400'000'000, protection, release(config.tx_start)) {
    set_up(contexts, 1);
    driver.of = this, driver.traffic = &t;
    add(driver, "driver"), add(asks, "asks");
    asks.in.accesses = &accesses, asks.in.connect(driver.self, asks.self, "asks");
    packetizer.dma_out = &asks.in, packetizer.dma = driver.self;
    packetizer.ports[0].buffers.connect(driver.self, "packet buffers");
    take(packetizer.ports[0].packets_out, driver);
    take(packetizer.ports[0].not_read_out, driver);
    asks.takes = [this](const DmaRequest& r) {
      auto* const p = static_cast<Packet*>(r.context);
      p->give_buffer(domain.now() + 1);
      PacketPool::give_back(p);
    };
    domain.run_until(1'000'000);
  }
  void start(u32 bytes) {
    const Cycle now = domain.now();
    cursor = {segment, 1}, orders.emplace_back();
    proto::encode(proto::Sge{kData, kKey, bytes}, segment);
    Packet* p = pool.take();
    p->shape = proto::shape_of({}, *proto::opcode_row(0x04), bytes);
    packetizer.start(p, cursor, orders.back(), now, now);
  }
  struct Driver : engine::Block {
    ChipBlock* of = nullptr;
    const Traffic* traffic = nullptr;
    unsigned next = 0;
    void tick() {
      if (next == kItems) return;
      const auto& [at, item] = traffic->plan[next];
      if (now() < at) return wake_at(at);
      if (!of->packetizer.can_start(0)) return;
      of->start(item.payload_bytes), ++next;
      wake_at(now() + 1);
    }
  };
  StallingTaker<DmaRequest, 8> asks;
  device::Contexts contexts;
  Protection protection{{}, contexts};
  PacketPool pool;
  u8 segment[proto::kSgeBytes] = {};
  GatherCursor cursor;
  std::deque<ReadOrder> orders;
  Packetizer packetizer;
  Driver driver;
};

struct Times {
  Times(engine::Random& random, Cycle interval) {
    block.interval = unit.interval = interval;
    if (random.chance(1, 2)) return;  // the latency that is shipped
    block.latency = 1 + random.below(9), unit.latency = block.latency;
  }
  PacketizerConfig block;
  PacketizerUnit::Config unit;
};
}  // namespace

// As long as no frame has more beats than there are cycles between two packets.
TEST_CASE("a packet asks for its payload in the cycle in which its frame leaves the unit",
          "[packetizer_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  engine::Random random(seed);
  const Cycle interval = 2 + random.below(4);
  const unsigned depth = 1 + unsigned(random.below(8));
  const Times times(random, interval);
  CAPTURE(seed, times.block.latency, interval, depth);
  constexpr u32 kHeaders = 14 + 20 + 8 + 12, kPad = 3;
  const Traffic t(random, u32(interval) * 64 - kHeaders - kPad);
  const Cycles waits = random_waits(random, kItems);
  const Run unit(times.unit, t.plan, depth, waits);
  CHECK(ChipBlock(times.block, t, depth, waits).asks.left == unit.leaves());
}

// The unit takes a cycle for each beat. In the chip payloads go to their frames by DMA, and the
// port's icrc_unit counts the beats.
TEST_CASE("the beats of a frame that the packetizer unit takes are those of the chip's icrc_unit",
          "[packetizer_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  engine::Random random(seed);
  const Times times(random, 1);
  CAPTURE(seed, times.block.latency);
  const Traffic t(random, 1024);
  const Run unit(times.unit, t.plan, 8, {});
  Cycles asks = ChipBlock(times.block, t, 8, {}).asks.left;
  const IcrcUnitConfig icrc;
  IcrcUnit beats(icrc, {});
  for (unsigned i = 0; i < kItems; ++i)
    asks[i] = beats.pass(asks[i], unit.taker.items[i].bytes) - icrc.latency;
  CHECK(asks == unit.leaves());
}

// The unit writes from a descriptor the bytes that requester, responder and their repeated headers
// write.
TEST_CASE("the frames of the chip are those of the packetizer unit", "[packetizer_unit][twin]") {
  struct Compared : StandIn<PacketizerItem> {
    u32 frames = 0, different = 0;
    void process(PacketizerItem& item) override {
      std::vector<u8> frame(item.frame, item.frame + kMostFrame);
      item.process();
      frame.resize(item.bytes);
      ++frames, different += !std::equal(frame.begin(), frame.end(), item.frame);
    }
  } sent, answered;
  PairConfig config;
  config.path_mtu = 512, config.qps = 3, config.timeout = 2, config.chip.core.ports = 2;
  Pair pair(config);
  StandIns a, b;
  for (unsigned i = 0; i < 2; ++i) a.port[i].packetizer = &sent, b.port[i].packetizer = &answered;
  pair.a.chip.replace(a), pair.b.chip.replace(b);
  plan_all_operations(pair, config.qps);
  finish(pair);
  CHECK(sent.frames > 100);
  CHECK(answered.frames > 60);
  CHECK(sent.different == 0);
  CHECK(answered.different == 0);
}
}  // namespace hca::test::packetizer_twin
