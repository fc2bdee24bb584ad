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

constexpr unsigned kMaskBytes = 128;  // no framing has a variant byte behind them
constexpr unsigned kFrontBytes = 32;  // the first covered byte and three more are among these
constexpr std::array kBeatBytes{32u, 64u};

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
  std::vector<u8> ones = std::vector<u8>(kMaskBytes);            // replaced by ones
  std::vector<u8> covered = std::vector<u8>(kFrontBytes, 0xff);  // the first bytes
  std::vector<u8> seed =
      std::vector<u8>(kFrontBytes);  // start value, where the first covered byte is
  unsigned min_bytes = 0;            // headers and CRCs
};
Cover cover_of(proto::Framing framing, bool vlan) {
  Cover cover;
  const unsigned from = blocks::covered_from(framing, vlan);
  const u32 start = ~proto::framing_row(framing).icrc_start;  // of the register, not complemented
  const std::vector<u8> mask = header_mask(framing);
  std::fill_n(cover.covered.begin(), from, u8{0});
  for (unsigned i = 0; i < 4; ++i) cover.seed[from + i] = u8(start >> 8 * i);
  for (unsigned i = 0; i < mask.size(); ++i) cover.ones.at(from + i) = mask[i];
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

// ---- the CRC registers as linear machines ----
struct Crc {
  std::string_view name, residue;
  unsigned bits;
  u32 polynomial;  // reflected

  constexpr u32 ones() const { return u32(~u64{0} >> (64 - bits)); }
  constexpr u32 forward(u32 reg, unsigned steps) const {
    for (; steps; --steps) reg = reg >> 1 ^ (reg & 1 ? polynomial : 0);
    return reg;
  }
  constexpr u32 backward(u32 reg, unsigned steps) const {
    for (; steps; --steps)
      reg = (reg >> (bits - 1) ? (reg ^ polynomial) << 1 | 1 : reg << 1) & ones();
    return reg;
  }
};
constexpr Crc kIcrc{"icrc", "IcrcResidue", 32, 0xedb88320};  // 0x04c11db7
constexpr Crc kVcrc{"vcrc", "VcrcResidue", 16, 0xd008};      // 0x100b
static_assert(kIcrc.backward(kIcrc.forward(0x12345678, 13), 13) == 0x12345678);
static_assert(kVcrc.backward(kVcrc.forward(0x1234, 13), 13) == 0x1234);

// A function `name` whose result bit i is the parity of the input bits that reach it; `column(j)`
// is the result for input bit j alone.
template <class Column>
std::string linear_function(std::string_view name, unsigned outputs, unsigned inputs,
                            Column column) {
  std::string out = fmt::format("  function automatic logic [{}:0] {}(input logic [{}:0] x);\n",
                                outputs - 1, name, inputs - 1);
  for (unsigned row = 0; row < outputs; ++row) {
    std::vector<u8> bits(inputs / 8);
    for (unsigned j = 0; j < inputs; ++j)
      if (column(j) >> row & 1) bits[j / 8] |= u8(1u << j % 8);
    out += fmt::format("    {}[{}] = ^(x & {});\n", name, row, literal(bits));
  }
  return out + "  endfunction\n\n";
}

// Bytes into a register of 0: bit j passes through all the steps of the bits from j on.
std::string fold_function(const Crc& crc, unsigned bytes) {
  return fmt::format("  // {} bytes into a register of 0.\n", bytes) +
         linear_function(fmt::format("{}_fold_{}", crc.name, bytes), crc.bits, 8 * bytes,
                         [&](unsigned j) { return crc.forward(1, 8 * bytes - j); });
}
std::string advance_function(const Crc& crc, unsigned bytes) {
  return fmt::format("  // The register after {} bytes of 0.\n", bytes) +
         linear_function(fmt::format("{}_advance_{}", crc.name, bytes), crc.bits, crc.bits,
                         [&](unsigned j) { return crc.forward(1u << j, 8 * bytes); });
}
std::string rewind_function(const Crc& crc, unsigned bytes) {
  return fmt::format("  // The register as it was before {} bytes of 0.\n", bytes) +
         linear_function(fmt::format("{}_rewind_{}", crc.name, bytes), crc.bits, crc.bits,
                         [&](unsigned j) { return crc.backward(1u << j, 8 * bytes); });
}

std::string crc_part() {
  std::string out =
      "  // The registers of ICRC (CRC-32) and VCRC (CRC-16), reflected, not complemented. Each "
      "function is one matrix of\n  // XORs. The residue stands in the register after good bytes "
      "and their CRC.\n";
  for (const Crc& crc : {kIcrc, kVcrc}) {
    out += fmt::format("  localparam logic [{}:0] {} = {}'h{:0{}x};\n\n", crc.bits - 1, crc.residue,
                       crc.bits, crc.forward(crc.ones(), crc.bits), crc.bits / 4);
    for (const unsigned bytes : kBeatBytes)
      out += fold_function(crc, bytes) + advance_function(crc, bytes);
    for (unsigned bytes = 1; bytes < kBeatBytes.back(); bytes *= 2)
      out += rewind_function(crc, bytes);
  }
  // The VCRC over an ICRC, and the ICRC's register behind a VCRC.
  return out + fold_function(kVcrc, proto::kIcrcBytes) + advance_function(kIcrc, proto::kVcrcBytes);
}

template <class... H>
std::string header_structs() {
  return (packed_struct(kHeaderInfo<H>) + ...);
}

std::string beat_struct() {
  std::string out =
      "  // What stands beside the data of a beat.\n"
      "  typedef struct packed {\n";
  for (const auto& f : kHeaderInfo<rtl::BeatControl>) {
    const std::string type = f.name == "framing" ? "framing_e"
                             : f.name == "mode"  ? "icrc_mode_e"
                             : f.bits == 1       ? "logic"
                                                 : fmt::format("logic [{}:0]", f.bits - 1);
    out += fmt::format("    {} {};\n", type, f.name);
  }
  return out + "  } beat_t;\n\n";
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
