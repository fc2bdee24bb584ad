// SPDX-License-Identifier: Apache-2.0
#include "testbench/packet_listing.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>

#include "model/proto/print.h"

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

std::span<const u8> icrc_bytes(const FrameReport& r) {
  return std::span(r.frame.captured.bytes).subspan(r.dissection.packet.icrc_offset, kIcrcBytes);
}
std::span<const u8> vcrc_bytes(const FrameReport& r) {
  return std::span(r.frame.captured.bytes)
      .subspan(r.dissection.packet.icrc_offset + kIcrcBytes, kVcrcBytes);
}
// What the four bytes should have been, in the order of the wire.
std::array<u8, 4> right_icrc(const FrameReport& r) {
  const u32 crc = icrc_of(r.frame.captured.bytes.data(), r.dissection.packet);
  return {u8(crc), u8(crc >> 8), u8(crc >> 16), u8(crc >> 24)};
}
std::array<u8, 2> right_vcrc(const FrameReport& r) {
  const u16 crc =
      crc16_vcrc(0, r.frame.captured.bytes.data(), r.dissection.packet.icrc_offset + kIcrcBytes);
  return {u8(crc), u8(crc >> 8)};
}
bool has_vcrc(const FrameReport& r) {
  return r.dissection.has_icrc && is_native(r.dissection.packet.framing);
}
std::string hex_bytes(std::span<const u8> bytes) {
  return fmt::format("{:02X}", fmt::join(bytes, " "));
}

std::string ends_text(const FrameReport& r) {
  const Addressing a = addressing_of(r.frame.captured.bytes.data(), r.dissection.packet);
  switch (r.dissection.packet.framing) {
    case Framing::IbLocal:
      return fmt::format("LID {} > {}", a.slid, a.dlid);
    case Framing::RoceV2Ip4:
      return ipv4_text(ipv4_of_gid(a.source_gid)) + " > " +
             ipv4_text(ipv4_of_gid(a.destination_gid));
    default:
      return gid_text(a.source_gid.bytes.data()) + " > " + gid_text(a.destination_gid.bytes.data());
  }
}

std::string summary(const FrameReport& r) {
  const Dissection& d = r.dissection;
  if (!r.frame.captured.note.empty()) return r.frame.captured.note;
  if (r.is_cut()) return "cut by the capture: what is missing is not judged";
  if (d.structure != PacketVerdict::Good) {
    const VerdictRow& row = verdict_row(d.structure);
    return fmt::format("{}: {}", r.is_foreign() ? "another protocol" : row.name, row.sentence);
  }
  const OpcodeRow& row = *d.packet.opcode;
  return fmt::format("{}  {}  {} {}  QP 0x{:06X}  PSN {}  {} B", framing_row(d.packet.framing).name,
                     ends_text(r), name_of(row.service), row.name, d.packet.bth.dest_qp,
                     d.packet.bth.psn, d.packet.payload_bytes);
}

