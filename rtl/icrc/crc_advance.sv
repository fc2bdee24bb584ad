// SPDX-License-Identifier: Apache-2.0
// The CRC registers after one beat of zeros. Combinational, XORs only.
module crc_advance #(
  parameter int unsigned Width = 512  // 256 or 512
) (
  input  logic [31:0] icrc_i,
  input  logic [15:0] vcrc_i,
  output logic [31:0] icrc_o,
  output logic [15:0] vcrc_o
);
  if (Width == 256) begin : gen_advance_32
    assign icrc_o = hca_pkg::icrc_advance_32(icrc_i);
    assign vcrc_o = hca_pkg::vcrc_advance_32(vcrc_i);
  end else begin : gen_advance_64
    assign icrc_o = hca_pkg::icrc_advance_64(icrc_i);
    assign vcrc_o = hca_pkg::vcrc_advance_64(vcrc_i);
  end
endmodule
