// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/proto/wire/print.h"
#include "testbench/packets/packet_parts.h"

namespace hca::testbench {
using namespace proto;
using Json = nlohmann::ordered_json;

namespace {
Json header_json(const HeaderPlace& place, std::span<const u8> frame) {
  const u8* const header = frame.data() + place.offset;
  Json fields = Json::object();
  for (const FieldInfo& f : *place.header) {
    const bool is_text =
        f.show == Show::Gid || f.show == Show::Mac || f.show == Show::Ipv4 || f.bits > 64;
    std::string name(f.name);
    if (fields.contains(name)) name += fmt::format(" at {}", f.bit_at / 8);  // one more "Reserved"
    fields[name] = is_text ? Json(value_text(f, header)) : Json(get_bits(header, f.bit_at, f.bits));
  }
  return {{"header", place.header->name}, {"offset", place.offset}, {"fields", fields}};
}
}  // namespace

nlohmann::ordered_json to_json(const FrameReport& r) {
  const OpenedFrame& d = r.dissection;
  const CapturedFrame& captured = r.frame.captured;
  Json json{{"source", r.frame.source}, {"frame", r.frame.number}};
  if (!r.frame.note.empty()) json["note"] = r.frame.note;
  if (r.frame.has_time) json["time_ns"] = captured.time_ns;
  if (!captured.interface.empty()) json["interface"] = captured.interface;
  json["bytes"] = captured.bytes.size();
  json["bytes_on_wire"] = captured.bytes_on_wire;
  json["summary"] = summary(r);
  json["verdict"] = r.is_judged() ? verdict_row(d.structure).name : "not judged";
  if (!r.is_judged()) json["not_judged"] = d.other;
  if (r.is_cut()) json["cut"] = true;
  if (d.structure == PacketVerdict::Good) {
    if (d.has_network) json["framing"] = framing_row(d.packet.framing).name;
    json["service"] = name_of(d.packet.opcode->service);
    json["opcode"] = d.packet.opcode->name;
    if (!r.mad.empty()) json["mad"] = r.mad;
  }
  json["headers"] = Json::array();
  for (const HeaderPlace& place : d) json["headers"].push_back(header_json(place, captured.bytes));
  if (d.structure == PacketVerdict::Good)
    json["payload"] = {{"offset", d.packet.payload_offset},
                       {"bytes", d.packet.payload_bytes},
                       {"pad", d.packet.bth.pad_count},
                       {"hex", fmt::format("{:02x}", fmt::join(payload_of(r), ""))}};
  if (d.has_icrc)
    json["icrc"] = {{"offset", d.packet.icrc_offset},
                    {"bytes", hex_bytes(icrc_bytes(r))},
                    {"good", d.icrc_is_good},
                    {"right", hex_bytes(right_icrc(r))}};
  if (r.has_vcrc())
    json["vcrc"] = {{"offset", d.packet.icrc_offset + kIcrcBytes},
                    {"bytes", hex_bytes(vcrc_bytes(r))},
                    {"good", d.vcrc_is_good},
                    {"right", hex_bytes(right_vcrc(r))}};
  if (r.fcs_bytes)
    json["fcs"] = {{"bytes", hex_bytes(captured_bytes(r).last(r.fcs_bytes))},
                   {"good", r.fcs_is_good}};
  json["broken_rules"] = json["remarks"] = Json::array();
  for (const BrokenRule& rule : r.broken)
    json[rule.grade == Grade::Broken ? "broken_rules" : "remarks"].push_back(
        {{"statement", rule.statement}, {"sentence", rule.sentence}, {"reason", rule.reason}});
  return json;
}

}  // namespace hca::testbench
