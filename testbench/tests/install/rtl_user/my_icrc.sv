// SPDX-License-Identifier: Apache-2.0
// A module as a user might bring it: it finds an ICRC bad where the VCRC is not good, which Ethernet frames do not have.
module my_icrc #(
  parameter int unsigned Width = 512
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             packets_in_valid_i,
  output logic             packets_in_ready_o,
  input  hca_pkg::beat_t   packets_in_i,
  input  logic [Width-1:0] packets_in_data_i,
  output logic             packets_out_start_o,
  output logic             packets_out_valid_o,
  input  logic             packets_out_ready_i,
  output hca_pkg::beat_t   packets_out_o,
  output logic [Width-1:0] packets_out_data_o
);
  hca_pkg::beat_t out;

  always_comb begin
    packets_out_o = out;
    packets_out_o.icrc_ok = out.icrc_ok && out.vcrc_ok;
  end

  icrc #(.Width(Width)) i_icrc (
    .clk_i, .rst_ni,
    .packets_in_valid_i, .packets_in_ready_o, .packets_in_i, .packets_in_data_i,
    .packets_out_start_o, .packets_out_valid_o, .packets_out_ready_i, .packets_out_o(out), .packets_out_data_o
  );
endmodule
