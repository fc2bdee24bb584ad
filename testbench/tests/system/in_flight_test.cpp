// SPDX-License-Identifier: Apache-2.0
// Commands against accesses that are in flight, and pushes that come in pieces: on each runner.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/replay/replay_host.h"
#include "testbench/tests/replay/recording.h"
#include "testbench/tests/replay/replayed.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr u32 kP = Recording::kFirst, kBytes = 256;
constexpr u64 kOurs = Recording::kOurs;

// A device with a region and a queue pair in RTS, and its driver.
struct Device {
  explicit Device(const ReplayRunner& runner)
      : recording(
            Recording(End::B).in(0x0a, kP, kBytes, Recording::reth(kOurs + 4096, kKey, kBytes))),
        device(runner.make({})),
        host(recording.capture(), End::B, *device),
        driver(
            device->memory(),
            [this](u32 offset, std::span<const u8> data) { device->mmio_write(offset, data); },
            u64{1} << 40) {
    for (const ReplayEvent& e : recording.capture().events)
      if (e.side == End::B) host.execute(e);
    device->run();
  }
  static constexpr u32 kKey = Recording::kKey;
  // A WRITE arrives, and so long after its first bit the command is begun; before, if negative.
  CommandStatus race(CommandOpcode opcode, u32 object, int nanoseconds) {
    if (nanoseconds >= 0) device->inject(recording.last_frame());
    if (nanoseconds > 0) device->advance(u64(nanoseconds));
    const auto command = driver.begin(opcode, object, PdAttributes{});
    if (nanoseconds < 0) {
      device->advance(u64(-nanoseconds));
      device->inject(recording.last_frame());
    }
    device->run();
    REQUIRE(driver.done(command));
    return driver.status(command);
  }
  // How many bytes of the WRITE's payload are in memory.
  u32 arrived() {
    std::vector<u8> bytes(kBytes);
    device->memory().read(kOurs + 4096, bytes.data(), kBytes);
    u32 count =
        0;  // the frame's payload is the region's pattern from 0 on, here it is from 4096 on
    for (u32 i = 0; i < kBytes; ++i) count += bytes[i] == pattern_byte(1, i);
    return count;
  }
  Recording recording;
  std::unique_ptr<ReplayDevice> device;
  ReplayHost host;
  VerbsContext driver;
};
u8 syndrome_of(const Frame& frame) {
  ParsedPacket p{};
  REQUIRE(parse(frame, LinkLayer::Ethernet, p) == PacketVerdict::Good);
  REQUIRE(p.opcode->operation == proto::Operation::Acknowledge);
  return p.aeth.syndrome;
}
}  // namespace

TEST_CASE("a key that is deregistered refuses what is not judged yet, the rest is written whole",
          "[verbs][MR-9]") {
  const ReplayRunner& runner = any_runner();
  std::set<bool> outcomes;
  for (int ns = -1500; ns <= 1500; ns += 25) {
    Device d(runner);
    CAPTURE(runner.name, ns);
    REQUIRE(d.arrived() < kBytes / 8);
    CHECK(d.race(CommandOpcode::DeregisterMr, Device::kKey, ns) == CommandStatus::Ok);
    const std::vector<Frame> sent = d.device->take_frames();
    REQUIRE(sent.size() == 1);
    const bool refused = syndrome_of(sent[0]) == nak_syndrome(NakCode::RemoteAccessError);
    outcomes.insert(refused);
    CHECK((refused || syndrome_kind(syndrome_of(sent[0])) == SyndromeKind::Ack));
    if (refused)
      CHECK(d.arrived() < kBytes / 8);
    else
      CHECK(d.arrived() == kBytes);
  }
  CHECK(outcomes == std::set{false, true});
}

