// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rx_parser_lockstep.h"

#include "testbench/lockstep/describe.h"
#include "testbench/lockstep/elastic.h"
#include "testbench/lockstep/lockstep.h"
#include "testbench/lockstep/parsed_side_band.h"

namespace hca::testbench {
namespace {
using namespace proto;
}  // namespace

void RxParserCounts::count(const RxParserPacket& p) {
  using enum PacketVerdict;
  const PacketVerdict v = p.parsed.verdict;
  good += v == Good;
  reserved += v == ReservedOpcode;
  bad_crc += v == BadIcrc || v == BadVcrc;
  bad += v != Good && v != ReservedOpcode && v != BadIcrc && v != BadVcrc;
  late += p.parsed.headers == Good && v != Good && v != BadIcrc && v != BadVcrc;
}

std::string RxParserCounts::text() const {
  return fmt::format(
      "good {}, of reserved opcodes {}, bad CRCs {}, bad {}, of them {} by their end", good,
      reserved, bad_crc, bad, late);
}

void RxParserLockstep::set_side_band(const Packet& p, In& control) {
  if (control.first) control.framing = u8(p.stream.framing);
  if (control.last) {
    control.icrc_ok = p.icrc_ok;
    control.vcrc_ok = p.vcrc_ok;
  }
}

rtl::BeatOf<rtl::Parsed> RxParserLockstep::expected(const Packet& p, u32 index, u32 beat_bytes) {
  const blocks::ParsedFrame& f = p.parsed;
  rtl::BeatOf<Out> beat;
  Out& c = beat.control;
  clear_headers(c);
  c.first = index == 0;
  c.last = (index + 1) * beat_bytes >= p.frame.size();
  c.verdict = c.last ? f.verdict : f.headers;
  c.payload_bytes = u16(f.payload_bytes());
  const u32 from = index * beat_bytes;
  c.bytes = u8(std::min(f.payload_bytes() - std::min(from, f.payload_bytes()), beat_bytes));
  if (c.bytes)
    std::copy_n(f.whole.begin() + f.packet.payload_offset + from, c.bytes, beat.data.begin());
  if (!f.has_transport()) return beat;
  put_transport(f.packet, f.addressing, c);
  if (f.has_rd_headers()) {
    c.rdeth = f.packet.rdeth;
    c.deth = f.packet.deth;
  }
  if (f.headers == PacketVerdict::Good) put_ext(*f.packet.opcode, f.packet, c);
  return beat;
}

std::string RxParserLockstep::describe(const Packet& p, bool left) {
  std::string verdict;
  if (left) {
    const VerdictRow& row = verdict_row(p.parsed.verdict);
    const bool good = p.parsed.verdict == PacketVerdict::Good;  // headers are valid
    verdict = fmt::format("; {} ({})", row.name, good ? "T12-1" : row.statement);
  }
  return fmt::format("packet {}: {}{}; {} bytes{}{}\n", p.number, p.what, verdict, p.frame.size(),
                     headers_of(p.frame, p.link()), hex_dump(p.frame));
}

template LockstepResult<RxParserLockstep> run_lockstep(const LockstepOptions<RxParserLockstep>&);
template ElasticResult<RxParserLockstep> run_elastic(const LockstepOptions<RxParserLockstep>&);
}  // namespace hca::testbench
