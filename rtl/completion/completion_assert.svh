// SPDX-License-Identifier: Apache-2.0
// Checks steps and contexts, and this block's output for them (define HCA_ASSERT). Included inside module completion.

  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) begin
      one_beat: assert (packets_in_i.first && packets_in_i.last) else $error("packets_in: a step of several beats");
    end
    if (context_valid_i) begin
      ring_in_range: assert (context_i.log_entries <= hca_pkg::MaxLogQueueEntries)
        else $error("context: a ring of 2^%0d entries", context_i.log_entries);
    end
    if (packets_out_valid_o) begin
      no_meaning_no_bits: assert ({packets_out_o.cqe.reserved_at20, packets_out_o.cqe.reserved_at32, packets_out_o.cqe.reserved_at64,
                                   packets_out_o.cqe.reserved_at160, packets_out_o.cqe.reserved_at228} == '0)
        else $error("packets_out: bits of a CQE without a meaning are not 0");
    end
    if (packets_out_valid_o && packets_out_o.op == hca_pkg::CqOpComplete) begin
      no_entry_behind_overflow: assert (packets_out_o.result != hca_pkg::CqResultWritten || !packets_out_o.state.overflowed)
        else $error("packets_out: a CQE is written to a CQ that has overflowed");
      loss_is_kept: assert (packets_out_o.result == hca_pkg::CqResultWritten || packets_out_o.result == hca_pkg::CqResultNoQueue
                            || packets_out_o.state.overflowed)
        else $error("packets_out: a CQE is lost and its CQ has not overflowed");
    end
  end
