// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <vector>

#include "model/blocks/port/icrc_unit.h"
#include "model/proto/wire/framing.h"
#include "rtl/common/beat.h"
#include "rtl/generator/sv_crc.h"
#include "rtl/generator/sv_rules.h"
#include "rtl/generator/sv_steps.h"
#include "rtl/generator/sv_text.h"
#include "rtl/packetizer/descriptor.h"
#include "rtl/rx_parser/parsed.h"

namespace hca::testbench {
namespace {
using proto::HeaderInfo;
using proto::kHeaderInfo;

constexpr unsigned kMaskBytes = 128;  // no framing has a variant byte after them
constexpr unsigned kFrontBytes = 32;  // the first covered byte and three more are among these

// ---- framings ----
struct FramingNames {
  proto::Framing framing;
  std::string_view name;
};
constexpr std::array kFramingNames{
    FramingNames{proto::Framing::IbLocal, "IbLocal"},
    FramingNames{proto::Framing::IbGlobal, "IbGlobal"},
    FramingNames{proto::Framing::RoceV1, "RoceV1"},
    FramingNames{proto::Framing::RoceV2Ip4, "RoceV2Ip4"},
    FramingNames{proto::Framing::RoceV2Ip6, "RoceV2Ip6"},
};
static_assert(kFramingNames.size() == proto::kFramingCount);

std::vector<u8> header_mask(proto::Framing framing) {
  std::vector<u8> mask;
  const auto take = [&]<proto::Framing F>() {
    if (F == framing) mask.assign(proto::Covered<F>::mask.begin(), proto::Covered<F>::mask.end());
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (take.template operator()<proto::Framing(I)>(), ...);
  }
  (std::make_index_sequence<proto::kFramingCount>{});
  return mask;
}

// The ICRC properties of one framing, by byte of the frame.
struct Cover {
  std::vector<u8> ones = std::vector<u8>(kMaskBytes);            // replaced by ones
  std::vector<u8> covered = std::vector<u8>(kFrontBytes, 0xff);  // the first bytes
  std::vector<u8> seed = std::vector<u8>(kFrontBytes);  // start value, at the first covered byte
  u32 path_bytes = 0;                                   // before the BTH
  unsigned min_bytes = 0;                               // headers and CRCs
};
Cover cover_of(proto::Framing framing, bool vlan) {
  Cover cover;
  const unsigned from = blocks::covered_from(framing, vlan);
  const u32 start = ~proto::framing_row(framing).icrc_start;  // of the register, not complemented
  const std::vector<u8> mask = header_mask(framing);
  std::fill_n(cover.covered.begin(), from, u8{0});
  for (unsigned i = 0; i < 4; ++i) cover.seed[from + i] = u8(start >> 8 * i);
  for (unsigned i = 0; i < mask.size(); ++i) cover.ones.at(from + i) = mask[i];
  cover.path_bytes = from + proto::framing_row(framing).covered_header_bytes;
  cover.min_bytes = from + unsigned(mask.size()) + blocks::crc_bytes(framing);
  return cover;
}

template <class Value>
std::string framing_function(std::string_view name, unsigned bits, Value value) {
  std::string out = fmt::format(
      "  function automatic logic [{}:0] {}(input framing_e framing, input logic vlan);\n"
      "    unique case ({{framing, vlan}})\n",
      bits - 1, name);
  for (const FramingNames& f : kFramingNames)
    for (const bool vlan : {false, true}) {
      if (vlan && proto::is_native(f.framing)) continue;
      out += fmt::format("      4'b{:03b}{}: {} = {};  // {}{}\n", unsigned(f.framing), int(vlan),
                         name, value(cover_of(f.framing, vlan)), f.name, vlan ? ", vlan" : "");
    }
  return out +
         fmt::format("      default: {} = {}'d0;\n    endcase\n  endfunction\n\n", name, bits);
}

std::string framing_part() {
  std::string out = "  // Side band of a packet: its framing.\n  typedef enum logic [2:0] {\n";
  for (const FramingNames& f : kFramingNames)
    out += fmt::format("    {} = 3'd{}{}\n", f.name, unsigned(f.framing),
                       &f == &kFramingNames.back() ? "" : ",");
  out +=
      "  } framing_e;\n\n"
      "  typedef enum logic [1:0] {IcrcBypass = 2'd0, IcrcGenerate = 2'd1, IcrcCheck = 2'd2} "
      "icrc_mode_e;\n\n";
  out += "  // An LRH in front, a VCRC behind.\n";
  out += "  function automatic logic is_native(input framing_e framing);\n    is_native = 1'b0;\n";
  for (const FramingNames& f : kFramingNames)  // numbers: not every tool finds the names in here
    if (proto::is_native(f.framing))
      out += fmt::format("    if (framing == 3'd{}) is_native = 1'b1;  // {}\n",
                         unsigned(f.framing), f.name);
  out += "  endfunction\n\n";
  out += "  // Variant bits of the first bytes of a frame: the ICRC sees ones.\n";
  out += fmt::format("  localparam int unsigned MaskBytes = {};\n", kMaskBytes);
  out +=
      framing_function("icrc_ones", 8 * kMaskBytes, [](const Cover& c) { return literal(c.ones); });
  out += fmt::format(
      "  // Which of the first {} bytes the ICRC covers: not the Ethernet header or the LRH in "
      "front "
      "of a GRH.\n",
      kFrontBytes);
  out += framing_function("icrc_covered", 8 * kFrontBytes,
                          [](const Cover& c) { return literal(c.covered); });
  out +=
      "  // The start value, to be XORed into the first covered bytes of a register that starts at "
      "0.\n"
      "  // Behind an Ethernet header it is the register after the 8 bytes of ones that stand for "
      "the LRH.\n";
  out += framing_function("icrc_seed", 8 * kFrontBytes,
                          [](const Cover& c) { return literal(c.seed); });
  out += "  // The shortest frame with a BTH and its CRCs.\n";
  out += framing_function("icrc_min_bytes", 7,
                          [](const Cover& c) { return fmt::format("7'd{}", c.min_bytes); });
  return out;
}

template <class... H>
std::string header_structs() {
  return (packed_struct(kHeaderInfo<H>) + ...);
}
std::string ext_structs() {
  std::string out;
  for (unsigned e = 0; proto::Ext(e) != proto::Ext::CnpPayload; ++e)
    out += packed_struct(proto::kExtHeaders[e]);
  return out;
}

// ---- side bands ----
std::string ext_struct() {
  std::string out =
      "  // The headers that can follow a BTH, in their order.\n  typedef struct packed {\n";
  for (const HeaderInfo& header : proto::kExtHeaders)
    if (&header != &proto::kExtHeaders.back())  // a CNP's header has no information
      out += fmt::format("    {0}_t {0};\n", identifier(header.name));
  return out + "  } ext_headers_t;\n\n";
}
// "bad IP version": VerdictBadIPVersion.
std::string verdict_enum() {
  std::string out =
      "  // The first thing that does not hold in a frame.\n  typedef enum logic [4:0] {\n";
  for (const proto::VerdictRow& row : proto::verdict_rows()) {
    std::string name = "Verdict";
    bool begins = true;
    for (const char c : row.name) {
      if (c != ' ') name += begins ? char(std::toupper(u8(c))) : c;
      begins = c == ' ';
    }
    out += fmt::format("    {} = 5'd{}{}\n", name, unsigned(row.verdict),
                       &row == &proto::verdict_rows().back() ? "" : ",");
  }
  return out + "  } verdict_e;\n\n";
}
std::string side_bands() {
  return side_band<rtl::BeatControl>("What stands beside the data of a beat.") +
         plain_struct<proto::AddressVector>(
             "Where packets go: what the headers in front of the BTH are made from.", "address") +
         ext_struct() +
         side_band<rtl::Descriptor>(
             "What stands beside the data of a payload: the packet that it becomes.") +
         verdict_enum() +
         side_band<rtl::Parsed>("What stands beside the data of a payload that was received.");
}

// ---- numbers ----
template <class... H>
std::string header_sizes() {
  return (size(capitalized(proto::Layout<H>::name) + "Bytes", proto::bytes_of<H>()) + ...);
}
std::string ext_sizes() {
  std::string out;
  for (unsigned e = 0; proto::Ext(e) != proto::Ext::CnpPayload; ++e)
    out += size(capitalized(proto::kExtHeaders[e].name) + "Bytes", proto::kExtHeaders[e].bytes);
  return out;
}
std::string numbers() {
  using namespace proto;
  return number("EtherTypeVlan", 16, kEtherTypeVlan) + number("EtherTypeIpv4", 16, kEtherTypeIpv4) +
         number("EtherTypeIpv6", 16, kEtherTypeIpv6) + number("EtherTypeRoce", 16, kEtherTypeRoce) +
         number("RoceUdpPort", 16, kRoceUdpPort) + number("IpProtocolUdp", 8, kIpProtocolUdp) +
         number("NextHeaderIba", 8, kNextHeaderIba) + number("LnhGlobal", 2, kLnhGlobal) +
         number("LnhLocal", 2, kLnhLocal) + number("IpVersion4", 4, kIpVersion4) +
         number("IpVersion6", 4, kIpVersion6) + number("Ipv4HeaderWords", 4, kIpv4HeaderWords) +
         number("MaxPayload", 13, rtl::kMaxPayload) + size("IcrcBytes", kIcrcBytes) +
         size("VcrcBytes", kVcrcBytes) + size("MaxHeaderBytes", kMaxHeaderBytes) +
         header_sizes<Lrh, Grh, Ethernet, Vlan, Ipv4, Ipv6, Udp, Bth>() + ext_sizes();
}

// ---- opcodes ----
std::string opcode_part() {
  using namespace proto;
  u32 longest = 0;
  for (const OpcodeRow& row : kOpcodeRows)
    longest = std::max<u32>(longest, built_row(row).ext_bytes);
  std::string out = "\n  // The headers that can follow a BTH, in their order.\n" +
                    size("ExtCount", kExtCount) + size("MaxExtBytes", longest);
  for (unsigned e = 0; e < kExtCount; ++e) out += size("Ext" + capitalized(kExtHeaders[e].name), e);
  out += fmt::format(
      "\n  // Which of them the packets of an opcode have, one bit each; all: the opcode is "
      "reserved.\n"
      "  function automatic logic [{}:0] opcode_row(input logic [7:0] opcode);\n"
      "    unique case (opcode)\n",
      kExtCount - 1);
  for (const OpcodeRow& row : kOpcodeRows)
    out += fmt::format("      8'h{:02x}: opcode_row = {}'h{:03x};  // {}\n", row.code, kExtCount,
                       built_row(row).ext.bits(), row.name);
  out +=
      "      default: opcode_row = '1;\n    endcase\n  endfunction\n"
      "  function automatic logic opcode_known(input logic [7:0] opcode);\n"
      "    opcode_known = opcode_row(opcode) != '1;\n  endfunction\n"
      "  // An operation that no device executes: refused whatever stands behind its BTH.\n"
      "  function automatic logic opcode_extended(input logic [7:0] opcode);\n"
      "    unique case (opcode)\n";
  for (const OpcodeRow& row : kOpcodeRows)
    if (row.traits().extended)
      out += fmt::format("      8'h{:02x}: opcode_extended = 1'b1;  // {}\n", row.code, row.name);
  out +=
      "      default: opcode_extended = 1'b0;\n    endcase\n  endfunction\n"
      "  // The Extended OpCode that the packets of a functional class have; 0: it is no class.\n"
      "  function automatic logic [15:0] extended_opcode(input logic [7:0] opcode);\n"
      "    unique case (opcode)\n";
  for (const OpcodeRow& row : kOpcodeRows)
    if (row.is_class())
      out += fmt::format("      8'h{:02x}: extended_opcode = 16'd{};  // {}\n", row.code,
                         extended_opcode_of(row), built_row(row).name);
  out +=
      "      default: extended_opcode = 16'd0;\n    endcase\n  endfunction\n"
      "  // None of a reserved one.\n";
  out += fmt::format(
      "  function automatic logic [{0}:0] opcode_ext(input logic [7:0] opcode);\n"
      "    opcode_ext = opcode_row(opcode);\n    if (opcode_ext == '1) opcode_ext = '0;\n"
      "  endfunction\n\n"
      "  // Bytes of a BTH and of these behind it.\n"
      "  function automatic logic [6:0] transport_bytes(input logic [{0}:0] has);\n"
      "    unique case (has)\n",
      kExtCount - 1);
  std::map<u16, u32> sets;
  for (const OpcodeRow& row : kOpcodeRows) {
    sets[row.ext.bits()] = row.ext_bytes;
    sets[built_row(row).ext.bits()] = built_row(row).ext_bytes;
  }
  for (const auto& [bits, bytes] : sets)
    out += fmt::format("      {}'h{:03x}: transport_bytes = 7'd{};\n", kExtCount, bits,
                       bytes_of<Bth>() + bytes);
  out += fmt::format("      default: transport_bytes = 7'd{};\n    endcase\n  endfunction\n\n",
                     bytes_of<Bth>());
  unsigned all = 0;  // bits of ext_headers_t
  for (unsigned e = 0; Ext(e) != Ext::CnpPayload; ++e) all += 8 * kExtHeaders[e].bytes;
  out += fmt::format(
      "  // The extension headers of a packet, the first one in the most significant bits; `ext` "
      "is an "
      "ext_headers_t. A CNP has zeros.\n"
      "  function automatic logic [{}:0] ext_headers(input logic [{}:0] has, input logic "
      "[{}:0] ext);\n"
      "    ext_headers = '0;\n    unique case (has)\n",
      8 * longest - 1, kExtCount - 1, all - 1);
  for (const auto& [bits, bytes] : sets) {
    std::string headers, names;
    unsigned from = all;  // the bit above it
    for (unsigned e = 0; e < kExtCount && Ext(e) != Ext::CnpPayload; ++e) {
      const unsigned size = 8 * kExtHeaders[e].bytes;
      if (bits >> e & 1) {
        headers += fmt::format("{}ext[{} -: {}]", headers.empty() ? "" : ", ", from - 1, size);
        names += fmt::format(" {}", kExtHeaders[e].name);
      }
      from -= size;
    }
    if (!headers.empty())
      out +=
          fmt::format("      {}'h{:03x}: ext_headers = {{{}{}}};  //{}\n", kExtCount, bits, headers,
                      bytes == longest ? "" : fmt::format(", {}'d0", 8 * (longest - bytes)), names);
  }
  out += "      default: ;\n    endcase\n  endfunction\n\n";
  out += fmt::format(
      "  // The other way round: an ext_headers_t of what stands behind a BTH; what is not there "
      "is "
      "0, reserved bits are.\n"
      "  function automatic logic [{}:0] ext_fields(input logic [{}:0] has, input logic "
      "[{}:0] packet);\n"
      "    ext_fields = '0;\n    unique case (has)\n",
      all - 1, kExtCount - 1, 8 * longest - 1);
  for (const auto& [bits, bytes] : sets) {
    if (bits == 0 || bits == ExtSet(Ext::CnpPayload).bits()) continue;
    std::string headers;
    unsigned from = 8 * longest, gap = 0;
    const auto put_gap = [&] {
      if (gap) headers += fmt::format("{}{}'d0", headers.empty() ? "" : ", ", gap);
      gap = 0;
    };
    for (unsigned e = 0; e < kExtCount && Ext(e) != Ext::CnpPayload; ++e) {
      const unsigned size = 8 * kExtHeaders[e].bytes;
      if (bits >> e & 1) {
        put_gap();
        headers += fmt::format("{}packet[{} -: {}]", headers.empty() ? "" : ", ", from - 1, size);
        from -= size;
      } else {
        gap += size;
      }
    }
    put_gap();
    out += fmt::format("      {}'h{:03x}: ext_fields = {{{}}};\n", kExtCount, bits, headers);
  }
  std::vector<u8> meaning;  // the first header lowest
  for (unsigned e = 0; Ext(e) != Ext::CnpPayload; ++e) {
    std::vector<u8> header(kExtHeaders[e].bytes, 0xff);
    for (const FieldInfo& f : kExtHeaders[e])
      if (f.is_reserved)
        for (unsigned b = f.bit_at; b < f.bit_at + f.bits; ++b)
          header[b / 8] &= u8(~(0x80u >> b % 8));
    meaning.insert(meaning.end(), header.begin(), header.end());
  }
  std::reverse(meaning.begin(), meaning.end());
  return out +
         fmt::format(
             "      default: ;\n    endcase\n    ext_fields = ext_fields & {};\n  endfunction\n\n",
             literal(meaning));
}
std::string path_part() {
  u32 longest = 0;
  const auto bytes = [&](const Cover& c) {
    longest = std::max(longest, c.path_bytes);
    return c.path_bytes;
  };
  std::string out =
      "  // Bytes in front of the BTH.\n" + framing_function("path_bytes", 7, [&](const Cover& c) {
        return fmt::format("7'd{}", bytes(c));
      });
  return size("MaxPathBytes", longest) + out;
}
}  // namespace

std::string hca_pkg_sv() {
  using namespace proto;
  return "// SPDX-License-Identifier: Apache-2.0\n"
         "// Made by `hca rtl package` from the tables of model/proto: change those, then make "
         "this file again.\n"
         "package hca_pkg;\n"
         "  /* verilator lint_off UNUSEDPARAM */  // no block needs all of them\n\n" +
         header_structs<Lrh, Grh, Ethernet, Vlan, Ipv4, Ipv6, Udp, Bth>() + ext_structs() +
         framing_part() + side_bands() + numbers() + opcode_part() + path_part() + rules_part() +
         psn_part() + cq_part() + crc_part() + "endpackage\n";
}
}  // namespace hca::testbench
