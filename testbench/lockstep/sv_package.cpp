// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/sv_package.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "model/blocks/icrc_unit.h"
#include "model/proto/framing.h"
#include "rtl/beat.h"

namespace hca::testbench {
namespace {
using proto::HeaderInfo;
using proto::kHeaderInfo;
using rtl::kBeatBytes;

constexpr unsigned kMaskBeats = 2;  // no framing has a variant byte behind the second beat

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(u8(c)) ? char(std::tolower(u8(c))) : '_';
  return out;
}

// A vector of bytes as a SystemVerilog literal, byte 0 lowest.
std::string literal(const std::vector<u8>& bytes) {
  std::string digits;
  for (auto b = bytes.rbegin(); b != bytes.rend(); ++b) digits += fmt::format("{:02x}", *b);
  return fmt::format("{}'h{}", 8 * bytes.size(), digits);
}

// ---- headers ----
std::string packed_struct(const HeaderInfo& header) {
  std::string out = fmt::format(
      "  // {}, {} bytes, as sent: most significant bit first.\n"
      "  typedef struct packed {{\n",
      header.name, header.bytes);
  for (const auto& f : header) {
    std::string name = identifier(f.name);
    if (f.is_reserved) name += fmt::format("_at{}", f.bit_at);
    const std::string width = f.bits == 1 ? "" : fmt::format("[{}:0] ", f.bits - 1);
    const bool variant = f.icrc == proto::Icrc::Variant;
    out += fmt::format("    logic {}{};{}\n", width, name, variant ? "  // variant" : "");
  }
  return out + fmt::format("  }} {}_t;\n\n", identifier(header.name));
}

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

// What the ICRC of one framing needs to know, by byte of the frame.
struct Cover {
  std::vector<u8> ones = std::vector<u8>(kMaskBeats * kBeatBytes);  // replaced by ones
  std::vector<u8> covered = std::vector<u8>(kBeatBytes, 0xff);      // first beat
  std::vector<u8> seed =
      std::vector<u8>(kBeatBytes);  // start value, where the first covered byte is
  unsigned min_bytes = 0;           // headers and ICRC
};
Cover cover_of(proto::Framing framing, bool vlan) {
  Cover cover;
  const unsigned from = blocks::covered_from(framing, vlan);
  const u32 start = ~proto::framing_row(framing).icrc_start;  // of the register, not complemented
  const std::vector<u8> mask = header_mask(framing);
  std::fill_n(cover.covered.begin(), from, u8{0});
  for (unsigned i = 0; i < 4; ++i) cover.seed[from + i] = u8(start >> 8 * i);
  for (unsigned i = 0; i < mask.size(); ++i) cover.ones.at(from + i) = mask[i];
  cover.min_bytes = from + unsigned(mask.size()) + proto::kIcrcBytes;
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
  const auto part = [](const std::vector<u8>& v, unsigned beat) {
    return literal({v.begin() + beat * kBeatBytes, v.begin() + (beat + 1) * kBeatBytes});
  };
  out += "  // Variant bits of the first and of the second beat: the ICRC sees ones.\n";
  out += framing_function("icrc_ones_first", 512, [&](const Cover& c) { return part(c.ones, 0); });
  out += framing_function("icrc_ones_second", 512, [&](const Cover& c) { return part(c.ones, 1); });
  out +=
      "  // Bytes of the first beat that the ICRC covers: all but the Ethernet header or the LRH "
      "in front of a GRH.\n";
  out += framing_function("icrc_covered", 512, [](const Cover& c) { return literal(c.covered); });
  out +=
      "  // The start value, to be XORed into the first covered bytes of a register that starts at "
      "0.\n"
      "  // Behind an Ethernet header it is the register after the 8 bytes of ones that stand for "
      "the LRH.\n";
  out += framing_function("icrc_seed", 512, [](const Cover& c) { return literal(c.seed); });
  out += "  // The shortest frame with a BTH and an ICRC.\n";
  out += framing_function("icrc_min_bytes", 7,
                          [](const Cover& c) { return fmt::format("7'd{}", c.min_bytes); });
  return out;
}

// ---- the CRC register as a linear machine ----
constexpr u32 kPolynomial = 0xedb88320u;  // reflected 0x04c11db7

constexpr u32 forward(u32 reg, unsigned bits) {
  for (; bits; --bits) reg = reg >> 1 ^ (reg & 1 ? kPolynomial : 0);
  return reg;
}
constexpr u32 backward(u32 reg, unsigned bits) {
  for (; bits; --bits) reg = reg >> 31 ? (reg ^ kPolynomial) << 1 | 1 : reg << 1;
  return reg;
}
static_assert(backward(forward(0x12345678, 13), 13) == 0x12345678);

// A function `name` whose result bit i is the parity of the input bits that reach it; `column(j)`
// is the result for input bit j alone.
template <class Column>
std::string linear_function(std::string_view name, unsigned inputs, Column column) {
  std::string out = fmt::format("  function automatic logic [31:0] {}(input logic [{}:0] x);\n",
                                name, inputs - 1);
  for (unsigned row = 0; row < 32; ++row) {
    std::vector<u8> bits(inputs / 8);
    for (unsigned j = 0; j < inputs; ++j)
      if (column(j) >> row & 1) bits[j / 8] |= u8(1u << j % 8);
    out += fmt::format("    {}[{}] = ^(x & {});\n", name, row, literal(bits));
  }
  return out + "  endfunction\n\n";
}

std::string crc_part() {
  std::string out =
      "  // CRC-32 register, reflected, not complemented. Each function is one matrix of XORs.\n"
      "  localparam logic [31:0] IcrcResidue = 32'hdebb20e3;  // after a good packet and its "
      "ICRC\n\n"
      "  // 64 bytes into a register of 0.\n";
  // Bit j of a beat passes through all the steps of the bits from j on.
  out += linear_function("crc_fold", 512, [](unsigned j) { return forward(1, 512 - j); });
  out += "  // The register after 64 bytes of 0.\n";
  out += linear_function("crc_advance", 32, [](unsigned j) { return forward(1u << j, 512); });
  for (unsigned bytes = 1; bytes < kBeatBytes; bytes *= 2) {
    out += fmt::format("  // The register as it was before {} bytes of 0.\n", bytes);
    out += linear_function(fmt::format("crc_rewind_{}", bytes), 32,
                           [&](unsigned j) { return backward(1u << j, 8 * bytes); });
  }
  return out;
}

template <class... H>
std::string header_structs() {
  return (packed_struct(kHeaderInfo<H>) + ...);
}

std::string beat_struct() {
  std::string out =
      "  // One beat of a packet stream. Byte i of the beat is data[8*i+7:8*i]; byte 0 of the "
      "frame comes first.\n"
      "  typedef struct packed {\n";
  for (const auto& f : kHeaderInfo<rtl::BeatControl>) {
    const std::string type = f.name == "framing" ? "framing_e"
                             : f.name == "mode"  ? "icrc_mode_e"
                             : f.bits == 1       ? "logic"
                                                 : fmt::format("logic [{}:0]", f.bits - 1);
    out += fmt::format("    {} {};\n", type, f.name);
  }
  return out + fmt::format("    logic [{}:0] data;\n  }} beat_t;\n\n", 8 * kBeatBytes - 1);
}
}  // namespace

std::string hca_pkg_sv() {
  using namespace proto;
  return "// SPDX-License-Identifier: Apache-2.0\n"
         "// Made by `hca rtl package` from the tables of model/proto: change those, then make "
         "this file again.\n"
         "package hca_pkg;\n" +
         header_structs<Lrh, Grh, Ethernet, Vlan, Ipv4, Ipv6, Udp, Bth, Rdeth, Deth, XrcEth, Reth,
                        AtomicEth, Aeth, AtomicAckEth, ImmDt, Ieth, Eoeth, Feth>() +
         framing_part() + beat_struct() + crc_part() + "endpackage\n";
}
}  // namespace hca::testbench
