// SPDX-License-Identifier: Apache-2.0
// A module that stalls inside of packets: it has room for one packet, takes a beat in three cycles of four, and lets
// the packet through when all of it is here.
module slow_icrc #(
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
  localparam int unsigned Beats = 160;  // of the longest packet

  hca_pkg::beat_t   beats_q [Beats];
  logic [Width-1:0] data_q  [Beats];
  logic [7:0] count_q, sent_q;
  logic [1:0] turn_q;
  logic full_q, ready, take, send;

  assign packets_in_ready_o = !full_q && turn_q != 2'd3;
  assign take = packets_in_valid_i && packets_in_ready_o;
  assign send = full_q && (ready || sent_q != 8'd0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      sent_q <= '0;
      turn_q <= '0;
      full_q <= 1'b0;
    end else begin
      turn_q <= turn_q + 1'b1;
      if (take) begin
        count_q <= count_q + 1'b1;
        full_q <= packets_in_i.last;
      end
      if (send) begin
        sent_q <= sent_q + 1'b1;
        if (sent_q + 1'b1 == count_q) begin
          full_q <= 1'b0;
          count_q <= '0;
          sent_q <= '0;
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      beats_q[count_q] <= packets_in_i;
      data_q[count_q] <= packets_in_data_i;
    end
  end

  icrc #(.Width(Width)) i_icrc (
    .clk_i, .rst_ni,
    .packets_in_valid_i(send), .packets_in_ready_o(ready), .packets_in_i(beats_q[sent_q]), .packets_in_data_i(data_q[sent_q]),
    .packets_out_start_o, .packets_out_valid_o, .packets_out_ready_i, .packets_out_o, .packets_out_data_o
  );
endmodule
