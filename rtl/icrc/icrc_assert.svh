// SPDX-License-Identifier: Apache-2.0
// What stage 5 owes (define HCA_ASSERT). Included inside module icrc.

  always_ff @(posedge clk_i) begin
    if (s5_spill_q) begin
      room_for_icrc: assert (!s4_valid_q) else $error("packets_out: no cycle for the beat of the CRCs");
    end
  end
