// SPDX-License-Identifier: Apache-2.0
// Inserts or checks the ICRC of packets that pass at 64 bytes a cycle.
//
// Streams. Byte i of a beat is data[8*i+7:8*i]; a frame starts with its first beat's byte 0 and fills every beat but the
// last. packets_in counts the frame without FCS and Ethernet padding: from the first header byte to the last payload or
// pad byte (IcrcGenerate) or to the last byte of the ICRC (IcrcCheck). Mode, framing and vlan are read with the first
// beat and hold for the packet; what stands in data behind the last byte of the last beat is ignored. On packets_out the
// side band is the packet's own in all its beats and data behind the last byte is 0.
//   IcrcBypass    the frame passes unchanged
//   IcrcGenerate  4 bytes are appended; where they open a beat of their own, the next start is held back by one cycle.
//                 The frame reaches at least to the end of the BTH.
//   IcrcCheck     the frame passes unchanged; icrc_ok comes with its last beat. A frame too short for BTH and ICRC is bad.
// icrc_ok is 0 in all other beats.
//
// Grants. A start in cycle n needs `ready` in cycle n; once high, ready falls only after a start; from first to last beat
// valid stays high and ready is not looked at. On packets_in the start is the first beat. On packets_out it is `start`,
// exactly Latency cycles ahead of the first beat: this block has no room of its own for a packet, so it takes room
// behind it when it lets one in, and nothing is ever stalled inside. (With a start at the first beat a packet could be
// let in only when the one before it has left: one packet in Latency + 1 cycles.) The receiver counts room from start.
//
// Timing. First beat in n: first beat out in n + Latency, Latency = 5, for all packets; one beat a cycle, back to back.
// Combinational paths: packets_out_ready_i to packets_in_ready_o, packets_in_valid_i and .first to packets_out_start_o,
// one gate each: links with registers stand on both sides. All else is registered.
module icrc (
  input  logic           clk_i,
  input  logic           rst_ni,
  input  logic           packets_in_valid_i,
  output logic           packets_in_ready_o,
  input  hca_pkg::beat_t packets_in_i,
  output logic           packets_out_start_o,
  output logic           packets_out_valid_o,
  input  logic           packets_out_ready_i,
  output hca_pkg::beat_t packets_out_o
);
  // ---- 0: grants ----
  logic open_q, open_d;    // a packet may start in this cycle, if there is room behind
  logic spill_q, spill_d;  // the beat of an ICRC that does not fit takes this cycle
  hca_pkg::icrc_mode_e mode_in_q, mode_in;

  assign packets_in_ready_o = open_q && packets_out_ready_i;
  assign packets_out_start_o = packets_in_valid_i && packets_in_i.first;
  assign mode_in = packets_in_i.first ? packets_in_i.mode : mode_in_q;

  always_comb begin
    spill_d = packets_in_valid_i && packets_in_i.last && mode_in == hca_pkg::IcrcGenerate
              && packets_in_i.bytes > 7'd60;
    open_d = open_q;
    if (packets_in_valid_i) open_d = packets_in_i.last && !spill_d;
    else if (spill_q) open_d = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b1;
      spill_q <= 1'b0;
    end else begin
      open_q <= open_d;
      spill_q <= spill_d;
    end
  end
  always_ff @(posedge clk_i) if (packets_in_valid_i) mode_in_q <= mode_in;

  // ---- 1: input register: side band held, data cleared behind the last byte ----
  logic s1_valid_q, s1_second_q;
  hca_pkg::beat_t s1_q, s1_d;

  always_comb begin
    s1_d = packets_in_i;
    s1_d.icrc_ok = 1'b0;
    s1_d.mode = mode_in;
    if (!packets_in_i.first) begin
      s1_d.framing = s1_q.framing;
      s1_d.vlan = s1_q.vlan;
    end
    s1_d.data = packets_in_i.data & ~(~512'd0 << {packets_in_i.bytes, 3'd0});
  end

  // ---- 2: variant bits as ones, start value, 64 bytes folded to 32 bits ----
  logic s2_valid_q;
  hca_pkg::beat_t s2_q;
  logic s2_runt_q;  // the packet ends before an ICRC could
  logic [31:0] s2_fold_q;
  logic [511:0] masked;
  logic [6:0] min_bytes;
  logic s1_runt;

  always_comb begin
    masked = s1_q.data;
    if (s1_q.first) begin
      masked = (s1_q.data | hca_pkg::icrc_ones_first(s1_q.framing, s1_q.vlan))
              & hca_pkg::icrc_covered(s1_q.framing, s1_q.vlan);
      masked = masked ^ hca_pkg::icrc_seed(s1_q.framing, s1_q.vlan);
    end else if (s1_second_q) begin
      masked = s1_q.data | hca_pkg::icrc_ones_second(s1_q.framing, s1_q.vlan);
    end
    min_bytes = hca_pkg::icrc_min_bytes(s1_q.framing, s1_q.vlan);
    s1_runt = (s1_q.first && s1_q.bytes < min_bytes)
              || (s1_second_q && 8'd64 + {1'b0, s1_q.bytes} < {1'b0, min_bytes});
  end

  // ---- 3: the register over all beats, the last one padded with zeros ----
  logic s3_valid_q;
  hca_pkg::beat_t s3_q;
  logic s3_runt_q;
  logic [31:0] s3_crc_q, s3_crc_d;

  assign s3_crc_d = (s2_q.first ? 32'd0 : hca_pkg::crc_advance(s3_crc_q)) ^ s2_fold_q;

  // ---- 4: the zeros taken back ----
  logic s4_valid_q;
  hca_pkg::beat_t s4_q;
  logic s4_runt_q;
  logic [31:0] s4_crc_q, s4_crc_d;
  logic [5:0] zeros;

  always_comb begin
    zeros = 6'd0 - s3_q.bytes[5:0];
    s4_crc_d = s3_crc_q;
    if (zeros[0]) s4_crc_d = hca_pkg::crc_rewind_1(s4_crc_d);
    if (zeros[1]) s4_crc_d = hca_pkg::crc_rewind_2(s4_crc_d);
    if (zeros[2]) s4_crc_d = hca_pkg::crc_rewind_4(s4_crc_d);
    if (zeros[3]) s4_crc_d = hca_pkg::crc_rewind_8(s4_crc_d);
    if (zeros[4]) s4_crc_d = hca_pkg::crc_rewind_16(s4_crc_d);
    if (zeros[5]) s4_crc_d = hca_pkg::crc_rewind_32(s4_crc_d);
  end

  // ---- 5: the ICRC inserted or judged ----
  logic s5_valid_q;
  hca_pkg::beat_t s5_q, s5_d;
  logic s5_spill_q, s5_spill_d;  // the last beat of the packet is still to come:
  logic [31:0] s5_rest_q, s5_rest_d;  // these bytes of its ICRC
  logic [6:0] s5_rest_bytes_q, s5_rest_bytes_d;
  logic [543:0] appended;

  always_comb begin
    s5_d = s4_q;
    s5_spill_d = 1'b0;
    s5_rest_bytes_d = s4_q.bytes - 7'd60;
    appended = {32'd0, s4_q.data} | ({512'd0, ~s4_crc_q} << {s4_q.bytes, 3'd0});
    s5_rest_d = appended[543:512];
    if (s5_spill_q) begin
      s5_d = s5_q;
      s5_d.first = 1'b0;
      s5_d.last = 1'b1;
      s5_d.bytes = s5_rest_bytes_q;
      s5_d.data = {480'd0, s5_rest_q};
    end else if (s4_q.last && s4_q.mode == hca_pkg::IcrcGenerate) begin
      s5_d.data = appended[511:0];
      s5_d.bytes = s4_q.bytes + 7'd4;
      if (s4_q.bytes > 7'd60) begin
        s5_d.bytes = 7'd64;
        s5_d.last = 1'b0;
        s5_spill_d = s4_valid_q;
      end
    end else if (s4_q.last && s4_q.mode == hca_pkg::IcrcCheck) begin
      s5_d.icrc_ok = s4_crc_q == hca_pkg::IcrcResidue && !s4_runt_q;
    end
  end

  assign packets_out_valid_o = s5_valid_q;
  assign packets_out_o = s5_q;

  // ---- registers ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s5_valid_q <= 1'b0;
      s5_spill_q <= 1'b0;
    end else begin
      s1_valid_q <= packets_in_valid_i;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      s4_valid_q <= s3_valid_q;
      s5_valid_q <= s4_valid_q || s5_spill_q;
      s5_spill_q <= s5_spill_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) begin
      s1_q <= s1_d;
      s1_second_q <= s1_q.first && !packets_in_i.first;
    end
    if (s1_valid_q) begin
      s2_q <= s1_q;
      s2_runt_q <= s1_q.first || s1_second_q ? s1_runt : s2_runt_q;
      s2_fold_q <= hca_pkg::crc_fold(masked);
    end
    if (s2_valid_q) begin
      s3_q <= s2_q;
      s3_runt_q <= s2_runt_q;
      s3_crc_q <= s3_crc_d;
    end
    if (s3_valid_q) begin
      s4_q <= s3_q;
      s4_runt_q <= s3_runt_q;
      s4_crc_q <= s4_crc_d;
    end
    if (s4_valid_q || s5_spill_q) begin
      s5_q <= s5_d;
      s5_rest_q <= s5_rest_d;
      s5_rest_bytes_q <= s5_rest_bytes_d;
    end
  end

`ifdef HCA_ASSERT
`include "icrc_assert.svh"
`endif
endmodule
