// SPDX-License-Identifier: Apache-2.0
// ICRC and VCRC over whole packets. The masks come from the field tables.
#include <algorithm>

#include "model/proto/packet.h"

namespace hca::proto {
namespace {

// The ICRC needs ones where the frame has something else. The headers are covered as a copy with
// these ones, what stands behind them in place.
template <Framing F>
u32 icrc_over(const u8* covered, std::size_t size) {
  constexpr auto& mask = Covered<F>::mask;
  alignas(64) std::array<u8, mask.size()> headers;
  for (std::size_t i = 0; i < mask.size(); ++i) headers[i] = covered[i] | mask[i];
  const u32 reg = crc32(framing_row(F).icrc_start, headers.data(), mask.size());
  return crc32(reg, covered + mask.size(), size - mask.size());
}

// The same in one call: the ones stand in the frame while it is covered.
template <Framing F>
u32 icrc_over(u8* covered, std::size_t size) {
  constexpr auto& mask = Covered<F>::mask;
  std::array<u8, mask.size()> kept;
  std::memcpy(kept.data(), covered, kept.size());
  for (std::size_t i = 0; i < mask.size(); ++i) covered[i] = kept[i] | mask[i];
  const u32 crc = crc32(framing_row(F).icrc_start, covered, size);
  std::memcpy(covered, kept.data(), kept.size());
  return crc;
}

template <class Fn>
u32 by_framing(Framing framing, Fn&& fn) {
  switch (framing) {
    case Framing::IbLocal:
      return fn.template operator()<Framing::IbLocal>();
    case Framing::IbGlobal:
      return fn.template operator()<Framing::IbGlobal>();
    case Framing::RoceV1:
      return fn.template operator()<Framing::RoceV1>();
    case Framing::RoceV2Ip4:
      return fn.template operator()<Framing::RoceV2Ip4>();
    case Framing::RoceV2Ip6:
      return fn.template operator()<Framing::RoceV2Ip6>();
  }
  return 0;
}

u32 load_le32(const u8* p) {
  u32 v;
  std::memcpy(&v, p, 4);
  return v;
}

template <class Byte>
u32 icrc(Byte* frame, const FrameShape& shape) {
  Byte* const covered = frame + shape.network_offset;
  const std::size_t size = shape.icrc_offset - shape.network_offset;
  return by_framing(shape.framing, [&]<Framing F>() { return icrc_over<F>(covered, size); });
}

template <class Byte>
bool is_icrc_good(Byte* frame, const FrameShape& shape) {
  const u8* const bth = frame + shape.transport_offset;
  if (mutant<"icrc_covers_bth4">() && bth[4]) return false;
  if (mutant<"icrc_masks_resv7">() && bth[8] & 0x7f) return true;
  return icrc(frame, shape) == load_le32(frame + shape.icrc_offset);
}

}  // namespace

u32 icrc_of(const u8* frame, const FrameShape& shape) { return icrc(frame, shape); }

bool icrc_good(std::span<const u8> frame, const FrameShape& shape) {
  return is_icrc_good(frame.data(), shape);
}

bool vcrc_good(std::span<const u8> frame, const FrameShape& shape) {
  const u32 end = shape.icrc_offset + kIcrcBytes;
  const u16 crc = crc16_vcrc(0, frame.data(), end);
  return frame[end] == u8(crc) && frame[end + 1] == u8(crc >> 8);
}

namespace {
// Behind parse(). icrc(), vcrc(): whether it is good; asked in this order, of what they cover
// alone.
template <class Icrc, class Vcrc>
PacketVerdict check(PacketVerdict parsed, ParsedPacket& out, const Icrc& icrc, const Vcrc& vcrc) {
  if (parsed == PacketVerdict::ReservedOpcode) {
    out.opcode = nullptr, out.payload_bytes = 0;
    out.payload_offset = u16(out.transport_offset + bytes_of<Bth>());
  } else if (parsed != PacketVerdict::Good) {
    return parsed;
  }
  if (!icrc() && !mutant<"icrc_not_checked">()) return PacketVerdict::BadIcrc;
  if (is_native(out.framing) && !vcrc() && !mutant<"vcrc_not_checked">())
    return PacketVerdict::BadVcrc;
  return PacketVerdict::Good;
}
template <class Byte>
PacketVerdict check(PacketVerdict parsed, std::span<Byte> frame, ParsedPacket& out) {
  return check(
      parsed, out, [&] { return is_icrc_good(frame.data(), out); },
      [&] { return vcrc_good(frame, out); });
}
}  // namespace

PacketVerdict check_frame(std::span<const u8> frame, LinkLayer link, ParsedPacket& out) {
  return check(parse(frame, link, out), frame, out);
}
PacketVerdict check_frame(std::span<const u8> frame, LinkLayer link, FrameCrcs crcs,
                          ParsedPacket& out) {
  return check(
      parse(frame, link, out), out, [&] { return crcs.icrc_ok; }, [&] { return crcs.vcrc_ok; });
}
[[gnu::hot]] PacketVerdict check_own_frame(std::span<u8> frame, LinkLayer link, KnownNetwork& known,
                                           ParsedPacket& out) {
  return check(parse(frame, link, known, out), frame, out);
}

[[gnu::hot]] void insert_icrc(u8* frame, const FrameShape& shape) {
  std::fill(frame + shape.payload_offset + shape.payload_bytes, frame + shape.icrc_offset, u8{0});
  const u32 crc = icrc(frame, shape);
  std::memcpy(frame + shape.icrc_offset, &crc, kIcrcBytes);
}

[[gnu::hot]] u32 end_frame(u8* frame, const FrameShape& shape) {
  const u32 end = shape.icrc_offset + kIcrcBytes;
  if (!is_native(shape.framing)) return end;
  const u16 vcrc = crc16_vcrc(0, frame, end);
  std::memcpy(frame + end, &vcrc, kVcrcBytes);
  return end + kVcrcBytes;
}

u32 finish_frame(u8* frame, const FrameShape& shape) {
  insert_icrc(frame, shape);
  return end_frame(frame, shape);
}

}  // namespace hca::proto
