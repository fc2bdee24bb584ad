// SPDX-License-Identifier: Apache-2.0
// The bytes of one beat folded into CRC registers of 0. Combinational, XORs only.
module crc_fold #(
  parameter int unsigned Width = 512  // 256 or 512
) (
  input  logic [Width-1:0] icrc_data_i,
  input  logic [Width-1:0] vcrc_data_i,
  output logic [31:0]      icrc_o,
  output logic [15:0]      vcrc_o
);
  if (Width == 256) begin : gen_fold_32
    assign icrc_o = hca_pkg::icrc_fold_32(icrc_data_i);
    assign vcrc_o = hca_pkg::vcrc_fold_32(vcrc_data_i);
  end else begin : gen_fold_64
    assign icrc_o = hca_pkg::icrc_fold_64(icrc_data_i);
    assign vcrc_o = hca_pkg::vcrc_fold_64(vcrc_data_i);
  end
endmodule
