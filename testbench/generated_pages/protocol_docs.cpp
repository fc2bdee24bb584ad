// SPDX-License-Identifier: Apache-2.0
#include "testbench/generated_pages/protocol_docs.h"

#include <fmt/format.h>

#include <vector>

#include "model/proto/transport/syndrome.h"
#include "model/proto/transport/timeout.h"
#include "model/proto/wire/dissect.h"
#include "model/proto/wire/form_rules.h"
#include "model/proto/wire/outer_headers.h"

namespace hca::testbench {
namespace {

using namespace proto;

// The bits as the specification numbers them: bit 7 is the most significant of a byte.
std::string bits_text(const FieldInfo& f) {
  const unsigned first = f.bit_at / 8, last = (f.bit_at + f.bits - 1) / 8;
  const unsigned high = 7 - f.bit_at % 8, low = 7 - (f.bit_at + f.bits - 1) % 8;
  if (high == 7 && low == 0) return "";
  if (first == last) return high == low ? fmt::format("{}", high) : fmt::format("{}:{}", high, low);
  return fmt::format("{}.{} to {}.{}", first, high, last, low);
}
std::string bytes_text(const FieldInfo& f) {
  const unsigned first = f.bit_at / 8, last = (f.bit_at + f.bits - 1) / 8;
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string_view icrc_text(const HeaderInfo& header, const FieldInfo& f) {
  bool outside = header.name == Layout<Ethernet>::name || header.name == Layout<Vlan>::name;
  for (const HeaderInfo& outer : kOuterHeaders) outside |= header.name == outer.name;
  return outside ? "not covered" : f.icrc == Icrc::Variant ? "variant" : "covered";
}

std::string header_section(const HeaderInfo& header) {
  std::string text = fmt::format(
      "\n## {}, {} bytes\n\n| byte | bits | field | width | ICRC | sent as 0, ignored on receipt "
      "|\n"
      "|---|---|---|---|---|---|\n",
      header.name, header.bytes);
  for (const FieldInfo& f : header)
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", bytes_text(f), bits_text(f), f.name,
                        f.bits, icrc_text(header, f), f.is_reserved ? f.statement : "");
  return text;
}

std::string_view text_of(Position position) {
  constexpr std::array<std::string_view, 4> names{"First", "Middle", "Last", "Only"};
  return names[unsigned(position)];
}
std::string_view text_of(PayloadRule rule) {
  constexpr std::array<std::string_view, 6> texts{"L = 0",          "L = PMTU", "1 <= L <= PMTU",
                                                  "0 <= L <= PMTU", "L = 8",    "0 <= L <= 256"};
  return texts[unsigned(rule)];
}

std::string headers_text(const OpcodeRow& row) {
  std::string text;
  row.ext.for_each([&](Ext e) {
    text += text.empty() ? "" : " ";
    text += kExtHeaders[unsigned(e)].name;
  });
  return text;
}

}  // namespace

std::string headers_document() {
  std::string text =
      "# Headers\n\nEvery header field by field. Bit 7 is the most significant bit of a byte, byte "
      "0 is sent first, numbers are big-endian.\nVariant bits are replaced by ones when the ICRC "
      "is computed. Before a GRH or IP header the whole LRH is variant (in RoCE eight bytes of "
      "ones replace it).\nThe headers from SLL on surround packets in captures; the device neither "
      "sends nor accepts them.\n";
  for (const HeaderInfo& header : kBaseHeaders) text += header_section(header);
  for (const HeaderInfo& header : kExtHeaders) text += header_section(header);
  for (const HeaderInfo& header : kOuterHeaders) text += header_section(header);
  text +=
      "\n## Framings\n\n| framing | covered headers before the BTH | eight bytes of ones before "
      "them |\n|---|---|---|\n";
  for (const FramingRow& row : kFramingRows)
    text += fmt::format("| {} | {} bytes | {} |\n", row.name, row.covered_header_bytes,
                        row.icrc_start != 0 ? "yes" : "no");
  return text;
}

std::string opcodes_document() {
  std::string text =
      "# Opcodes\n\nThe headers follow the BTH in this order. L: payload bytes without pad.\nOther "
      "opcodes are reserved; 0xC0-0xFF belong to manufacturers.\n\n| opcode | service | name | "
      "position | goes to | headers | payload |\n|---|---|---|---|---|---|---|\n";
  for (const OpcodeRow& row : kOpcodeRows)
    text +=
        fmt::format("| 0x{:02X} | {} | {} | {} | {} | {} | {} |\n", row.code, name_of(row.service),
                    row.name, text_of(row.position), row.is_request ? "responder" : "requester",
                    headers_text(row), text_of(row.payload));
  text +=
      "\n## Extended operations\n\nThe Extended OpCode of an EOETH names an operation of its "
      "class; the numbers are this model's own. A packet's position\nfollows from Offset, payload "
      "and DMALen.\n\n| opcode | Extended OpCode | service | name | position | headers | payload "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const ExtendedRow& e : kExtendedRows)
    text += fmt::format("| 0x{:02X} | 0x{:04X} | {} | {} | {} | {} | {} |\n", e.row.code, e.code,
                        name_of(e.row.service), e.row.name, text_of(e.row.position),
                        headers_text(e.row), text_of(e.row.payload));
  return text;
}

