// SPDX-License-Identifier: Apache-2.0
// A module as a user might bring it: it takes every Ethernet frame for one without a VLAN tag.
module untagged_icrc #(
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
  hca_pkg::beat_t in, out;
  logic vlan_q;

  always_comb begin
    in = packets_in_i;
    in.vlan = 1'b0;
    packets_out_o = out;
    packets_out_o.vlan = vlan_q;
  end

  // What the side band says of the packet that leaves; the block holds five beats.
  logic [5:1] tags_q;
  always_ff @(posedge clk_i) begin
    tags_q <= {tags_q[4:1], packets_in_valid_i && packets_in_i.first ? packets_in_i.vlan : tags_q[1]};
  end
  assign vlan_q = tags_q[5];

  icrc #(.Width(Width)) i_icrc (
    .clk_i, .rst_ni,
    .packets_in_valid_i, .packets_in_ready_o, .packets_in_i(in), .packets_in_data_i,
    .packets_out_start_o, .packets_out_valid_o, .packets_out_ready_i, .packets_out_o(out), .packets_out_data_o
  );
endmodule
