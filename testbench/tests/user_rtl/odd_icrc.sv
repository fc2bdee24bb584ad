// SPDX-License-Identifier: Apache-2.0
// A module that ends the simulation in the midst of it (256 bits), and one whose ready falls in the cycle in which valid
// rises (512 bits), once 1000 cycles are over.
module odd_icrc #(
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
  logic ready;
  logic [9:0] cycles_q;
  logic late_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      late_q <= 1'b0;
    end else begin
      late_q <= late_q || cycles_q == '1;
    end
  end
  initial cycles_q = '0;
  always_ff @(posedge clk_i) cycles_q <= cycles_q + 10'd1;

  if (Width == 256) begin : g_ends
    assign packets_in_ready_o = ready;
    always_ff @(posedge clk_i) if (cycles_q == 10'd1000) $finish;
  end else begin : g_falls
    assign packets_in_ready_o = ready && !(late_q && packets_in_valid_i);
  end

  icrc #(.Width(Width)) i_icrc (
    .clk_i, .rst_ni,
    .packets_in_valid_i, .packets_in_ready_o(ready), .packets_in_i, .packets_in_data_i,
    .packets_out_start_o, .packets_out_valid_o, .packets_out_ready_i, .packets_out_o, .packets_out_data_o
  );
endmodule
