// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "testbench/vectors/format.h"
#include "testbench/vectors/format_values.h"

namespace hca::testbench {
using namespace proto;

namespace {
// PktLen of the LRH counts 2047 words, headers among them.
constexpr u64 kMaxPayload = 8000;
void a_payload(const JsonAt& json, const SetupPlan* plan) {
  bytes_or_none(json, plan);
  if (const u64 bytes = plan->count_bytes(json); bytes > kMaxPayload)
    json.refuse("has " + std::to_string(bytes) + " bytes",
                "0 .. " + std::to_string(kMaxPayload) + " of one packet");
}
void an_icrc(const JsonAt& json, const SetupPlan* plan) {
  if (json.value() != "bad") a_number<~u32{0}>(json, plan);
}
void a_position(const JsonAt& json, const SetupPlan*) { json.number(); }
constexpr std::array kEditKeys{FormatKey{"at", a_position, true}, FormatKey{"hex", some_hex, true}};
void some_edits(const JsonAt& json, const SetupPlan* plan) {
  const std::vector<JsonAt> edits = json.entries();
  must_hold_some(json);
  for (const JsonAt& edit : edits) check_object(edit, kEditKeys, plan);
}
// The peer's way to the native framing without GRH has one with it, too.
void a_global(const JsonAt& json, const SetupPlan* plan) {
  only_true(json, plan);
  if (Framing(plan->port.framing) != Framing::IbLocal)
    json.refuse("is not for this framing", "IB local, which has a GRH in some packets only");
}
void an_opcode_name(const JsonAt& json, const SetupPlan*) {
  json.text();
}  // build_packet knows them

constexpr FormatKey kOpcodeKey{"opcode", an_opcode_name, true}, kPayloadKey{"payload", a_payload},
    kGlobalKey{"global", a_global};
constexpr std::array kInjectedKeys{kQp,
                                   kOpcodeKey,
                                   kPayloadKey,
                                   kGlobalKey,
                                   FormatKey{"port", a_port_of_setup},
                                   FormatKey{"ICRC", an_icrc},
                                   FormatKey{"edit", some_edits},
                                   FormatKey{"cut", a_position}};
constexpr std::array kWholeFrameKeys{kQp, FormatKey{"port", a_port_of_setup},
                                     FormatKey{"hex", some_hex, true}};
constexpr std::array kSentKeys{kQp,
                               kOpcodeKey,
                               kPayloadKey,
                               kGlobalKey,
                               FormatKey{"may", only_true},
                               FormatKey{"elsewhere", only_true}};
constexpr std::array kWholeSentKeys{kQp, FormatKey{"may", only_true},
                                    FormatKey{"hex", some_hex, true}};
// Keys of the other kind of packet: they are no fields.
constexpr std::array<std::string_view, 7> kNoFields{"may",  "elsewhere", "port", "hex",
                                                    "ICRC", "edit",      "cut"};

void check_packet(const JsonAt& packet, FormatKeys keys, const SetupPlan& plan) {
  if (!packet.value().is_object()) packet.refuse("is no packet", "an object with an opcode");
  for (const auto& [name, unused] : packet.value().items()) {
    const FormatKey* const key = find_key(keys, name);
    if (key)
      key->rule(packet[name], &plan);
    else if (std::find(kNoFields.begin(), kNoFields.end(), name) != kNoFields.end())
      packet[name].refuse("is not for this packet", names_of(keys) + ", and fields");
    else if (packet[name].value().is_structured())
      must_hold_some(packet[name]);  // a header
  }
  packet["opcode"];
  nlohmann::json built = packet.value();
  // A datagram to others may have a GRH where those to the peer have none.
  if (packet.has("elsewhere") && packet.has("GRH")) built["global"] = true;
  build_packet(JsonAt(built, packet.path()), plan.packet_context(plan.qp_of(packet)));
}
void check_by_fields_or_hex(const JsonAt& packet, FormatKeys fields, FormatKeys whole,
                            const SetupPlan& plan) {
  if (!packet.has("hex")) return check_packet(packet, fields, plan);
  check_object(packet, whole, &plan);
  plan.qp_of(packet);
}
}  // namespace

void check_injected(const JsonAt& packet, const SetupPlan& plan) {
  check_by_fields_or_hex(packet, kInjectedKeys, kWholeFrameKeys, plan);
}
void check_sent(const JsonAt& packet, const SetupPlan& plan) {
  check_by_fields_or_hex(packet, kSentKeys, kWholeSentKeys, plan);
}
void a_port_of_setup(const JsonAt& json, const SetupPlan* plan) { json.number(1, plan->ports); }
}  // namespace hca::testbench
