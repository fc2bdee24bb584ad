// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rx_parser_coverage.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using proto::PacketVerdict;

constexpr std::array<u32, 6> kPayloadsUpTo{0, 31, 64, 256, 1024, 65535};

// Verdicts that the parser of another link gives.
bool can_be(const StreamRow& s, PacketVerdict v, bool longer) {
  using enum PacketVerdict;
  const bool native = proto::is_native(s.framing);
  const bool ip4 = s.framing == proto::Framing::RoceV2Ip4;
  const bool udp = ip4 || s.framing == proto::Framing::RoceV2Ip6;
  switch (v) {
    case RawPacket:
    case BadLver:
    case BadVcrc:
      return native;
    case UnknownEtherType:
      return !native;
    case BadIpHeaderLength:
    case BadIpChecksum:
    case Fragment:
      return ip4;
    case NotUdp:
    case BadUdpPort:
    case BadUdpChecksum:
      return udp;
    case BadNextHeader:
      return s.framing == proto::Framing::IbGlobal || s.framing == proto::Framing::RoceV1;
    case BadIpVersion:
      return s.framing != proto::Framing::IbLocal;
    case BadPad:  // natively nothing but headers, pad and CRCs, and those are shorter
      return !native || !longer;
    default:
      return true;
  }
}
// Behind 128 bytes the verdict on the headers stands before the end is known.
constexpr std::array<std::string_view, 2> kLengths{"up to 128 bytes", "longer"};
}  // namespace

RxParserCoverage::RxParserCoverage(u32 beat_bytes) : beat_bytes_(beat_bytes) {
  add_group("framing x opcode of good frames");
  for (const StreamRow& stream : kStreams)
    for (const proto::OpcodeRow& row : proto::kOpcodeRows)
      add(fmt::format("{}: {} {:#04x}", stream.name(), row.name, row.code));
  verdicts_from_ = add_group("framing x verdict x length of the frame");
  for (const StreamRow& stream : kStreams)
    for (const proto::VerdictRow& row : proto::verdict_rows())
      for (const bool longer : {false, true})
        add(can_be(stream, row.verdict, longer)
                ? fmt::format("{}: {}, {}", stream.name(), row.name, kLengths[longer])
                : "");
  ends_from_ = add_group("framing x bytes of the last beat of good frames");
  for (const StreamRow& stream : kStreams)
    for (u32 bytes = 1; bytes <= beat_bytes_; ++bytes)
      add(proto::is_native(stream.framing) && bytes % 4 != 2
              ? ""
              : fmt::format("{}: {} bytes", stream.name(), bytes));
  starts_from_ = add_group("framing x payload x start");
  for (const StreamRow& stream : kStreams)
    for (const u32 up_to : kPayloadsUpTo)
      for (const std::string_view start : kStartNames)
        add(fmt::format("{}: payload up to {}, {}", stream.name(), up_to, start));
}

void RxParserCoverage::count(const RxParserPacket& p) {
  const u32 stream = stream_of(p.stream.framing, p.stream.vlan);
  const PacketVerdict v = p.parsed.verdict;
  const bool longer = p.frame.size() > proto::kMaxHeaderBytes;
  hit(verdicts_from_ + (stream * proto::verdict_rows().size() + u32(v)) * kLengths.size() + longer);
  if (v != PacketVerdict::Good) return;
  const u32 row = index_in(proto::kOpcodeRows, [&](const proto::OpcodeRow& r) {
    return r.code == p.parsed.packet.bth.opcode;
  });
  hit(stream * proto::kOpcodeRows.size() + row);
  hit(ends_from_ + stream * beat_bytes_ + u32(p.frame.size() - 1) % beat_bytes_);
  const u32 size =
      index_in(kPayloadsUpTo, [&](u32 up_to) { return p.parsed.payload_bytes() <= up_to; });
  hit(starts_from_ + (stream * kPayloadsUpTo.size() + size) * kStartNames.size() + u32(p.start));
}
}  // namespace hca::testbench
