// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rx_parser_coverage.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using proto::PacketVerdict;

constexpr std::array<u32, 6> kPayloadsUpTo{0, 31, 64, 256, 1024, 65535};

// Verdicts that only the parser of another link gives.
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
    case BadPad:  // native: only headers, pad and CRCs, all shorter
      return !native || !longer;
    default:
      return true;
  }
}
constexpr u32 kRdHeaderBytes = proto::bytes_of<proto::Bth>() + proto::bytes_of<proto::Rdeth>() +
                               proto::bytes_of<proto::Deth>() + proto::kIcrcBytes;
// After 128 bytes the verdict on the headers is known before the end is.
constexpr std::array<std::string_view, 2> kLengths{"up to 128 bytes", "longer"};

constexpr std::array<std::string_view, 2> kRdHeaders{"that ends in front of its DETH's end",
                                                     "with RDETH and DETH"};

std::vector<std::string> verdict_names() {
  std::vector<std::string> names;
  for (const proto::VerdictRow& row : proto::verdict_rows()) names.emplace_back(row.name);
  return names;
}
// BTH-4: an operation that no device executes is reserved before its pad is judged.
bool is_refused_first(const proto::OpcodeRow& row, PacketVerdict v) {
  return row.traits().extended && v == PacketVerdict::BadPad;
}
bool has_payload(u32 opcode) {
  return proto::kOpcodeRows[opcode].payload != proto::PayloadRule::None;
}
}  // namespace

RxParserCoverage::RxParserCoverage(u32 beat_bytes) : beat_bytes_(beat_bytes) {
  const Dimension framing{"framing", stream_names()}, opcode{"opcode", opcode_names()},
      payload{"payload", payload_names(kPayloadsUpTo)}, start{"start", start_names()},
      verdict{"verdict", verdict_names()}, good{"opcode of good frames", opcode_names()};
  // There are too few of the longest payloads to have each opcode.
  add_cross(std::array{&framing, &good, &payload}, [](std::span<const u32> values) {
    return values[2] == 0 || (values[2] + 1 < kPayloadsUpTo.size() && has_payload(values[1]));
  });
  add_cross(std::array{&framing, &verdict, &start}, [](std::span<const u32> values) {
    return can_be(kStreams[values[0]], PacketVerdict(values[1]), false);
  });
  add_cross(std::array{&opcode, &verdict}, [](std::span<const u32> values) {
    return !is_refused_first(proto::kOpcodeRows[values[0]], PacketVerdict(values[1]));
  });
  add_cross(std::array{&opcode, &start});
  add_cross(std::array{&framing, &payload, &start});
  verdicts_from_ = add_group("framing x verdict x length of the frame");
  for (const StreamRow& stream : kStreams)
    for (const proto::VerdictRow& row : proto::verdict_rows())
      for (const bool longer : {false, true})
        add(can_be(stream, row.verdict, longer)
                ? fmt::format("{}: {}, {}", stream.name(), row.name, kLengths[longer])
                : "");
  of_rd_from_ = add_group("framing x reserved OpCode of RD");
  for (const StreamRow& stream : kStreams)
    for (const std::string_view end : kRdHeaders)
      add(fmt::format("{}: reserved OpCode of RD {}", stream.name(), end));
  ends_from_ = add_group("framing x bytes of the last beat of good frames");
  for (const StreamRow& stream : kStreams)
    for (u32 bytes = 1; bytes <= beat_bytes_; ++bytes)
      add(proto::is_native(stream.framing) && bytes % 4 != 2
              ? ""
              : fmt::format("{}: {} bytes", stream.name(), bytes));
}

void RxParserCoverage::count(const RxParserPacket& p) {
  const u32 stream = stream_of(p.stream.framing, p.stream.vlan);
  const PacketVerdict v = p.parsed.verdict;
  const bool longer = p.frame.size() > proto::kMaxHeaderBytes;
  hit(verdicts_from_ + (stream * proto::verdict_rows().size() + u32(v)) * kLengths.size() + longer);
  const u32 start = u32(p.start);
  const auto row_of = [](u32 code) {
    return index_in(proto::kOpcodeRows, [&](const auto& r) { return r.code == code; });
  };
  hit_cross(1, {stream, u32(v), start});
  if (p.parsed.has_rd_headers()) {
    const u32 end = p.parsed.packet.transport_offset + kRdHeaderBytes;
    hit(of_rd_from_ + stream * kRdHeaders.size() + (p.frame.size() >= end));
  }
  if (const u32 made = row_of(p.opcode); made < proto::kOpcodeRows.size()) {
    hit_cross(2, {made, u32(v)});
    hit_cross(3, {made, start});
  }
  if (v != PacketVerdict::Good) return;
  hit(ends_from_ + stream * beat_bytes_ + u32(p.frame.size() - 1) % beat_bytes_);
  const u32 size =
      index_in(kPayloadsUpTo, [&](u32 up_to) { return p.parsed.payload_bytes() <= up_to; });
  hit_cross(0, {stream, row_of(p.parsed.packet.bth.opcode), size});
  hit_cross(4, {stream, size, start});
}
}  // namespace hca::testbench
