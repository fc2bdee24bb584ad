// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_stimulus.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "model/proto/wire/crc.h"
#include "model/proto/wire/crc_register.h"
#include "testbench/lockstep/coverage.h"

namespace hca::testbench {
namespace {
using blocks::IcrcMode;
using proto::Framing;

// The variant bits from the first covered byte on.
constexpr std::array<std::span<const u8>, proto::kFramingCount> kMasks{
    proto::Covered<Framing::IbLocal>::mask, proto::Covered<Framing::IbGlobal>::mask,
    proto::Covered<Framing::RoceV1>::mask, proto::Covered<Framing::RoceV2Ip4>::mask,
    proto::Covered<Framing::RoceV2Ip6>::mask};

void append_vcrc(std::vector<u8>& frame) {
  const u16 vcrc = proto::crc16_vcrc(0, frame.data(), frame.size());
  frame.push_back(u8(vcrc));
  frame.push_back(u8(vcrc >> 8));
}
}  // namespace

IcrcPacket IcrcStimulus::next() {
  IcrcPacket p;
  p.number = made_++;
  p.gap = regime_.gap(random_);
  if (given_.any())
    take_given(p);
  else if (const u64 choice = random_.below(80); choice == 0)
    make_random(p);
  else if (choice == 1)
    random_.chance(1, 2) ? make_sealed_short(p) : make_sealed_inside(p);
  else
    make_roce(p);
  p.sent = p.frame;
  p.bytes_sent = p.sent.size();
  p.frame.resize(p.frame.size() + blocks::crc_bytes(p.framing));
  return p;
}

// Bytes of payload: any number, or one that makes the frame end near the end of a beat.
u32 IcrcStimulus::payload_of(const proto::Path& path, const proto::OpcodeRow& row, u32 crcs_sent) {
  constexpr u32 kBeat = 64, kNear = 8;
  const u32 payload = u32(random_.below(regime_.largest_payload() + 1));
  if (random_.chance(1, 4)) return payload;
  const u32 sent = proto::shape_of(path, row, payload).icrc_offset + crcs_sent;
  const u32 wanted = kBeat - kNear + u32(random_.below(2 * kNear + 1));
  const u32 more = (wanted + kBeat - sent % kBeat) % kBeat;
  return payload < kBeat ? payload + more : payload + more - kBeat;
}

// A given frame as it is, to be checked; in each second round without its CRCs, to be completed.
void IcrcStimulus::take_given(IcrcPacket& p) {
  const GivenFrame& given = given_.of(p.number);
  proto::ParsedPacket parsed;
  const proto::PacketVerdict v = proto::parse(given.bytes, given.link, parsed);
  const bool known = v == proto::PacketVerdict::Good;
  const bool native = given.link == proto::LinkLayer::InfiniBand;
  p.frame = given.bytes;
  p.mode = IcrcMode::Check;
  p.framing = known ? parsed.framing : native ? Framing::IbLocal : Framing::RoceV2Ip4;
  p.vlan = known && !native && parsed.network_offset > proto::bytes_of<proto::Ethernet>();
  p.what = given.source;
  if (!known) return;
  p.payload = parsed.payload_bytes;
  p.opcode = index_of_opcode(parsed.bth.opcode);
  p.frame.resize(parsed.icrc_offset + blocks::crc_bytes(p.framing));
  if (given_.round(p.number) % 2 == 0) return;
  p.mode = IcrcMode::Generate;
  p.frame.resize(parsed.icrc_offset);
}

// A frame as an HCA sends it.
void IcrcStimulus::make_roce(IcrcPacket& p) {
  p.framing = Framing(random_.below(proto::kFramingCount));
  p.vlan = !proto::is_native(p.framing) && random_.chance(1, 2);
  const u32 mode = u32(random_.below(5));
  p.mode = mode < 2 ? IcrcMode::Generate : mode < 4 ? IcrcMode::Check : IcrcMode::Bypass;
  const proto::Path path = proto::make_path(random_address(random_, p.framing, p.vlan));
  // Any opcode with a payload of any length: the ICRC depends on neither.
  p.opcode = u32(random_.below(proto::kOpcodeRows.size()));
  const proto::OpcodeRow& row = proto::kOpcodeRows[p.opcode];
  proto::Bth bth{};
  bth.solicited = random_.chance(1, 2);
  bth.ack_req = random_.chance(1, 2);
  bth.fecn = random_.chance(1, 2);
  bth.becn = random_.chance(1, 2);
  bth.pkey = u16(random_());
  bth.dest_qp = u32(random_.below(1 << 24));
  bth.psn = u32(random_.below(1 << 24));
  const u32 crcs = blocks::crc_bytes(p.framing);
  const u32 payload = payload_of(path, row, p.mode == IcrcMode::Generate ? 0 : crcs);
  p.payload = payload;
  p.frame = random_bytes(random_, proto::frame_bytes(path, row, payload));
  proto::write_headers(path, row, bth, {}, payload, p.frame.data(), u16(random_()));
  // Any length, not only multiples of 4: up to 3 bytes less than the headers announce.
  const u32 least = blocks::icrc_min_bytes(p.framing, p.vlan) - crcs;
  u32 end = proto::shape_of(path, row, payload).icrc_offset;
  end -= u32(random_.below(std::min(end - least, 3u) + 1));
  p.frame.resize(end + crcs);
  if (p.mode != IcrcMode::Generate)
    blocks::IcrcUnit::insert(p.frame.data(), end, p.framing, p.vlan);
  else
    p.frame.resize(end);
  p.what = fmt::format("{} {}{}, {} bytes of payload", row.name, proto::framing_row(p.framing).name,
                       p.vlan ? " with VLAN" : "", payload);
  if (p.mode != IcrcMode::Generate && random_.chance(1, 2)) damage(p);
  if (p.mode == IcrcMode::Check && !proto::is_native(p.framing) && random_.chance(1, 24)) {
    p.frame.resize(p.frame.size() - proto::kVcrcBytes);
    append_vcrc(p.frame);
    p.what += ", its last bytes a VCRC";
  }
}

// After damage in a variant field or before the covered part the ICRC stays good. A third of native
// packets has only a bad VCRC, another third a recomputed VCRC.
void IcrcStimulus::damage(IcrcPacket& p) {
  const bool native = proto::is_native(p.framing);
  const u64 size = p.frame.size(), vcrc = native ? random_.below(3) : 2;
  const bool residue = random_.chance(1, 4);
  if (vcrc == 0 && residue) return turn_vcrc_residue(p);
  if (vcrc == 0) return turn_bits(p, size - proto::kVcrcBytes, proto::kVcrcBytes);
  // Half of the damage is in the headers, where the masks are, a quarter in the CRCs.
  const u64 where = random_.below(4);
  if (residue)
    turn_icrc_residue(p);
  else if (where < 2)
    turn_bits(p, 0, std::min<u64>(size, 86));
  else if (where == 2)
    turn_bits(p, size - 6, 6);
  else
    turn_bits(p, 0, size);
  if (vcrc != 1) return;
  p.frame.resize(size - proto::kVcrcBytes);
  append_vcrc(p.frame);
  p.what += ", VCRC made again";
}

// Inverts one bit of the CRC register, as it is compared at the end of the frame.
void IcrcStimulus::turn_icrc_residue(IcrcPacket& p) {
  const u32 crcs = blocks::crc_bytes(p.framing), bit = u32(random_.below(32));
  turn_last(p, crcs, proto::kIcrcBytes, proto::kIcrcRegister.backward(1u << bit, 8 * crcs));
  p.what += fmt::format(", bit {} of the ICRC's residue turned", bit);
}
void IcrcStimulus::turn_vcrc_residue(IcrcPacket& p) {
  const u32 bit = u32(random_.below(16));
  turn_last(p, proto::kVcrcBytes, proto::kVcrcBytes,
            proto::kVcrcRegister.backward(1u << bit, 8 * proto::kVcrcBytes));
  p.what += fmt::format(", bit {} of the VCRC's residue turned", bit);
}

// Inverts the bits of `mask` in `bytes` bytes that begin `from_end` bytes before the end.
void IcrcStimulus::turn_last(IcrcPacket& p, u32 from_end, u32 bytes, u32 mask) {
  for (u32 i = 0; i < bytes; ++i) p.frame[p.frame.size() - from_end + i] ^= u8(mask >> 8 * i);
}

// Inverts one to three bits.
void IcrcStimulus::turn_bits(IcrcPacket& p, u64 from_byte, u64 bytes) {
  for (u64 bits = 1 + random_.below(3); bits; --bits) {
    const u64 bit = 8 * from_byte + random_.below(8 * bytes);
    p.frame[bit / 8] ^= u8(1u << bit % 8);
    p.what += fmt::format(", bit {} of byte {} turned", bit % 8, bit / 8);
  }
}

// Random bytes, mostly too few for an ICRC.
void IcrcStimulus::make_random(IcrcPacket& p) {
  p.framing = Framing(random_.below(proto::kFramingCount));
  p.vlan = !proto::is_native(p.framing) && random_.chance(1, 2);
  p.mode = random_.chance(1, 4) ? IcrcMode::Bypass : IcrcMode::Check;
  p.frame = random_bytes(random_, 1 + random_.below(100));
  p.what = fmt::format("random bytes as {}{}", proto::framing_row(p.framing).name,
                       p.vlan ? " with VLAN" : "");
}

// Correct CRCs over fewer bytes than the headers have; in half of these only a few are missing.
void IcrcStimulus::make_sealed_short(IcrcPacket& p) {
  p.framing = Framing(random_.below(proto::kFramingCount));
  p.vlan = !proto::is_native(p.framing) && random_.chance(1, 2);
  const u32 from = blocks::covered_from(p.framing, p.vlan);
  const u32 headers =
      blocks::icrc_min_bytes(p.framing, p.vlan) - blocks::crc_bytes(p.framing) - from;
  const u32 missing = 1 + u32(random_.below(random_.chance(1, 2) ? 4 : headers));
  p.frame = random_bytes(random_, from + headers - missing);
  p.what = "right CRCs on too few bytes";
  seal(p);
}

// Correct CRCs at the end of a beat, but the packet goes on.
void IcrcStimulus::make_sealed_inside(IcrcPacket& p) {
  p.framing = Framing(random_.below(proto::kFramingCount));
  p.vlan = !proto::is_native(p.framing) && random_.chance(1, 2);
  p.frame = random_bytes(random_, 64 * (2 + random_.below(3)) - blocks::crc_bytes(p.framing));
  p.what = "right CRCs and more bytes behind";
  seal(p);
  const std::vector<u8> more = random_bytes(random_, 1 + random_.below(100));
  p.frame.insert(p.frame.end(), more.begin(), more.end());
}

void IcrcStimulus::seal(IcrcPacket& p) {
  p.mode = IcrcMode::Check;
  p.sealed = true;
  const std::span<const u8> mask = kMasks[unsigned(p.framing)];
  std::vector<u8> covered(p.frame.begin() + blocks::covered_from(p.framing, p.vlan), p.frame.end());
  for (std::size_t i = 0; i < std::min(covered.size(), mask.size()); ++i) covered[i] |= mask[i];
  const u32 icrc =
      proto::crc32(proto::framing_row(p.framing).icrc_start, covered.data(), covered.size());
  for (u32 i = 0; i < proto::kIcrcBytes; ++i) p.frame.push_back(u8(icrc >> 8 * i));
  if (proto::is_native(p.framing)) append_vcrc(p.frame);
  p.what += fmt::format(" as {}{}", proto::framing_row(p.framing).name, p.vlan ? " with VLAN" : "");
}
}  // namespace hca::testbench
