// SPDX-License-Identifier: Apache-2.0
// ICRC and VCRC over whole packets. The masks come from the field tables.
#include <algorithm>
#include <array>
#include <cstring>

#include "model/proto/bytes.h"
#include "model/proto/wire/crc_register.h"
#include "model/proto/wire/network_crcs.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
namespace {

// The BTH has one variant byte.
constexpr unsigned kVariantAt = [] {
  unsigned at = 0;
  while (!kIcrcMask<Bth>[at]) ++at;
  return at;
}();
static_assert(kIcrcMask<Bth>[kVariantAt] == 0xff &&
              std::ranges::count(kIcrcMask<Bth>, u8{0}) == bytes_of<Bth>() - 1);

// The CRC covers the variant byte as it is. To make it count as ones, the CRC before the BTH is
// changed by the difference that this byte makes kVariantAt bytes later.
constexpr auto kToOnes = [] {
  std::array<u32, 256> all{};
  for (unsigned byte = 0; byte < 256; ++byte)
    all[byte] = kIcrcRegister.backward(byte ^ 0xff, 8 * kVariantAt);
  return all;
}();

// The CRC over the covered headers before the BTH, with ones for variant bits.
template <Framing F>
u32 network_crc(const u8* covered) {
  constexpr FramingRow row = framing_row(F);
  static_assert(Covered<F>::bytes == row.covered_header_bytes + bytes_of<Bth>());
  std::array<u8, row.covered_header_bytes> headers;
  for (std::size_t i = 0; i < headers.size(); ++i) headers[i] = covered[i] | Covered<F>::mask[i];
  return crc32(row.icrc_start, headers.data(), headers.size());
}

template <Framing F>
[[gnu::noinline]] void learn(NetworkCrcs::Entry& entry, const u8* covered) {
  std::copy_n(covered, framing_row(F).covered_header_bytes, entry.headers.begin());
  entry.framing = u8(F);
  entry.crc = network_crc<F>(covered);
}

// The same, looked up. Most headers have their addresses and sizes in their last 16 bytes; a GRH
// does not have the size there.
template <Framing F>
u32 network_crc(const u8* covered, std::size_t behind, NetworkCrcs& known) {
  constexpr u32 bytes = framing_row(F).covered_header_bytes;
  static_assert(bytes >= 8 && bytes <= NetworkCrcs::Entry::kMost);
  u64 key = load_be<8>(covered + bytes - 8) + behind;
  if constexpr (bytes >= 16) key += load_be<8>(covered + bytes - 16);
  NetworkCrcs::Entry& e = known.at(key);
  if (e.framing != u8(F) || std::memcmp(e.headers.data(), covered, bytes) != 0) [[unlikely]]
    learn<F>(e, covered);
  return e.crc;
}

template <class Fn>
[[gnu::always_inline]] inline u32 by_framing(Framing framing, Fn&& fn) {
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

// The ICRC over the covered headers before the BTH. `behind`: bytes from the BTH to the ICRC, which
// distinguish frames of different sizes.
u32 network_part(const u8* frame, const FrameShape& shape, std::size_t) {
  return by_framing(shape.framing,
                    [&]<Framing F>() { return network_crc<F>(frame + shape.network_offset); });
}
u32 network_part(const u8* frame, const FrameShape& shape, std::size_t behind, NetworkCrcs& known) {
  return by_framing(shape.framing, [&]<Framing F>() {
    return network_crc<F>(frame + shape.network_offset, behind, known);
  });
}
// The part is already known for this frame.
struct NetworkPart {
  u32 crc;
};
u32 network_part(const u8*, const FrameShape&, std::size_t, const NetworkPart& part) {
  return part.crc;
}

// `known`: the known parts of earlier frames, or nothing; compiled for each.
template <class... Known>
u32 icrc(const u8* frame, const FrameShape& shape, Known&... known) {
  const u8* const bth = frame + shape.transport_offset;
  const std::size_t behind = shape.icrc_offset - shape.transport_offset;
  const u32 network = network_part(frame, shape, behind, known...);
  return crc32(network ^ kToOnes[bth[kVariantAt]], bth, behind);
}

template <class... Known>
bool is_icrc_good(const u8* frame, const FrameShape& shape, Known&... known) {
  return icrc(frame, shape, known...) == load_le32(frame + shape.icrc_offset);
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
// Checks the CRCs after parse(). icrc() and vcrc() return whether each is good; they are called in
// this order, and vcrc() only for native framings.
template <class Icrc, class Vcrc>
PacketVerdict check(PacketVerdict parsed, ParsedPacket& out, const Icrc& icrc, const Vcrc& vcrc) {
  if (parsed == PacketVerdict::ReservedOpcode) {
    out.opcode = nullptr;
    out.payload_bytes = 0;
    out.payload_offset = u16(out.transport_offset + bytes_of<Bth>());
  } else if (parsed != PacketVerdict::Good) {
    return parsed;
  }
  if (!icrc()) return PacketVerdict::BadIcrc;
  if (is_native(out.framing) && !vcrc()) return PacketVerdict::BadVcrc;
  return PacketVerdict::Good;
}
template <class... Known>
PacketVerdict check(PacketVerdict parsed, const FrameView& frame, ParsedPacket& out,
                    Known&&... known) {
  if (frame.is_cut())
    return check(
        parsed, out, [&] { return frame.crcs().icrc_ok; }, [&] { return frame.crcs().vcrc_ok; });
  return check(
      parsed, out, [&] { return is_icrc_good(frame.data(), out, known...); },
      [&] { return vcrc_good(frame.held(), out); });
}
}  // namespace

PacketVerdict check_frame(const FrameView& frame, LinkLayer link, ParsedPacket& out) {
  return check(parse(frame, link, out), frame, out);
}
PacketVerdict check_frame(const FrameView& frame, LinkLayer link, FrameCrcs crcs,
                          ParsedPacket& out) {
  return check(
      parse(frame, link, out), out, [&] { return crcs.icrc_ok; }, [&] { return crcs.vcrc_ok; });
}
namespace {
static_assert(bytes_of<Ethernet>() + bytes_of<Vlan>() + bytes_of<Ipv6>() + bytes_of<Udp>() <=
              sizeof(KnownNetwork::head));
void keep(const FrameView& frame, LinkLayer link, const ParsedPacket& packet, u32 crc,
          KnownNetwork& known) {
  const bool has_udp = packet.framing == Framing::RoceV2Ip4 || packet.framing == Framing::RoceV2Ip6;
  const bool has_checksum = has_udp && load_be<2>(frame.data() + packet.transport_offset - 2);
  if (has_checksum) return;  // the checksum covers the payload
  known = {.frame_bytes = frame.size(),
           .link = link,
           .framing = packet.framing,
           .network_offset = packet.network_offset,
           .transport_offset = packet.transport_offset,
           .transport_bytes = packet.icrc_offset - packet.transport_offset + kIcrcBytes,
           .crc = crc};
  std::copy_n(frame.data(), packet.transport_offset, known.head.begin());
}
[[gnu::noinline]] PacketVerdict check_unknown(PacketVerdict parsed, const FrameView& frame,
                                              LinkLayer link, KnownNetwork& known,
                                              NetworkCrcs& known_crcs, ParsedPacket& out) {
  if (parsed != PacketVerdict::Good && parsed != PacketVerdict::ReservedOpcode) return parsed;
  const NetworkPart part{
      network_part(frame.data(), out, out.icrc_offset - out.transport_offset, known_crcs)};
  const PacketVerdict verdict = check(parsed, frame, out, part);
  if (verdict == PacketVerdict::Good) keep(frame, link, out, part.crc, known);
  return verdict;
}
}  // namespace

[[gnu::hot]] PacketVerdict check_frame(const FrameView& frame, LinkLayer link, KnownNetwork& known,
                                       NetworkCrcs& known_crcs, ParsedPacket& out) {
  const PacketVerdict parsed = parse(frame, link, known, out);
  if (known.matched) [[likely]]
    return check(parsed, frame, out, NetworkPart{known.crc});
  return check_unknown(parsed, frame, link, known, known_crcs, out);
}

namespace {
template <class... Known>
void insert(u8* frame, const FrameShape& shape, Known&... known) {
  std::fill(frame + shape.payload_offset + shape.payload_bytes, frame + shape.icrc_offset, u8{0});
  const u32 crc = icrc(frame, shape, known...);
  std::memcpy(frame + shape.icrc_offset, &crc, kIcrcBytes);
}
}  // namespace

[[gnu::hot]] void insert_icrc(u8* frame, const FrameShape& shape, NetworkCrcs& known) {
  insert(frame, shape, known);
}

void insert_vcrc(u8* frame, u32 end) {
  const u16 vcrc = crc16_vcrc(0, frame, end);
  std::memcpy(frame + end, &vcrc, kVcrcBytes);
}

u32 finish_frame(u8* frame, const FrameShape& shape) {
  insert(frame, shape);
  return end_frame(frame, shape);
}

}  // namespace hca::proto