std::string field_lines(const HeaderPlace& place, const u8* header) {
  std::string text;
  for (const FieldInfo& f : *place.header) {
    if (f.is_reserved && get_bits(header, f.bit_at, std::min(f.bits, 64u)) == 0) continue;
    const u32 byte = place.offset + f.bit_at / 8;
    const bool whole_bytes = f.bit_at % 8 == 0 && f.bits % 8 == 0;
    const std::string at =
        whole_bytes ? fmt::format("{}", byte) : fmt::format("{}.{}", byte, 7 - f.bit_at % 8);
    const std::string meaning = meaning_of(*place.header, f, header);
    text += fmt::format("  {:>6}  {:<20}{}{}\n", at, f.name, value_text(f, header),
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
  std::string text = fmt::format("payload at {}: {} bytes", p.payload_offset, p.payload_bytes);
  if (p.bth.pad_count) text += fmt::format(" and {} of pad", p.bth.pad_count);
  return text + "\n" +
         dump(std::span(r.frame.captured.bytes).subspan(p.payload_offset, p.payload_bytes),
              p.payload_offset, limit);
}

std::string crc_lines(const FrameReport& r) {
  const Dissection& d = r.dissection;
  if (!d.has_icrc) return "";
  std::string text =
      crc_line("ICRC", d.packet.icrc_offset, icrc_bytes(r), d.icrc_is_good, right_icrc(r));
  if (has_vcrc(r))
    text += crc_line("VCRC", d.packet.icrc_offset + kIcrcBytes, vcrc_bytes(r), d.vcrc_is_good,
                     right_vcrc(r));
  const u32 end = d.packet.icrc_offset + kIcrcBytes + (has_vcrc(r) ? kVcrcBytes : 0);
  if (r.frame.captured.bytes.size() > end)
    text +=
        fmt::format("Ethernet padding at {}: {} bytes\n", end, r.frame.captured.bytes.size() - end);
  return text;
}

}  // namespace

FrameReport::FrameReport(const SourceFrame& source) : frame(source) {
  if (!source.captured.note.empty()) {
    dissection.structure = PacketVerdict::RawPacket;
    return;
  }
  dissection = dissect(source.captured.bytes, source.captured.link);
  broken = broken_rules(source.captured.bytes, dissection);
  if (is_cut())
    std::erase_if(broken, [](const BrokenRule& rule) {
      return rule.statement == verdict_row(PacketVerdict::Truncated).statement;
    });
}

std::size_t FrameReport::count(Grade grade) const {
  return std::size_t(std::ranges::count(broken, grade, &BrokenRule::grade));
}

bool FrameReport::is_cut() const {
  return dissection.structure == PacketVerdict::Truncated &&
         frame.captured.bytes.size() < frame.captured.bytes_on_wire;
}

std::string one_line(const FrameReport& r) {
  std::string marks;
  if (r.dissection.has_icrc && !r.dissection.icrc_is_good) marks += "  ICRC WRONG";
  if (has_vcrc(r) && !r.dissection.vcrc_is_good) marks += "  VCRC WRONG";
  for (const BrokenRule& rule : r.broken)
    if (rule.statement != "T12-1")
      marks += rule.grade == Grade::Broken ? fmt::format("  [{}]", rule.statement)
                                           : fmt::format("  ({})", rule.statement);
  return fmt::format("{:>6}  {}{}{}\n", r.frame.number,
                     r.frame.has_time ? time_text(r.frame.captured.time_ns) + "  " : "", summary(r),
                     marks);
}

std::string listing(const FrameReport& r, std::size_t payload_limit) {
  const CapturedFrame& captured = r.frame.captured;
  std::string text = fmt::format("{} frame {}", r.frame.source, r.frame.number);
  if (r.frame.has_time) text += fmt::format("  {}", time_text(captured.time_ns));
  text += fmt::format("  {} bytes", captured.bytes.size());
  if (captured.bytes.size() < captured.bytes_on_wire)
    text += fmt::format(" of {} on the wire", captured.bytes_on_wire);
  text += fmt::format("\n{}\n", summary(r));
  for (const HeaderPlace& place : r.dissection) {
    text += fmt::format("{} at {}\n", place.header->name, place.offset);
    text += field_lines(place, captured.bytes.data() + place.offset);
  }
  text += payload_lines(r, payload_limit) + crc_lines(r);
  for (const BrokenRule& rule : r.broken)
    text += fmt::format("{} {:<8} {}\n", rule.grade == Grade::Broken ? "BROKEN" : "REMARK",
                        rule.statement, rule.sentence);
  return text;
}

nlohmann::ordered_json to_json(const FrameReport& r) {
  using Json = nlohmann::ordered_json;
  const Dissection& d = r.dissection;
  const CapturedFrame& captured = r.frame.captured;
  Json json{{"source", r.frame.source}, {"frame", r.frame.number}};
  if (r.frame.has_time) json["time_ns"] = captured.time_ns;
  json["bytes"] = captured.bytes.size();
  json["bytes_on_wire"] = captured.bytes_on_wire;
  json["summary"] = summary(r);
  json["verdict"] = !captured.note.empty()
                        ? captured.note
                        : std::string(r.is_cut() ? "cut" : verdict_row(d.structure).name);
  if (d.structure == PacketVerdict::Good) {
    json["framing"] = framing_row(d.packet.framing).name;
    json["service"] = name_of(d.packet.opcode->service);
    json["opcode"] = d.packet.opcode->name;
  }
  json["headers"] = Json::array();
  for (const HeaderPlace& place : d) {
    const u8* const header = captured.bytes.data() + place.offset;
    Json fields = Json::object();
    for (const FieldInfo& f : *place.header) {
      const bool is_text = f.show == Show::Gid || f.show == Show::Mac || f.show == Show::Ipv4;
      fields[std::string(f.name)] =
          is_text ? Json(value_text(f, header)) : Json(get_bits(header, f.bit_at, f.bits));
    }
    json["headers"].push_back(
        {{"header", place.header->name}, {"offset", place.offset}, {"fields", fields}});
  }
  if (d.structure == PacketVerdict::Good)
    json["payload"] = {{"offset", d.packet.payload_offset},
                       {"bytes", d.packet.payload_bytes},
                       {"pad", d.packet.bth.pad_count},
                       {"hex", fmt::format("{:02x}", fmt::join(std::span(captured.bytes)
                                                                   .subspan(d.packet.payload_offset,
                                                                            d.packet.payload_bytes),
                                                               ""))}};
  if (d.has_icrc)
    json["icrc"] = {{"offset", d.packet.icrc_offset},
                    {"bytes", hex_bytes(icrc_bytes(r))},
                    {"good", d.icrc_is_good},
                    {"right", hex_bytes(right_icrc(r))}};
  if (has_vcrc(r))
    json["vcrc"] = {{"offset", d.packet.icrc_offset + kIcrcBytes},
                    {"bytes", hex_bytes(vcrc_bytes(r))},
                    {"good", d.vcrc_is_good},
                    {"right", hex_bytes(right_vcrc(r))}};
  json["broken_rules"] = json["remarks"] = Json::array();
  for (const BrokenRule& rule : r.broken)
    json[rule.grade == Grade::Broken ? "broken_rules" : "remarks"].push_back(
        {{"statement", rule.statement}, {"sentence", rule.sentence}, {"reason", rule.reason}});
  return json;
}

}  // namespace hca::testbench
