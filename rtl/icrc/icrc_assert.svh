// SPDX-License-Identifier: Apache-2.0
// Checks stage 5 (define HCA_ASSERT). Included inside module icrc.

  always_ff @(posedge clk_i) begin
    if (s5_spill_q) begin
      room_for_icrc: assert (!s4_valid_q) else $error("packets_out: no cycle for the beat of the CRCs");
    end
  end
