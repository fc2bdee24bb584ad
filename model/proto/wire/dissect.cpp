// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/dissect.h"

namespace hca::proto {
namespace {

class Walk {
 public:
  Walk(std::span<const u8> frame, Dissection& out) : frame_(frame), out_(out) {}

  // Takes the next header; nullptr if the frame ends inside it.
  const u8* step(const HeaderInfo& header) {
    if (at_ + header.bytes > frame_.size()) return nullptr;
    if (!out_.add(header, at_)) return nullptr;
    at_ += header.bytes;
    return frame_.data() + at_ - header.bytes;
  }
  template <class H>
  const u8* step() {
    return step(kHeaderInfo<H>);
  }
  std::size_t rest() const { return frame_.size() - at_; }

 private:
  std::span<const u8> frame_;
  Dissection& out_;
  u32 at_ = 0;
};

void walk_transport(Walk& walk, Dissection& out) {
  const u8* const bth = walk.step<Bth>();
  if (bth == nullptr) return;
  out.has_transport = true;
  const OpcodeRow* const row = opcode_row(decode<Bth>(bth).opcode);
  if (row == nullptr) return;
  bool whole = true;
  const u8* last = nullptr;
  const auto take = [&](Ext e) {
    const HeaderInfo& header = kExtHeaders[unsigned(e)];
    whole =
        whole && walk.rest() >= header.bytes + kIcrcBytes && (last = walk.step(header)) != nullptr;
  };
  row->ext.for_each(take);
  if (!row->is_class() || !whole) return;
  // The EOETH is the last header of a class.
  headers_after_eoeth(*row, decode<Eoeth>(last).extended_opcode).for_each(take);
}

void walk_udp(Walk& walk, Dissection& out) {
  const u8* const udp = walk.step<Udp>();
  if (udp != nullptr && decode<Udp>(udp).destination_port == kRoceUdpPort)
    walk_transport(walk, out);
}

void walk_grh(Walk& walk, Dissection& out) {
  const u8* const grh = walk.step<Grh>();
  if (grh != nullptr && decode<Grh>(grh).nxt_hdr == kNextHeaderIba) walk_transport(walk, out);
}

void walk_ethernet(Walk& walk, Dissection& out) {
  const u8* at = walk.step<Ethernet>();
  if (at == nullptr) return;
  u16 type = decode<Ethernet>(at).type;
  if (type == kEtherTypeVlan) {
    at = walk.step<Vlan>();
    if (at == nullptr) return;
    type = decode<Vlan>(at).type;
  }
  if (type == kEtherTypeRoce) return walk_grh(walk, out);
  if (type == kEtherTypeIpv6) {
    at = walk.step<Ipv6>();
    if (at != nullptr && decode<Ipv6>(at).next_header == kIpProtocolUdp) walk_udp(walk, out);
  } else if (type == kEtherTypeIpv4) {
    at = walk.step<Ipv4>();
    if (at == nullptr) return;
    const Ipv4 ip = decode<Ipv4>(at);
    const bool plain = ip.header_words == kIpv4HeaderWords && ip.fragment_offset == 0;
    if (plain && ip.protocol == kIpProtocolUdp) walk_udp(walk, out);
  }
}

void walk_native(Walk& walk, Dissection& out) {
  const u8* const lrh = walk.step<Lrh>();
  if (lrh == nullptr) return;
  const u8 lnh = decode<Lrh>(lrh).lnh;
  if (lnh == kLnhGlobal) walk_grh(walk, out);
  if (lnh == kLnhLocal) walk_transport(walk, out);
}

}  // namespace

Dissection dissect(std::span<const u8> frame, LinkLayer link) {
  Dissection out;
  Walk walk(frame, out);
  if (link == LinkLayer::Ethernet)
    walk_ethernet(walk, out);
  else
    walk_native(walk, out);
  out.structure = parse(frame, link, out.packet);
  if (out.structure == PacketVerdict::ReservedOpcode) out.structure = form_if_executed(out.packet);
  out.has_icrc = out.structure == PacketVerdict::Good || out.structure == PacketVerdict::BadTver ||
                 out.structure == PacketVerdict::BadPad ||
                 out.structure == PacketVerdict::ReservedOpcode;
  if (out.has_icrc) {
    out.icrc_is_good = icrc_good(frame, out.packet);
    out.vcrc_is_good = is_native(out.packet.framing) && vcrc_good(frame, out.packet);
  }
  return out;
}

}  // namespace hca::proto
