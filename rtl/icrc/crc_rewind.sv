// SPDX-License-Identifier: Apache-2.0
// The CRC registers before the last `zeros_i` bytes of 0. Combinational.
module crc_rewind (
  input  logic [5:0]  zeros_i,
  input  logic [31:0] icrc_i,
  input  logic [15:0] vcrc_i,
  output logic [31:0] icrc_o,
  output logic [15:0] vcrc_o
);
  always_comb begin
    icrc_o = icrc_i;
    if (zeros_i[0]) icrc_o = hca_pkg::icrc_rewind_1(icrc_o);
    if (zeros_i[1]) icrc_o = hca_pkg::icrc_rewind_2(icrc_o);
    if (zeros_i[2]) icrc_o = hca_pkg::icrc_rewind_4(icrc_o);
    if (zeros_i[3]) icrc_o = hca_pkg::icrc_rewind_8(icrc_o);
    if (zeros_i[4]) icrc_o = hca_pkg::icrc_rewind_16(icrc_o);
    if (zeros_i[5]) icrc_o = hca_pkg::icrc_rewind_32(icrc_o);
  end
  always_comb begin
    vcrc_o = vcrc_i;
    if (zeros_i[0]) vcrc_o = hca_pkg::vcrc_rewind_1(vcrc_o);
    if (zeros_i[1]) vcrc_o = hca_pkg::vcrc_rewind_2(vcrc_o);
    if (zeros_i[2]) vcrc_o = hca_pkg::vcrc_rewind_4(vcrc_o);
    if (zeros_i[3]) vcrc_o = hca_pkg::vcrc_rewind_8(vcrc_o);
    if (zeros_i[4]) vcrc_o = hca_pkg::vcrc_rewind_16(vcrc_o);
    if (zeros_i[5]) vcrc_o = hca_pkg::vcrc_rewind_32(vcrc_o);
  end
endmodule
