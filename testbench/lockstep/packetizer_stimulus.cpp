// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/packetizer_stimulus.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using proto::Framing;

// An identification with which the sum of the IPv4 header has a carry in its last step.
u16 carrying_id(const PacketizerPacket& p) {
  const u32 behind = proto::bytes_of<proto::Ipv4>() + proto::bytes_of<proto::Udp>() +
                     proto::bytes_of<proto::Bth>() + p.opcode->ext_bytes + u32(p.bytes_sent) +
                     proto::pad_of(u32(p.bytes_sent)) + proto::kIcrcBytes;
  return u16(0xffff - (proto::make_path(p.descriptor.address).ipv4_sum + behind) % 0x10000);
}
}  // namespace

// A payload of any length, whatever the path MTU, which the packetizer does not have as an input.
// One in eight is empty, one in eight fills whole words or beats.
u32 PacketizerStimulus::payload_of(proto::PayloadRule rule) {
  if (rule == proto::PayloadRule::None) return 0;
  const u32 largest = regime_.largest_payload(),
            payload = random_.chance(1, 32) ? largest : u32(random_.below(largest + 1));
  switch (random_.below(8)) {
    case 0:
      return 0;
    case 1:
      return payload & ~(random_.chance(1, 2) ? 31u : 3u);
    default:
      return payload;
  }
}

// The sum of an IPv4 header is as large or as small as possible, or its last step has a carry or
// just none.
void PacketizerStimulus::choose_sum(PacketizerPacket& p) {
  proto::AddressVector& av = p.descriptor.address;
  const bool largest = random_.chance(1, 2);
  if (random_.chance(1, 16)) {
    av.source_gid = av.destination_gid = proto::gid_of_ipv4(largest ? ~0u : 0);
    p.descriptor.ip_id = largest ? 0xffff : 0;
    if (largest) av.hop_limit = 0xff;
  } else if (random_.chance(1, 7)) {
    p.descriptor.ip_id = u16(carrying_id(p) - random_.below(9));
  }
}

// Returns the next given frame that can be parsed and has at most a path MTU, as a descriptor and a
// payload. False: there is none.
bool PacketizerStimulus::take_given(PacketizerPacket& p) {
  for (std::size_t tries = 0; tries < given_.size(); ++tries) {
    const GivenFrame& given = given_.of(next_given_++);
    proto::ParsedPacket parsed{};  // absent headers: all fields 0
    if (proto::parse(given.bytes, given.link, parsed) != proto::PacketVerdict::Good) continue;
    if (parsed.payload_bytes > rtl::kMaxPayload) continue;
    if (parsed.opcode->is_class()) continue;  // an unknown extended operation: no descriptor has it
    rtl::Descriptor& d = p.descriptor;
    d.address =
        proto::address_vector(parsed.framing, proto::addressing_of(given.bytes.data(), parsed));
    d.bth = parsed.bth;
    static_cast<proto::ExtHeaders&>(d) = static_cast<const proto::ExtHeaders&>(parsed);
    d.ip_id = u16(random_());
    p.opcode = parsed.opcode;
    const auto payload = given.bytes.begin() + parsed.payload_offset;
    p.payload.assign(payload, payload + parsed.payload_bytes);
    p.what = given.source;
    return true;
  }
  return false;
}

PacketizerPacket PacketizerStimulus::next() {
  PacketizerPacket p;
  p.number = made_++;
  p.gap = regime_.gap(random_);
  if (take_given(p)) {
    p.bytes_sent = p.payload.size();
    p.descriptor.payload_bytes = u16(p.bytes_sent);
    p.frame.resize(proto::kMaxHeaderBytes + p.bytes_sent + 3);
    return p;
  }
  const auto& stream = kStreams[random_.below(kStreams.size())];
  const proto::OpcodeRow& row =
      proto::built_row(proto::kOpcodeRows[random_.below(proto::kOpcodeRows.size())]);
  p.opcode = &row;
  rtl::Descriptor& d = p.descriptor;
  d.address = random_address(random_, stream.framing, stream.vlan);
  randomize(d.bth, random_);
  d.bth.opcode = row.code;
  randomize(static_cast<proto::ExtHeaders&>(d), random_);
  d.ip_id = u16(random_());
  p.payload = random_bytes(random_, payload_of(row.payload));
  p.bytes_sent = p.payload.size();
  d.payload_bytes = u16(p.bytes_sent);
  if (d.address.framing == Framing::RoceV2Ip4) choose_sum(p);
  p.frame.resize(proto::kMaxHeaderBytes + p.bytes_sent + 3);
  p.what = fmt::format("{} {}, {} bytes of payload", row.name, stream.name(), p.bytes_sent);
  return p;
}
}  // namespace hca::testbench
