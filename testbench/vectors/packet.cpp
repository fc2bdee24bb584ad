// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/packet.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/transport/path_rules.h"
#include "model/proto/wire/form_rules.h"
#include "model/proto/wire/ip_checksum.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::array<std::string_view, 11> kKeys{
    "may", "qp", "port", "opcode", "payload", "hex", "ICRC", "edit", "cut", "global", "elsewhere"};
bool is_key(std::string_view name) {
  return std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end();
}

// The first opcode, or packet of an extended operation, that is wanted; nullptr if there is none.
template <class Wanted>
const OpcodeRow* find_opcode(const Wanted& wanted) {
  for (const OpcodeRow& row : kOpcodeRows)
    if (wanted(row)) return &row;
  for (const ExtendedRow& extended : kExtendedRows)
    if (wanted(extended.row)) return &extended.row;
  return nullptr;
}
const OpcodeRow& opcode_of(const JsonAt& json, Service service) {
  const std::string& name = json.text();
  if (const OpcodeRow* const row = find_opcode([&](const OpcodeRow& r) {
        return r.name == name && (r.service == service || r.service == Service::Cnp);
      }))
    return *row;
  // A name with its service: "UC SEND Only".
  if (const OpcodeRow* const row = find_opcode([&](const OpcodeRow& r) {
        return fmt::format("{} {}", name_of(r.service), r.name) == name;
      }))
    return *row;
  json.refuse(
      fmt::format("{} has no opcode '{}'", name_of(service), name),
      "the names of docs/generated/opcodes.md, with a service in front if it is another one");
}

std::string header_names(const Dissection& d) {
  std::string names;
  for (const HeaderPlace& place : d) names += fmt::format(" {}", place.header->name);
  return names;
}

// The places that the fields of a packet's JSON name: `visit(place, field, json)` for each.
template <class Visit>
void for_each_field(const JsonAt& json, const Dissection& d, const Visit& visit) {
  for (const auto& item : json.value().items()) {
    const std::string& name = item.key();
    const nlohmann::json& value = item.value();
    if (is_key(name)) continue;
    const JsonAt at = json[name];
    const auto header = std::find_if(
        d.begin(), d.end(), [&](const HeaderPlace& place) { return place.header->name == name; });
    if (header != d.end() && value.is_object()) {
      for (const auto& [inner, unused] : value.items()) {
        const FieldInfo* field = find_field(*header->header, inner);
        if (!field) at[inner].refuse("is no field of it", names_of_fields(*header->header));
        visit(*header, *field, at[inner]);
      }
      continue;
    }
    // A field of BTH or an extension header may stand alone.
    const auto bth = std::find_if(
        d.begin(), d.end(), [](const HeaderPlace& place) { return place.header->name == "BTH"; });
    const FieldInfo* field = nullptr;
    auto owner = bth;
    for (; owner != d.end(); ++owner)
      if ((field = find_field(*owner->header, name))) break;
    if (!field)
      at.refuse("the packet has no such header or field",
                "the headers" + header_names(d) + " and the fields from BTH on");
    visit(*owner, *field, at);
  }
}

bool gives(const JsonAt& json, std::string_view header, std::string_view field) {
  return json.has(header) && json[header].value().is_object() && json[header].has(field);
}

void mend_ip_checksum(u8* frame, const Dissection& d) {
  for (const HeaderPlace& place : d)
    if (place.header->name == Layout<Ipv4>::name) {
      u8* ip = frame + place.offset;
      store_be<2>(ip + 10, 0);
      store_be<2>(ip + 10, u16(~folded(sum_of_words(ip, bytes_of<Ipv4>()))));
    }
}

void insert_crcs(u8* frame, const FrameShape& shape, std::optional<u32> icrc) {
  const u32 value = icrc ? *icrc : icrc_of(frame, shape);
  for (u32 i = 0; i < kIcrcBytes; ++i) frame[shape.icrc_offset + i] = u8(value >> 8 * i);
  if (!is_native(shape.framing)) return;
  const u32 end = shape.icrc_offset + kIcrcBytes;
  const u16 vcrc = crc16_vcrc(0, frame, end);
  frame[end] = u8(vcrc);
  frame[end + 1] = u8(vcrc >> 8);
}

void edit(const JsonAt& json, Frame& frame) {
  for (const JsonAt& change : json.entries()) {
    const std::vector<u8> bytes = change["hex"].hex();
    const u64 at = change["at"].number(0, frame.size());
    if (bytes.size() > frame.size() - at)
      change.refuse("reaches beyond the frame", fmt::format("{} bytes", frame.size() - at));
    std::copy(bytes.begin(), bytes.end(), frame.begin() + std::ptrdiff_t(at));
  }
}
}  // namespace

