// SPDX-License-Identifier: Apache-2.0
#include "testbench/bench/rtl/hot_path.h"

#include <algorithm>

#include "testbench/lockstep/checked_look_ups.h"
#include "testbench/lockstep/parsed_side_band.h"

namespace hca::bench {
using namespace proto;

namespace {
constexpr u32 kQpn = 0x123, kRkey = 0x1200, kFirstPsn = 0x100;

// The addresses as seen by the peer, before the queue pair's own packets.
AddressVector turned(AddressVector av) {
  std::swap(av.source_gid, av.destination_gid);
  std::swap(av.source_mac, av.destination_mac);
  return av;
}

class TwinPath : public HotPath {
 public:
  explicit TwinPath(const WriteStream& s)
      : stream_(s),
        frame_(kMaxHeaderBytes + s.payload.size() + kIcrcBytes),
        received_(s.payload.size()),
        state_(s.state),
        bth_(s.bth) {}
  void run(u64 packets) override {
    for (u64 i = 0; i < packets; ++i) packet();
    packets_ += packets;
  }
  u64 cycles() const override { return 0; }
  u64 packets() const override { return packets_; }
  u32 epsn() const override { return state_.epsn; }
  const std::vector<u8>& received() const override { return received_; }

 private:
  void packet() {
    blocks::PacketizerItem packetized;
    packetized.address = &stream_.address;
    packetized.opcode = &stream_.opcode;
    packetized.bth = &bth_;
    packetized.ext = &stream_.ext;
    packetized.payload = stream_.payload.data();
    packetized.payload_bytes = u32(stream_.payload.size());
    packetized.frame = frame_.data();
    packetized.process();
    bth_.psn = psn_add(bth_.psn, 1);
    blocks::IcrcItem icrc;
    icrc.frame = frame_.data();
    icrc.bytes = packetized.bytes;
    icrc.mode = blocks::IcrcMode::Generate;
    icrc.framing = stream_.address.framing;
    icrc.process();
    icrc.mode = blocks::IcrcMode::Check;
    icrc.process();
    const std::span<const u8> frame(frame_.data(), icrc.bytes);
    blocks::RxParserItem parser;
    parser.frame = frame;
    parser.link = LinkLayer::Ethernet;
    parser.crcs.icrc_ok = icrc.icrc_ok;
    parser.parsed = &parsed_;
    parser.process();
    blocks::ResponderCheckItem check;
    check.packet = &parsed_.packet;
    check.frame = frame;
    check.port = &stream_.port;
    check.qp = &stream_.qp;
    check.region = &stream_.region;
    check.state = &state_;
    check.checked = &checked_;
    check.process();
    std::copy_n(&parsed_.whole[parsed_.packet.payload_offset], received_.size(), received_.begin());
  }

  const WriteStream& stream_;
  std::vector<u8> frame_, received_;
  ReceiveState state_;
  Bth bth_;
  blocks::ParsedFrame parsed_;
  blocks::CheckedRequest checked_;
  u64 packets_ = 0;
};
}  // namespace

WriteStream::WriteStream(u32 payload_bytes)
    : opcode(*opcode_row(Service::Rc, Operation::Write, Position::Only)), payload(payload_bytes) {
  address.framing = Framing::RoceV2Ip4;
  address.source_gid = gid_of_ipv4(0x0a000001);
  address.destination_gid = gid_of_ipv4(0x0a000002);
  address.source_mac = 0x02'00'00'00'00'01;
  address.destination_mac = 0x02'00'00'00'00'02;
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = u8(i * 7 + (i >> 8));
  bth.opcode = opcode.code;
  bth.pkey = 0xffff;
  bth.dest_qp = kQpn;
  bth.psn = kFirstPsn;
  bth.ack_req = true;
  ext.reth = {.va = 0x10000, .rkey = kRkey, .dma_len = payload_bytes};

  qp.allocated = true;
  qp.state = QpState::Rts;
  qp.qpn = kQpn;
  qp.pd = 1;
  qp.access = kAllAccess;
  qp.path_mtu = payload_bytes;
  qp.path = make_path(turned(address));
  state.epsn = kFirstPsn;
  region.start = ext.reth.va;
  region.bytes = payload_bytes;
  region.key = kRkey;
  region.pd = qp.pd;
  region.qpn = kAnyQp;
  region.access = kAllAccess;
  region.state = KeyState::Valid;
}

u32 WriteStream::frame_bytes() const {
  return proto::frame_bytes(make_path(address), opcode, u32(payload.size()));
}

rtl::Descriptor WriteStream::descriptor() const {
  rtl::Descriptor d{};
  testbench::put_ext(opcode, ext, d);
  d.address = address;
  d.bth = bth;
  d.payload_bytes = u16(payload.size());
  return d;
}

rtl::CheckedContext WriteStream::context() const {
  ReceiveState now = state;
  blocks::ResponderCheckItem item;
  item.qp = &qp;
  item.state = &now;
  return testbench::checked_context(item);
}

std::unique_ptr<HotPath> twin_path(const WriteStream& stream) {
  return std::make_unique<TwinPath>(stream);
}
}  // namespace hca::bench
