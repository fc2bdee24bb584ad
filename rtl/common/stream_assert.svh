// SPDX-License-Identifier: Apache-2.0
// The contract of both streams of a block, checked in every cycle (define HCA_ASSERT). Included inside its module, which has
// Full, the bytes of a beat; Latency from packets_out_start_o to the first beat; BytesFill: `bytes` of packets_in is the fill
// of a beat; MayBeEmpty: a packet of one beat may have 0 bytes.

  logic in_packet_q, out_packet_q, in_stands_q, out_stands_q;
  logic [Latency-1:0] starts_q;  // packets started in the last cycles

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_packet_q <= 1'b0;
      out_packet_q <= 1'b0;
      in_stands_q <= 1'b0;
      out_stands_q <= 1'b0;
      starts_q <= '0;
    end else begin
      if (packets_in_valid_i) in_packet_q <= !packets_in_i.last;
      if (packets_out_valid_o) out_packet_q <= !packets_out_o.last;
      in_stands_q <= packets_in_ready_o && !(packets_in_valid_i && packets_in_i.first);
      out_stands_q <= packets_out_ready_i && !packets_out_start_o;
      starts_q <= {starts_q[Latency-2:0], packets_out_start_o};

      // Obligations of the neighbours.
      if (packets_in_valid_i && packets_in_i.first && !in_packet_q) begin
        start_without_grant: assert (packets_in_ready_o) else $error("packets_in: start without a grant");
      end
      if (in_packet_q) begin
        gap_in_packet: assert (packets_in_valid_i) else $error("packets_in: a gap inside a packet");
      end
      if (packets_in_valid_i) begin
        first_in_place: assert (packets_in_i.first != in_packet_q)
          else $error("packets_in: first where it does not belong");
        bytes_in_range: assert (!BytesFill || packets_in_i.bytes == Full
                                || (packets_in_i.last && packets_in_i.bytes < Full
                                    && (packets_in_i.bytes != 7'd0 || (MayBeEmpty && packets_in_i.first))))
          else $error("packets_in: %0d bytes in a beat", packets_in_i.bytes);
      end
      if (out_stands_q) begin
        grant_withdrawn: assert (packets_out_ready_i) else $error("packets_out: a grant was withdrawn");
      end

      // Obligations of this block.
      if (in_stands_q) begin
        own_grant_stands: assert (packets_in_ready_o) else $error("packets_in: own grant withdrawn");
      end
      if (packets_out_start_o) begin
        own_start_granted: assert (packets_out_ready_i) else $error("packets_out: start without a grant");
      end
      first_after_latency: assert ((packets_out_valid_o && packets_out_o.first) == starts_q[Latency-1])
        else $error("packets_out: first beat not %0d cycles after start", Latency);
      if (out_packet_q) begin
        no_gap_out: assert (packets_out_valid_o) else $error("packets_out: a gap inside a packet");
      end
    end
  end