Frame build_packet(const JsonAt& json, const PacketContext& context) {
  if (json.has("hex")) return json["hex"].hex();
  const PeerView& peer = context.peer;
  const OpcodeRow& row = opcode_of(json["opcode"], peer.service);
  const std::vector<u8> payload =
      json.has("payload") ? context.bytes_of(json["payload"]) : std::vector<u8>{};
  const bool global = json.has("global") && json["global"].value() == true;
  const Path& path = global ? peer.global_from_peer : peer.from_peer;
  const FrameShape shape = shape_of(path, row, u32(payload.size()));
  const bool ends = row.position == Position::Last || row.position == Position::Only;
  Bth bth{};
  bth.mig_req = true;
  bth.pkey = peer.pkey;
  bth.dest_qp = peer.qpn;
  bth.ack_req = row.is_request && ends && row.service != Service::Ud && row.service != Service::Uc;
  ExtHeaders ext{};
  if (row.traits().places_payload()) ext.reth.dma_len = u32(payload.size());
  ext.eoeth.extended_opcode = row.is_class() ? u16(0) : extended_opcode_of(row);
  ext.deth = {peer.qkey, peer.peer_qpn};
  ext.xrc_eth = {peer.xrc_srqn};
  ext.rdeth = {peer.eecn};
  Frame frame(shape.icrc_offset + kIcrcBytes + (is_native(shape.framing) ? kVcrcBytes : 0));
  write_headers(path, row, bth, ext, u32(payload.size()), frame.data());
  std::copy(payload.begin(), payload.end(), frame.begin() + shape.payload_offset);
  const Dissection d = dissect(frame, framing_row(shape.framing).link);
  for_each_field(json, d, [&](const HeaderPlace& place, const FieldInfo& field, const JsonAt& at) {
    set_field(frame.data() + place.offset, field, at, context.symbols);
  });
  if (!gives(json, Layout<Ipv4>::name, "HeaderChecksum")) mend_ip_checksum(frame.data(), d);
  std::optional<u32> icrc;
  if (json.has("ICRC"))
    icrc = json["ICRC"].value() == "bad" ? icrc_of(frame.data(), shape) ^ 1
                                         : u32(context.symbols.value(json["ICRC"], ~u32{0}));
  insert_crcs(frame.data(), shape, icrc);
  if (json.has("edit")) edit(json["edit"], frame);
  if (json.has("cut")) frame.resize(json["cut"].number(1, frame.size() - 1));
  return frame;
}

namespace {
// The first byte that differs, or the length.
std::optional<FieldDifference> compare_bytes(std::string_view what, std::span<const u8> expected,
                                             std::span<const u8> got) {
  if (expected.size() != got.size())
    return FieldDifference{std::string(what), "Length", std::to_string(expected.size()),
                           std::to_string(got.size())};
  const auto [e, g] = std::mismatch(expected.begin(), expected.end(), got.begin());
  if (e == expected.end()) return {};
  return FieldDifference{std::string(what), fmt::format("Byte {}", e - expected.begin()),
                         fmt::format("{:02x}", *e), fmt::format("{:02x}", *g)};
}
}  // namespace

std::vector<FieldDifference> compare_packet(const JsonAt& json, const PacketContext& context,
                                            std::span<const u8> frame) {
  const PeerView& peer = context.peer;
  std::vector<FieldDifference> all;
  if (json.has("hex"))
    if (auto differs = compare_bytes("frame", json["hex"].hex(), frame))
      all.push_back(std::move(*differs));
  const Dissection d = dissect(frame, framing_row(peer.from_peer.framing).link);
  for (const BrokenRule& rule : broken_rules(frame, d))
    all.push_back(
        {"frame", "Form", "no broken rule", rule.statement.data() + (": " + rule.sentence)});
  if (d.structure != PacketVerdict::Good) {
    all.push_back({"frame", "Structure", "good", std::string(verdict_row(d.structure).name)});
    return all;
  }
  const ParsedPacket& p = d.packet;
  const bool global = json.has("global") && json["global"].value() == true;
  if (!comes_from_peer(global ? peer.global_from_peer : peer.from_peer, frame.data(), p) &&
      !json.has("elsewhere"))
    all.push_back({"frame", "Addresses", "to the peer", "others"});
  if (!gives(json, "BTH", "P_Key") && !json.has("P_Key") && p.bth.pkey != peer.pkey)
    all.push_back(
        {"BTH", "P_Key", fmt::format("{:#x}", peer.pkey), fmt::format("{:#x}", p.bth.pkey)});
  if (json.has("opcode"))
    if (const OpcodeRow& row = opcode_of(json["opcode"], peer.service); &row != p.opcode) {
      all.push_back({"BTH", "OpCode", std::string(row.name), std::string(p.opcode->name)});
      return all;
    }
  constexpr std::string_view kContext = "EEContext";
  const bool names_context = p.opcode && p.has(Ext::Rdeth);
  if (names_context && !gives(json, Layout<Rdeth>::name, kContext) && !json.has(kContext) &&
      p.rdeth.ee_context != peer.peer_eecn)
    all.push_back({"RDETH", std::string(kContext), fmt::format("{:#x}", peer.peer_eecn),
                   fmt::format("{:#x}", p.rdeth.ee_context)});
  for_each_field(json, d, [&](const HeaderPlace& place, const FieldInfo& field, const JsonAt& at) {
    if (auto differs =
            compare_field(frame.data() + place.offset, *place.header, field, at, context.symbols))
      all.push_back(std::move(*differs));
  });
  if (!json.has("payload")) return all;
  const std::vector<u8> expected = context.bytes_of(json["payload"]);
  const std::span<const u8> got = frame.subspan(p.payload_offset, p.payload_bytes);
  if (auto differs = compare_bytes("payload", expected, got)) all.push_back(std::move(*differs));
  return all;
}
}  // namespace hca::testbench
