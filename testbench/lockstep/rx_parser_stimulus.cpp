// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rx_parser_stimulus.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "model/proto/wire/ip_checksum.h"

namespace hca::testbench {
struct RxParserField {
  proto::HeaderInfo header;
  std::string_view field;
  unsigned framings;  // that have it, one bit each
};

namespace {
using FieldRow = RxParserField;
using namespace proto;

constexpr unsigned bit(Framing f) { return 1u << unsigned(f); }
constexpr unsigned kNative = bit(Framing::IbLocal) | bit(Framing::IbGlobal);
constexpr unsigned kGrh = bit(Framing::IbGlobal) | bit(Framing::RoceV1);
constexpr unsigned kUdp = bit(Framing::RoceV2Ip4) | bit(Framing::RoceV2Ip6);
constexpr unsigned kAll = kNative | kGrh | kUdp;
// The fields whose value decides about a frame.
constexpr std::array kFields{
    FieldRow{kHeaderInfo<Lrh>, "LVer", kNative},
    FieldRow{kHeaderInfo<Lrh>, "LNH", kNative},
    FieldRow{kHeaderInfo<Lrh>, "PktLen", kNative},
    FieldRow{kHeaderInfo<Grh>, "IPVer", kGrh},
    FieldRow{kHeaderInfo<Grh>, "NxtHdr", kGrh},
    FieldRow{kHeaderInfo<Grh>, "PayLen", kGrh},
    FieldRow{kHeaderInfo<Ethernet>, "EtherType", kAll & ~kNative},
    FieldRow{kHeaderInfo<Vlan>, "EtherType", kAll & ~kNative},
    FieldRow{kHeaderInfo<Ipv4>, "Version", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "IHL", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "TotalLength", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "MF", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "FragmentOffset", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "Protocol", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "HeaderChecksum", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv6>, "Version", bit(Framing::RoceV2Ip6)},
    FieldRow{kHeaderInfo<Ipv6>, "PayloadLength", bit(Framing::RoceV2Ip6)},
    FieldRow{kHeaderInfo<Ipv6>, "NextHeader", bit(Framing::RoceV2Ip6)},
    FieldRow{kHeaderInfo<Udp>, "DestinationPort", kUdp},
    FieldRow{kHeaderInfo<Udp>, "Length", kUdp},
    FieldRow{kHeaderInfo<Bth>, "TVer", kAll},
    FieldRow{kHeaderInfo<Bth>, "OpCode", kAll},
    FieldRow{kHeaderInfo<Bth>, "PadCnt", kAll},
};
// The fields whose value is ignored: reserved bits, too.
constexpr std::array kIgnored{
    FieldRow{kHeaderInfo<Lrh>, "Resv2", kNative},
    FieldRow{kHeaderInfo<Lrh>, "Resv5", kNative},
    FieldRow{kHeaderInfo<Vlan>, "DEI", kAll & ~kNative},
    FieldRow{kHeaderInfo<Ipv4>, "Identification", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "Reserved", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Ipv4>, "DF", bit(Framing::RoceV2Ip4)},
    FieldRow{kHeaderInfo<Bth>, "Resv6", kAll},
    FieldRow{kHeaderInfo<Bth>, "Resv7", kAll},
};
const FieldInfo& info_of(const FieldRow& row) {
  return *std::find_if(row.header.begin(), row.header.end(),
                       [&](const FieldInfo& f) { return f.name == row.field; });
}

// Field values of other protocols: further tags, ARP, the headers of IPv6, TCP, the ports of other
// tunnels, the same number with its bytes swapped.
constexpr std::array<u16, 10> kEtherTypes{kEtherTypeVlan, 0x88a8,         0x9100, kEtherTypeIpv4,
                                          kEtherTypeIpv6, kEtherTypeRoce, 0x8914, 0x0806,
                                          0x0081,         0x1589};
constexpr std::array<u16, 10> kNextHeaders{0,  1,  6,  kIpProtocolUdp, kNextHeaderIba, 43, 44,
                                           58, 60, 136};
constexpr std::array<u16, 5> kUdpPorts{kRoceUdpPort - 2, kRoceUdpPort - 1, kRoceUdpPort + 1, 0xb712,
                                       0};
constexpr std::array<u16, 3> kIpVersions{0, kIpVersion4, kIpVersion6};
std::span<const u16> alike(std::string_view field) {
  if (field == "EtherType") return kEtherTypes;
  if (field == "NxtHdr" || field == "NextHeader" || field == "Protocol") return kNextHeaders;
  if (field == "DestinationPort") return kUdpPorts;
  if (field == "IPVer" || field == "Version") return kIpVersions;
  return {};
}

bool is_length(std::string_view field) {
  return field.ends_with("Length") || field.ends_with("Len");
}
// A byte less than the header that a length counts.
constexpr u64 just_too_short(std::string_view field) {
  if (field == "TotalLength") return bytes_of<Ipv4>() - 1;
  return bytes_of<Udp>() - 1;
}

// The offset of a field's header in a frame; no value: the frame does not have it.
std::optional<u32> offset_of(const FieldRow& row, const Path& path, const StreamRow& s) {
  const HeaderInfo& header = row.header;
  if (!(row.framings & bit(s.framing))) return {};
  if (header.name == Layout<Bth>::name) return path.bytes;
  if (header.name == Layout<Udp>::name) return path.bytes - bytes_of<Udp>();
  if (header.name == Layout<Lrh>::name || header.name == Layout<Ethernet>::name) return 0;
  if (header.name == Layout<Vlan>::name) {
    if (!s.vlan) return {};
    return bytes_of<Ethernet>();
  }
  return path.network_offset;
}

// The longest payload for which write_headers() has lengths.
u32 longest_payload(const OpcodeRow& row) {
  return (0xffff - bytes_of<Ipv6>() - bytes_of<Udp>() - bytes_of<Bth>() - row.ext_bytes -
          kIcrcBytes) &
         ~3u;
}

void set_ip_checksum(u8* ip) {
  store_be<2>(ip + 10, 0);
  store_be<2>(ip + 10, u16(~folded(sum_of_words(ip, bytes_of<Ipv4>()))));
}
// The UDP checksum over the bytes that the UDP header announces, if the frame has them.
void set_udp_checksum(std::vector<u8>& frame, const Path& path) {
  const u32 udp = path.bytes - bytes_of<Udp>();
  if (frame.size() < path.bytes) return;
  const u32 addresses = path.framing == Framing::RoceV2Ip4 ? 8 : 32;
  const u32 length = u32(load_be<2>(&frame[udp + 4]));
  if (udp + length > frame.size()) return;
  store_be<2>(&frame[udp + 6], 0);
  const u16 sum = folded(sum_of_words(&frame[udp - addresses], addresses) + kIpProtocolUdp +
                         length + sum_of_words(&frame[udp], length));
  store_be<2>(&frame[udp + 6], sum == 0xffff ? 0xffff : u16(~sum));
}
}  // namespace

// Lengthens a packet by 40 bytes: an IPv6 length does not count its header, so it allows that much
// more than write_headers() makes.
void RxParserStimulus::lengthen(RxParserPacket& p, const Path& path, FrameShape& shape) {
  constexpr u32 kMore = bytes_of<Ipv6>();
  u8* const network = &p.frame[path.network_offset];
  store_be<2>(network + 4, load_be<2>(network + 4) + kMore);
  store_be<2>(network + kMore + 4, load_be<2>(network + kMore + 4) + kMore);
  p.frame.insert(p.frame.begin() + shape.icrc_offset, kMore, 0xff);
  shape.payload_bytes += kMore;
  shape.icrc_offset += kMore;
}

// Another value: close by, one bit away, small, any, or another protocol's.
void RxParserStimulus::change(RxParserPacket& p, u32 offset, const RxParserField& row) {
  const FieldInfo& f = info_of(row);
  const std::span<const u16> others = alike(row.field);
  u8* const at = &p.frame[offset];
  u64 value = get_bits(at, f.bit_at, f.bits);
  const u64 kind = random_.below(4);
  if (!others.empty() && random_.chance(1, 2)) {
    value = others[random_.below(others.size())];
  } else if (is_length(row.field) && random_.chance(1, 2)) {  // too small for the headers after it
    value = random_.below(12);
    if (row.field == "TotalLength") value += bytes_of<Ipv4>();
    if (random_.chance(1, 2)) value = just_too_short(row.field);
  } else if (kind == 0) {
    value ^= u64{1} << random_.below(f.bits);
  } else if (kind == 1) {
    value = random_();
  } else {
    value += random_.below(9) - 4;
  }
  set_bits(at, f.bit_at, f.bits, value & low_mask(f.bits));
  p.what += fmt::format(", {}.{} changed", row.header.name, row.field);
}

// Inverts one bit of a field that decides, each in its turn, and nothing else.
void RxParserStimulus::turn_bit(RxParserPacket& p, const Path& path) {
  const auto bits_of = [&](const FieldRow& row) {
    return offset_of(row, path, p.stream) ? info_of(row).bits : 0;
  };
  u32 all = 0;
  for (const FieldRow& row : kFields) all += bits_of(row);
  u32 bit = turns_.next(framing_row(p.stream.framing).name, all, random_);
  const FieldRow* row = kFields.data();
  for (; bit >= bits_of(*row); ++row) bit -= bits_of(*row);
  const FieldInfo& f = info_of(*row);
  u8* const at = &p.frame[*offset_of(*row, path, p.stream)];
  set_bits(at, f.bit_at, f.bits, get_bits(at, f.bit_at, f.bits) ^ u64{1} << bit);
  p.what += fmt::format(", bit {} of {}.{} turned", bit, row->header.name, row->field);
  if (p.stream.framing == Framing::RoceV2Ip4 && row->field != "HeaderChecksum")
    set_ip_checksum(&p.frame[path.network_offset]);
}

// A header with a wrong field that ends with the frame, or a byte before or after its end: the
// verdict depends on that byte. Returns the new size of the frame.
u32 RxParserStimulus::end_with_header(RxParserPacket& p, const Path& path) {
  for (;;) {
    const FieldRow& row = kFields[random_.below(kFields.size())];
    const std::optional<u32> offset = offset_of(row, path, p.stream);
    if (!offset) continue;
    change(p, *offset, row);
    if (p.stream.framing == Framing::RoceV2Ip4 && random_.chance(1, 2))
      set_ip_checksum(&p.frame[path.network_offset]);
    const u32 size = *offset + row.header.bytes + u32(random_.below(3)) - 1;
    p.what += fmt::format(", cut to {} bytes", size);
    return size;
  }
}

// All lengths are what a BTH and an ICRC need, or a little more or less, and one bit of the BTH is
// inverted; or a native frame is just an LRH, or an LRH and a GRH, whatever LNH says. Returns the
// new size.
u32 RxParserStimulus::shorten(RxParserPacket& p, const Path& path) {
  u8* const frame = p.frame.data();
  u8* const network = frame + path.network_offset;
  u32 bytes = bytes_of<Bth>() + kIcrcBytes - 2 + u32(random_.below(5));  // from the BTH on
  if (is_native(p.stream.framing)) {
    constexpr u32 kWord = 4;
    u32 words = (path.bytes + bytes) / kWord;
    if (random_.chance(1, 2)) words = 1 + u32(random_.below(path.bytes / kWord + 1));
    Lrh lrh{};
    decode_to(frame, lrh);
    lrh.pkt_len = u16(words);
    if (random_.chance(1, 2)) lrh.lnh = u8(random_.below(4));
    encode(lrh, frame);
    const u32 size = words * kWord + kVcrcBytes;
    if (p.stream.framing == Framing::IbGlobal && size >= path.bytes)
      store_be<2>(network + 4, words * kWord - bytes_of<Lrh>() - bytes_of<Grh>());
    p.what += fmt::format(", LRH of {} words and LNH {}", words, lrh.lnh);
    return size;
  }
  const u32 udp = bytes + bytes_of<Udp>();
  if (p.stream.framing == Framing::RoceV2Ip4)
    store_be<2>(network + 2, udp + bytes_of<Ipv4>());
  else
    store_be<2>(network + 4, p.stream.framing == Framing::RoceV2Ip6 ? udp : bytes);
  if (p.stream.framing != Framing::RoceV1)
    store_be<2>(frame + path.bytes - bytes_of<Udp>() + 4, udp);
  if (p.stream.framing == Framing::RoceV2Ip4) set_ip_checksum(network);
  if (random_.chance(1, 2)) frame[path.bytes + 1] ^= u8(1u << random_.below(8));
  if (random_.chance(1, 2)) frame[path.bytes] = u8(random_());
  p.what += fmt::format(", {} bytes from the BTH on", bytes);
  return path.bytes + bytes;
}

// Sets any value in the ignored fields.
void RxParserStimulus::fill_ignored(RxParserPacket& p, const Path& path) {
  for (const FieldRow& row : kIgnored) {
    const std::optional<u32> offset = offset_of(row, path, p.stream);
    if (!offset) continue;
    const FieldInfo& f = info_of(row);
    set_bits(&p.frame[*offset], f.bit_at, f.bits, random_() & low_mask(f.bits));
  }
  if (p.stream.framing == Framing::RoceV2Ip4) set_ip_checksum(&p.frame[path.network_offset]);
}

void RxParserStimulus::damage_headers(RxParserPacket& p, const Path& path) {
  bool checksum = true;
  for (u64 times = 1 + random_.below(3); times;) {
    const FieldRow& row = kFields[random_.below(kFields.size())];
    const std::optional<u32> offset = offset_of(row, path, p.stream);
    if (!offset) continue;
    change(p, *offset, row);
    checksum = checksum && row.field != "HeaderChecksum";
    --times;
  }
  if (p.stream.framing == Framing::RoceV2Ip4 && checksum)
    set_ip_checksum(&p.frame[path.network_offset]);
}

// The CRC results as icrc_unit would give them; random if it cannot locate the CRCs.
void RxParserStimulus::judge_crcs(RxParserPacket& p) {
  ParsedPacket parsed;
  const PacketVerdict v = parse(p.frame, p.link(), parsed);
  p.icrc_ok = random_.chance(1, 2);
  p.vcrc_ok = random_.chance(1, 2);
  if (v != PacketVerdict::Good && v != PacketVerdict::ReservedOpcode) return;
  p.icrc_ok = icrc_good(p.frame, parsed);
  if (is_native(parsed.framing)) p.vcrc_ok = vcrc_good(p.frame, parsed);
}

// The frame ends too early or goes on, or bits of it are inverted.
void RxParserStimulus::damage_end(RxParserPacket& p) {
  switch (random_.below(4)) {
    case 0:
      p.frame.resize(1 + random_.below(p.frame.size()));
      p.what += ", cut";
      break;
    case 1:
      p.frame.resize(p.frame.size() - random_.below(std::min<u64>(p.frame.size(), 9)));
      p.what += ", cut a little";
      break;
    case 2: {
      const std::vector<u8> more = random_bytes(random_, 1 + random_.below(100));
      p.frame.insert(p.frame.end(), more.begin(), more.end());
      p.what += ", longer";
      break;
    }
    default: {
      const u64 bit = random_.below(8 * p.frame.size());
      p.frame[bit / 8] ^= u8(1u << bit % 8);
      p.what += fmt::format(", bit {} of byte {} turned", bit % 8, bit / 8);
    }
  }
}

RxParserPacket RxParserStimulus::take_given(RxParserPacket p) {
  const GivenFrame& given = given_.of(p.number);
  p.frame = given.bytes;
  p.what = given.source;
  const bool native = given.link == LinkLayer::InfiniBand;
  p.stream.framing = native ? Framing::IbLocal : Framing::RoceV2Ip4;
  ParsedPacket parsed;
  if (parse(p.frame, p.link(), parsed) == PacketVerdict::Good) {
    p.stream.framing = parsed.framing;
    p.stream.vlan = !native && parsed.network_offset > bytes_of<Ethernet>();
    p.opcode = parsed.bth.opcode;
  }
  judge_crcs(p);
  p.bytes_sent = p.frame.size();
  return p;
}

RxParserPacket RxParserStimulus::next() {
  RxParserPacket p;
  p.number = made_++;
  p.gap = regime_.gap(random_);
  if (given_.any()) return take_given(std::move(p));
  p.stream = kStreams[random_.below(kStreams.size())];
  const OpcodeRow& row = built_row(kOpcodeRows[random_.below(kOpcodeRows.size())]);
  p.opcode = row.code;
  AddressVector av = random_address(random_, p.stream.framing, p.stream.vlan);
  const bool largest_sum = p.stream.framing == Framing::RoceV2Ip6 &&
                           row.payload != PayloadRule::None && random_.chance(1, 150);
  if (largest_sum) {
    av.source_gid.bytes.fill(0xff);
    av.destination_gid.bytes.fill(0xff);
  }
  const Path path = make_path(av);
  u32 payload = row.payload == PayloadRule::None || random_.chance(1, 8)
                    ? 0
                    : u32(random_.below(regime_.largest_payload() + 1));
  const bool may_be_longest = row.payload != PayloadRule::None && !is_native(p.stream.framing);
  const bool longest = largest_sum || (may_be_longest && random_.chance(1, 500));
  if (longest)
    payload = longest_payload(row) -
              (largest_sum || random_.chance(1, 2) ? 0 : u32(random_.below(60000)));
  FrameShape shape = shape_of(path, row, payload);
  p.frame = random_bytes(random_, frame_bytes(path, row, payload));
  if (largest_sum || (longest && random_.chance(1, 2)))
    std::fill(p.frame.begin(), p.frame.end(), u8{0xff});
  Bth bth{};
  std::vector<u8> any = random_bytes(random_, bytes_of<Bth>());
  if (largest_sum) std::fill(any.begin(), any.end(), u8{0xff});
  decode_to(any.data(), bth);
  bth.tver = 0;
  write_headers(path, row, bth, {}, payload, p.frame.data(), u16(random_()));
  if (largest_sum) lengthen(p, path, shape);
  auto ext = random_bytes(random_, row.ext_bytes);     // reserved bits too
  if (row.has(Ext::Eoeth) && !random_.chance(1, 8)) {  // no other Extended OpCode is known
    const u32 after = bytes_of<Eoeth>() + bytes_of<Reth>();
    store_be<2>(&ext[row.ext_bytes - after + 2], extended_opcode_of(row));
  }
  if (!largest_sum)
    std::copy(ext.begin(), ext.end(), p.frame.begin() + path.bytes + bytes_of<Bth>());
  p.what = fmt::format("{} {}, {} bytes of payload", row.name, p.stream.name(), payload);
  if (!largest_sum && random_.chance(1, 2)) fill_ignored(p, path);
  const u64 kind = largest_sum ? 7 : random_.below(11);  // 7: no error
  if (kind == 6 && random_.chance(1, 2)) {               // the reserved OpCodes, each in its turn
    do p.frame[path.bytes] = u8(turns_.next("OpCode", 256, random_));
    while (opcode_row(p.frame[path.bytes]));
    p.what += fmt::format(", OpCode {:#04x}", p.frame[path.bytes]);
  }
  if (kind < 3) damage_headers(p, path);
  if (kind == 8) turn_bit(p, path);
  const u32 cut_to = kind == 9 ? end_with_header(p, path) : kind == 10 ? shorten(p, path) : 0;
  finish_frame(p.frame.data(), shape);
  if (cut_to) p.frame.resize(cut_to);
  if (kind == 3) damage_end(p);
  const bool udp = unsigned(p.stream.framing) >= unsigned(Framing::RoceV2Ip4);
  if (udp && (largest_sum || random_.chance(1, 3))) set_udp_checksum(p.frame, path);
  if (!is_native(p.stream.framing) && random_.chance(1, 8))
    p.frame.resize(p.frame.size() + random_.below(70));
  if (kind == 4 || (kind == 0 && random_.chance(1, 4))) damage_end(p);
  if (kind == 5 && is_native(p.stream.framing) && random_.chance(1, 4)) {
    p.frame.back() ^= u8(1u << random_.below(8));
    p.what += ", VCRC wrong";
  }
  judge_crcs(p);
  p.bytes_sent = p.frame.size();
  return p;
}
}  // namespace hca::testbench