std::string packet_rules_document() {
  std::string text =
      "# Checks of a single packet\n\n## Structure\n\nThe first failing check is the verdict; the "
      "packet is dropped. Frames of other protocols are not\nerrors.\n\n| verdict | statement | "
      "other protocol | meaning | grade | reason of the grade |\n|---|---|---|---|---|---|\n";
  for (const VerdictRow& row : verdict_rows()) {
    const bool graded = row.verdict != PacketVerdict::Good && !row.is_foreign;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row.name, row.statement,
                        row.is_foreign ? "yes" : "", row.sentence,
                        graded ? name_of(Grade::Broken) : "", graded ? kVerdictReason : "");
  }
  text +=
      "\n## Form of the headers\n\n`hca decode` lists the rules that a packet breaks. Broken: a "
      "must; `--strict` fails. Remark: a recommendation, or a field that\nreceivers ignore; only "
      "`--pedantic` fails. In packets that our device sends, remarks fail a vector too.\n\n| "
      "statement | broken if | grade | reason of the grade |\n|---|---|---|---|\n";
  for (const FormRule& rule : form_rules())
    text += fmt::format("| {} | {} | {} | {} |\n", rule.statement, rule.sentence,
                        name_of(rule.grade), rule.reason);
  text += fmt::format("| that of the field | a reserved field is not 0 | {} | {} |\n",
                      name_of(Grade::Remark), kReservedBitsReason);
  text += fmt::format("| BTH-4 | the OpCode is a manufacturer's | {} | {} |\n",
                      name_of(Grade::Remark), kManufacturerReason);
  return text;
}

std::string syndromes_document() {
  std::string text =
      "# Syndromes and timers\n\n## AETH syndrome\n\n| syndrome | meaning |\n|---|---|\n"
      "| 0x00-0x1E | ACK with a credit code |\n| 0x1F | ACK, credits unused |\n"
      "| 0x20-0x3F | RNR NAK with a timer code |\n| 0x40-0x5F | reserved |\n";
  for (const NakRow& row : kNakRows)
    text += fmt::format("| 0x{:02X} | NAK {} |\n", nak_syndrome(row.code), row.name);
  text += fmt::format("| 0x{:02X}-0x7F | NAK, reserved code |\n| 0x80-0xFF | reserved |\n",
                      0x60 + kNakRows.size());
  text += "\n## Credit codes\n\n| code | receive WQEs |\n|---|---|\n";
  for (std::size_t code = 0; code < kCredits.size(); ++code)
    text += fmt::format("| {} | {} |\n", code, kCredits[code]);
  text += fmt::format("| {} | credits unused |\n", kCreditsUnused);
  text += "\n## RNR timer codes\n\n| code | wait of at least |\n|---|---|\n";
  for (std::size_t code = 0; code < kRnrDelays.size(); ++code)
    text +=
        fmt::format("| {} | {}.{:02} ms |\n", code, kRnrDelays[code] / 100, kRnrDelays[code] % 100);
  text +=
      "\n## Transport timer\n\nA loss is detected between T and 4T.\n\n| timeout | T "
      "|\n|---|---|\n| 0 | off |\n";
  for (unsigned timeout = 1; timeout < 32; ++timeout)
    text += fmt::format("| {} | {} ns |\n", timeout, ack_timeout_ns(u8(timeout)));
  return text;
}

}  // namespace hca::testbench
