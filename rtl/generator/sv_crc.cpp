// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_crc.h"

#include <fmt/format.h>

#include <array>

#include "model/proto/wire/crc_register.h"
#include "model/proto/wire/framing.h"

namespace hca::testbench {
std::string literal(const std::vector<u8>& bytes) {
  std::string digits;
  for (auto b = bytes.rbegin(); b != bytes.rend(); ++b) digits += fmt::format("{:02x}", *b);
  return fmt::format("{}'h{}", 8 * bytes.size(), digits);
}

namespace {
constexpr std::array kBeatBytes{32u, 64u};

struct Crc : proto::CrcRegister {
  std::string_view name, residue;
};
constexpr Crc kIcrc{proto::kIcrcRegister, "icrc", "IcrcResidue"};
constexpr Crc kVcrc{proto::kVcrcRegister, "vcrc", "VcrcResidue"};

// A function `name` whose result bit i is the parity of the input bits that affect it; `column(j)`
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

// Folds bytes into a register of 0: bit j passes through all the steps of the bits from j on.
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
}  // namespace

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
  // The VCRC over an ICRC, and the ICRC's register after a VCRC.
  return out + fold_function(kVcrc, proto::kIcrcBytes) + advance_function(kIcrc, proto::kVcrcBytes);
}
}  // namespace hca::testbench
