// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/packet_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "model/proto/wire/print.h"

namespace hca::testbench {
namespace {

using namespace proto;

std::string time_text(u64 time_ns) {
  const std::time_t seconds = std::time_t(time_ns / kNsPerSecond);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09}", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     time_ns % kNsPerSecond);
}

// All bits are 0, however many there are.
bool is_zero(const FieldInfo& f, const u8* header) {
  for (unsigned bit = 0; bit < f.bits; bit += 64)
    if (get_bits(header, f.bit_at + bit, std::min(f.bits - bit, 64u)) != 0) return false;
  return true;
}

// A long byte string without the zeros at its end.
std::string shown_value(const FieldInfo& f, const u8* header) {
  if (f.bits <= 64 || f.show == Show::Gid) return value_text(f, header);
  const u8* const first = header + f.bit_at / 8;
  std::size_t used = f.bits / 8;
  while (used > 0 && first[used - 1] == 0) --used;
  const std::size_t zeros = f.bits / 8 - used;
  if (zeros == 0) return fmt::format("{:02X}", fmt::join(std::span(first, used), ""));
  return fmt::format("{:02X}{}{} bytes of 0", fmt::join(std::span(first, used), ""),
                     used ? " and " : "", zeros);
}

// `bytes`: of the header that are there; fields beyond them are left out.
std::string field_lines(const HeaderPlace& place, const u8* header, std::size_t bytes) {
  std::string text;
  for (const FieldInfo& f : *place.header) {
    if (f.bit_at + f.bits > 8 * bytes) break;
    if (f.is_reserved && is_zero(f, header)) continue;
    const u32 byte = place.offset + f.bit_at / 8;
    const bool whole_bytes = f.bit_at % 8 == 0 && f.bits % 8 == 0;
    const std::string at =
        whole_bytes ? fmt::format("{}", byte) : fmt::format("{}.{}", byte, 7 - f.bit_at % 8);
    const std::string meaning = meaning_of(*place.header, f, header);
    text += fmt::format("  {:>6}  {:<19} {}{}\n", at, f.name, shown_value(f, header),
                        meaning.empty() ? "" : "  " + meaning);
  }
  return text;
}

std::string dump(std::span<const u8> bytes, u32 offset, std::size_t limit) {
  std::string text;
  const std::size_t shown = std::min(bytes.size(), limit);
  for (std::size_t at = 0; at < shown; at += 16) {
    const std::span<const u8> row = bytes.subspan(at, std::min<std::size_t>(16, shown - at));
    std::string printable;
    for (const u8 c : row) printable += c >= 0x20 && c < 0x7F ? char(c) : '.';
    text += fmt::format("  {:>6}  {:<47}  {}\n", offset + at, hex_bytes(row), printable);
  }
  if (shown < bytes.size())
    text += fmt::format("          ... {} bytes more\n", bytes.size() - shown);
  return text;
}

std::string crc_line(std::string_view name, u32 offset, std::span<const u8> bytes, bool good,
                     std::span<const u8> right) {
  return fmt::format("{} at {}: {}  {}\n", name, offset, hex_bytes(bytes),
                     good ? "good" : fmt::format("WRONG, should be {}", hex_bytes(right)));
}

std::string payload_lines(const FrameReport& r, std::size_t limit) {
  const ParsedPacket& p = r.dissection.packet;
  if (r.dissection.structure != PacketVerdict::Good || p.icrc_offset == p.payload_offset) return "";
  const std::span<const u8> payload = payload_of(r);
  std::string text = fmt::format("payload at {}: {} bytes", p.payload_offset, p.payload_bytes);
  if (p.bth.pad_count) text += fmt::format(" and {} of pad", p.bth.pad_count);
  if (payload.size() < p.payload_bytes) text += fmt::format(", {} captured", payload.size());
  return text + "\n" + dump(payload, p.payload_offset, limit);
}

// The bytes after the packet in its frame: padding and FCS.
std::string end_lines(const FrameReport& r) {
  const ParsedPacket& p = r.dissection.packet;
  const std::size_t fcs_at = r.frame.captured.bytes.size() - r.fcs_bytes;
  const u32 end = p.icrc_offset + kIcrcBytes + (r.has_vcrc() ? kVcrcBytes : 0);
  std::string text;
  if (r.dissection.has_icrc && fcs_at > end)
    text += fmt::format("Ethernet padding at {}: {} bytes\n", end, fcs_at - end);
  if (r.fcs_bytes)
    text += fmt::format("FCS at {}: {}  {}\n", fcs_at, hex_bytes(captured_bytes(r).subspan(fcs_at)),
                        r.fcs_is_good ? "good" : "WRONG");
  return text;
}

std::string crc_lines(const FrameReport& r) {
  const OpenedFrame& d = r.dissection;
  std::string text;
  if (d.has_icrc)
    text += crc_line("ICRC", d.packet.icrc_offset, icrc_bytes(r), d.icrc_is_good, right_icrc(r));
  else if (d.structure == PacketVerdict::Good && !d.has_network)
    text += d.has_extensions
                ? "ICRC not checked: no statement says how it covers extension headers of IPv6\n"
                : "ICRC not checked: it covers headers that are not here\n";
  if (r.has_vcrc())
    text += crc_line("VCRC", d.packet.icrc_offset + kIcrcBytes, vcrc_bytes(r), d.vcrc_is_good,
                     right_vcrc(r));
  return text + end_lines(r);
}

}  // namespace