TEST_CASE(
    "a queue pair that is destroyed answers nothing new, and writes all of a packet or nothing",
    "[verbs][MW-11]") {
  const ReplayRunner& runner = any_runner();
  std::set<std::pair<bool, bool>> outcomes;  // answered, written
  for (int ns = -1500; ns <= 1500; ns += 25) {
    Device d(runner);
    CAPTURE(runner.name, ns);
    CHECK(d.race(CommandOpcode::DestroyQp, Recording::kQpn, ns) == CommandStatus::Ok);
    const std::vector<Frame> sent = d.device->take_frames();
    REQUIRE(sent.size() <= 1);
    const bool written = d.arrived() == kBytes;
    CHECK((written || d.arrived() < kBytes / 8));
    if (!sent.empty()) CHECK(syndrome_kind(syndrome_of(sent[0])) == SyndromeKind::Ack);
    outcomes.insert({!sent.empty(), written});
    // Nothing of it is left: the next packet draws no answer.
    d.device->inject(d.recording.last_frame());
    d.device->run();
    CHECK(d.device->take_frames().empty());
  }
  CHECK(outcomes.contains({true, true}));  // in time
  CHECK(outcomes.contains({false, false}));
  CHECK_FALSE(outcomes.contains({true, false}));
}

TEST_CASE("a push that comes in pieces sends the WQE that was fetched", "[verbs]") {
  const ReplayRunner& runner = any_runner();
  // A SEND of three SGEs: 8 bytes of doorbell and 80 of WQE, or more.
  const auto sent_by_pieces_of = [&](std::size_t piece) {
    const std::unique_ptr<ReplayDevice> device = runner.make({});
    std::size_t pieces = 0;
    VerbsContext driver(device->memory(), [&](u32 offset, std::span<const u8> data) {
      if (offset != u32(BarOffset::PushBuffer)) return device->mmio_write(offset, data);
      for (std::size_t at = 0; at < data.size(); at += piece, ++pieces)
        device->mmio_write(offset + u32(at), data.subspan(at, std::min(piece, data.size() - at)));
    });
    driver.set_step([&] { return device->run(), false; });
    PortAttributes port{};
    port.framing = u8(Framing::RoceV2Ip4), port.mtu = 4096, port.mac = 2;
    port.gids[0] = make_gid(0, 0xffff0a000001);
    REQUIRE(driver.set_port(port) == Error::None);
    QpInitAttr init;
    init.send_cq = init.recv_cq = driver.create_cq(16), init.max_send_sge = 3;
    Qp* qp = driver.create_qp(init);
    REQUIRE(qp);
    QpAttributes a{};
    a.port = 1, a.dest_qpn = 7, a.path_mtu = 256, a.dmac = 3, a.hop_limit = 64, a.timeout = 14;
    a.dgid_low = 0xffff0a000002, a.udp_source_port = kFirstUdpSourcePort;
    const auto to = [&](QpState state, u32 mask) {
      a.state = state, a.mask = kQpState | mask;
      REQUIRE(driver.modify_qp(*qp, a) == Error::None);
    };
    to(QpState::Init, kQpPkeyIndex | kQpPort | kQpAccess);
    to(QpState::Rtr,
       kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer);
    to(QpState::Rts, kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic);
    const Mr mr = driver.reg_mr(driver.alloc(4096), 4096, kLocalWrite);
    for (u64 i = 0; i < 300; ++i) device->memory().fill(mr.addr + i, u8(i * 3), 1);
    const SgeList list[]{
        {mr.addr, 10, mr.lkey}, {mr.addr + 100, 20, mr.lkey}, {mr.addr + 50, 5, mr.lkey}};
    SendWr wr;
    wr.wr_id = 1, wr.sg_list = list, wr.push = true;
    REQUIRE(driver.post_send(*qp, wr) == Error::None);
    device->run();
    return std::pair{device->take_frames(), pieces};
  };
  const auto [whole, one] = sent_by_pieces_of(264);
  REQUIRE(whole.size() == 1);
  CHECK(one == 1);
  // 14 + 20 + 8 + 12 bytes of headers, 35 of payload: byte 10 is that of offset 100, 300 mod 256.
  CHECK(whole[0].size() == 54 + 36 + 4);
  CHECK(whole[0][54 + 10] == 44);
  const std::size_t piece = GENERATE(8u, 16u, 64u, 80u);
  CAPTURE(runner.name, piece);
  const auto [frames, pieces] = sent_by_pieces_of(piece);
  CHECK(pieces > 1);
  CHECK(frames == whole);
}
}  // namespace hca::testbench
