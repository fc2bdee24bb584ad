// SPDX-License-Identifier: Apache-2.0
// Checks steps, and this block's output for them (define HCA_ASSERT). Included inside module requester_psn.

  logic [23:0] sends, knows, takes;  // from the oldest unacknowledged PSN on

  assign sends = packets_out_o.state.send_psn - packets_out_o.state.unacked_psn;
  assign knows = packets_out_o.state.sent_psn - packets_out_o.state.unacked_psn;
  assign takes = packets_out_o.state.next_psn - packets_out_o.state.unacked_psn;
  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) begin
      one_beat: assert (packets_in_i.first && packets_in_i.last) else $error("packets_in: a step of several beats");
      op_known: assert (packets_in_i.op <= hca_pkg::PsnOpResync) else $error("packets_in: op %0d", packets_in_i.op);
      length_in_range: assert (packets_in_i.byte_len <= hca_pkg::MaxMessageBytes)
        else $error("packets_in: a message of %0d bytes", packets_in_i.byte_len);
    end
    if (packets_out_valid_o) begin
      in_order: assert (sends <= knows && knows <= takes && takes <= hca_pkg::PsnWindow)
        else $error("packets_out: unacked_psn .. send_psn .. sent_psn .. next_psn out of order");
    end
  end