std::string one_line(const FrameReport& r) {
  std::string marks;
  if (r.dissection.has_icrc && !r.dissection.icrc_is_good) marks += "  ICRC WRONG";
  if (r.has_vcrc() && !r.dissection.vcrc_is_good) marks += "  VCRC WRONG";
  for (const BrokenRule& rule : r.broken)
    if (rule.statement != "T12-1")
      marks += rule.grade == Grade::Broken ? fmt::format("  [{}]", rule.statement)
                                           : fmt::format("  ({})", rule.statement);
  if (!r.frame.note.empty()) marks += fmt::format("  ({})", r.frame.note);
  return fmt::format("{:>6}  {}{}{}\n", r.frame.number,
                     r.frame.has_time ? time_text(r.frame.captured.time_ns) + "  " : "", summary(r),
                     marks);
}

std::string listing(const FrameReport& r, std::size_t payload_limit) {
  const CapturedFrame& captured = r.frame.captured;
  std::string text = fmt::format("{} frame {}", r.frame.source, r.frame.number);
  if (!r.frame.note.empty()) text += fmt::format(" ({})", r.frame.note);
  if (r.frame.has_time) text += fmt::format("  {}", time_text(captured.time_ns));
  if (!captured.interface.empty() && !captured.interface.starts_with("interface "))
    text += "  " + captured.interface;
  text += fmt::format("  {} bytes", captured.bytes.size());
  if (captured.bytes.size() < captured.bytes_on_wire)
    text += fmt::format(" of {} on the wire", captured.bytes_on_wire);
  text += fmt::format("\n{}\n", summary(r));
  for (const HeaderPlace& place : r.dissection) {
    text += fmt::format("{} at {}\n", place.header->name, place.offset);
    text += field_lines(place, captured.bytes.data() + place.offset, place.header->bytes);
  }
  if (const HeaderPlace& part = r.dissection.partial; part.header != nullptr) {
    text += fmt::format("{} at {}, {} of {} bytes\n", part.header->name, part.offset,
                        captured.bytes.size() - part.offset, part.header->bytes);
    text +=
        field_lines(part, captured.bytes.data() + part.offset, captured.bytes.size() - part.offset);
  }
  text += payload_lines(r, payload_limit) + crc_lines(r);
  for (const BrokenRule& rule : r.broken)
    text += fmt::format("{} {:<8} {}\n", rule.grade == Grade::Broken ? "BROKEN" : "REMARK",
                        rule.statement, rule.sentence);
  return text;
}

}  // namespace hca::testbench
