// SPDX-License-Identifier: Apache-2.0
// Inserts or checks the ICRC of packets that pass at a beat of Width bits a cycle; in native framings the VCRC too.
//
// Streams. Byte i of a beat is data[8*i+7:8*i]; a frame starts with its first beat's byte 0 and fills every beat but the last.
// packets_in counts the frame without FCS and Ethernet padding: from the first header byte to the last payload or pad byte
// (IcrcGenerate) or to the last byte of the CRCs (IcrcCheck). Mode, framing and vlan are read with the first beat and hold for
// the packet; data after the last byte of the last beat is ignored. On packets_out the side band is the packet's own in all its
// beats and data after the last byte is 0.
//   IcrcBypass    the frame passes unchanged
//   IcrcGenerate  4 bytes, 6 in native framings, are appended; where they open a beat of their own, the next start is
//                 held back by one cycle. The frame reaches at least to the end of the BTH.
//   IcrcCheck     the frame passes unchanged; icrc_ok, and vcrc_ok in native framings, come with its last beat. A frame
//                 too short for BTH and CRCs is bad.
// icrc_ok and vcrc_ok are 0 in all other beats.
//
// Grants. A start in cycle n needs `ready` in cycle n; once high, ready falls only after a start; from first to last beat valid
// stays high and ready is ignored. On packets_in the start is the first beat. On packets_out it is `start`, exactly Latency
// cycles ahead of the first beat: this block has no room of its own for a packet, so it takes room after the block when it
// admits one, and nothing is ever stalled inside. (With a start at the first beat a packet could be admitted only when the
// previous one has left: one packet in Latency + 1 cycles.) The receiver counts room from start.
//
// Timing. First beat in n: first beat out in n + Latency, Latency = 5, for all packets; one beat a cycle, back to back.
// Combinational paths: packets_out_ready_i to packets_in_ready_o, packets_in_valid_i and .first to packets_out_start_o,
// one gate each: links with registers stand on both sides. All else is registered.
module icrc #(
  parameter int unsigned Width = 512  // 256 or 512
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
  localparam int unsigned BeatBytes = Width / 8;
  localparam int unsigned MaskBeats = hca_pkg::MaskBytes / BeatBytes;
  localparam logic [6:0] Full = BeatBytes[6:0];

  // ---- 0: grants ----
  logic open_q, open_d;    // a packet may start in this cycle, if there is room after the block
  logic spill_q, spill_d;  // CRCs that need a beat of their own take this cycle
  hca_pkg::icrc_mode_e mode_in_q, mode_in;
  hca_pkg::framing_e framing_in_q, framing_in;
  logic [6:0] crc_bytes_in;

  assign packets_in_ready_o = open_q && packets_out_ready_i;
  assign packets_out_start_o = packets_in_valid_i && packets_in_i.first;
  assign mode_in = packets_in_i.first ? packets_in_i.mode : mode_in_q;
  assign framing_in = packets_in_i.first ? packets_in_i.framing : framing_in_q;
  assign crc_bytes_in = hca_pkg::is_native(framing_in) ? 7'd6 : 7'd4;

  always_comb begin
    spill_d = packets_in_valid_i && packets_in_i.last && mode_in == hca_pkg::IcrcGenerate
              && packets_in_i.bytes > Full - crc_bytes_in;
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
  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) begin
      mode_in_q <= mode_in;
      framing_in_q <= framing_in;
    end
  end

  // ---- 1: input register: side band held, data cleared after the last byte ----
  logic s1_valid_q;
  logic [2:0] s1_index_q;  // of the beat in its packet, up to MaskBeats
  hca_pkg::beat_t s1_q, s1_d;
  logic [Width-1:0] s1_data_q;

  always_comb begin
    s1_d = packets_in_i;
    s1_d.spare = 7'd0;
    s1_d.icrc_ok = 1'b0;
    s1_d.vcrc_ok = 1'b0;
    s1_d.mode = mode_in;
    s1_d.framing = framing_in;
    if (!packets_in_i.first) s1_d.vlan = s1_q.vlan;
  end

  // ---- 2: variant bits as ones, start values, a beat folded to 48 bits ----
  logic s2_valid_q;
  hca_pkg::beat_t s2_q;
  logic [Width-1:0] s2_data_q;
  logic s2_runt_q;  // the packet is too short for its CRCs
  logic [15:0] s2_tail_q;  // its last two bytes so far
  logic [31:0] s2_icrc_q;
  logic [15:0] s2_vcrc_q;
  logic [Width-1:0] icrc_data, vcrc_data, covered;
  logic [8*hca_pkg::MaskBytes-1:0] ones;
  logic [31:0] icrc_folded;
  logic [15:0] vcrc_folded;
  logic [15:0] tail;  // the last two bytes so far
  logic [7:0] bytes_so_far;
  logic s1_runt;

  always_comb begin
    ones = hca_pkg::icrc_ones(s1_q.framing, s1_q.vlan);
    icrc_data = s1_data_q;
    for (int i = 0; i < MaskBeats; i++)
      if (s1_index_q == i[2:0]) icrc_data = icrc_data | ones[i*Width +: Width];
    vcrc_data = s1_data_q;
    covered = '1;
    covered[255:0] = hca_pkg::icrc_covered(s1_q.framing, s1_q.vlan);
    if (s1_q.first) begin
      icrc_data = icrc_data & covered;
      icrc_data[255:0] = icrc_data[255:0] ^ hca_pkg::icrc_seed(s1_q.framing, s1_q.vlan);
      vcrc_data[15:0] = ~vcrc_data[15:0];
    end
    bytes_so_far = {1'b0, s1_q.bytes} + {s1_index_q, 5'd0};
    if (BeatBytes == 64) bytes_so_far = {1'b0, s1_q.bytes} + {s1_index_q[1:0], 6'd0};
    s1_runt = bytes_so_far < {1'b0, hca_pkg::icrc_min_bytes(s1_q.framing, s1_q.vlan)};
  end

  // The byte before the beat is in stage 2.
  always_comb begin
    tail = {s1_data_q[7:0], s2_data_q[Width-1 -: 8]};
    for (int i = 1; i < BeatBytes; i++)
      if (s1_q.bytes == i[6:0] + 7'd1) tail = s1_data_q[8*(i-1) +: 16];
  end

  crc_fold #(.Width(Width)) u_fold (
    .icrc_data_i(icrc_data),
    .vcrc_data_i(vcrc_data),
    .icrc_o(icrc_folded),
    .vcrc_o(vcrc_folded)
  );

  // ---- 3: the registers over all beats, the last one padded with zeros ----
  logic s3_valid_q;
  hca_pkg::beat_t s3_q;
  logic [Width-1:0] s3_data_q;
  logic s3_runt_q;
  logic [15:0] s3_tail_q;
  logic [31:0] s3_icrc_q, s3_icrc_d, icrc_advanced;
  logic [15:0] s3_vcrc_q, s3_vcrc_d, vcrc_advanced;

  crc_advance #(.Width(Width)) u_advance (
    .icrc_i(s3_icrc_q),
    .vcrc_i(s3_vcrc_q),
    .icrc_o(icrc_advanced),
    .vcrc_o(vcrc_advanced)
  );
  assign s3_icrc_d = (s2_q.first ? 32'd0 : icrc_advanced) ^ s2_icrc_q;
  assign s3_vcrc_d = (s2_q.first ? 16'd0 : vcrc_advanced) ^ s2_vcrc_q;

  // ---- 4: the padding zeros removed again ----
  logic s4_valid_q;
  hca_pkg::beat_t s4_q;
  logic [Width-1:0] s4_data_q;
  logic s4_runt_q;
  logic [15:0] s4_tail_q;
  logic [31:0] s4_icrc_q, s4_icrc_d;
  logic [15:0] s4_vcrc_q, s4_vcrc_d;
  logic [5:0] zeros;

  assign zeros = Full[5:0] - s3_q.bytes[5:0];
  crc_rewind u_rewind (
    .zeros_i(zeros),
    .icrc_i(s3_icrc_q),
    .vcrc_i(s3_vcrc_q),
    .icrc_o(s4_icrc_d),
    .vcrc_o(s4_vcrc_d)
  );

  // ---- 5: the CRCs inserted or checked ----
  logic s5_valid_q;
  hca_pkg::beat_t s5_q, s5_d;
  logic [Width-1:0] s5_data_q, s5_data_d;
  logic s5_spill_q, s5_spill_d;  // the last beat of the packet is still to come:
  logic [47:0] s5_rest_q, s5_rest_d;  // these bytes of its CRCs
  logic [6:0] s5_rest_bytes_q, s5_rest_bytes_d;
  logic native;
  logic [6:0] crc_bytes;
  logic [31:0] icrc_residue;
  logic [47:0] crcs;
  logic [Width+47:0] appended;

  always_comb begin
    native = hca_pkg::is_native(s4_q.framing);
    crc_bytes = native ? 7'd6 : 7'd4;
    crcs = {16'd0, ~s4_icrc_q};
    icrc_residue = hca_pkg::IcrcResidue;
    if (native) begin
      crcs[47:32] = ~hca_pkg::vcrc_fold_4(crcs[31:0] ^ {16'd0, s4_vcrc_q});
      icrc_residue = hca_pkg::icrc_advance_2(hca_pkg::IcrcResidue ^ {16'd0, s4_tail_q});
    end
    appended = {48'd0, s4_data_q} | ({{Width{1'b0}}, crcs} << {s4_q.bytes, 3'd0});
  end

  always_comb begin
    s5_d = s4_q;
    s5_data_d = s4_data_q;
    s5_spill_d = 1'b0;
    s5_rest_bytes_d = s4_q.bytes + crc_bytes - Full;
    s5_rest_d = appended[Width+47:Width];
    if (s5_spill_q) begin
      s5_d = s5_q;
      s5_d.first = 1'b0;
      s5_d.last = 1'b1;
      s5_d.bytes = s5_rest_bytes_q;
      s5_data_d = '0;
      s5_data_d[47:0] = s5_rest_q;
    end else if (s4_q.last && s4_q.mode == hca_pkg::IcrcGenerate) begin
      s5_data_d = appended[Width-1:0];
      s5_d.bytes = s4_q.bytes + crc_bytes;
      if (s4_q.bytes > Full - crc_bytes) begin
        s5_d.bytes = Full;
        s5_d.last = 1'b0;
        s5_spill_d = s4_valid_q;
      end
    end else if (s4_q.last && s4_q.mode == hca_pkg::IcrcCheck) begin
      s5_d.icrc_ok = s4_icrc_q == icrc_residue && !s4_runt_q;
      s5_d.vcrc_ok = native && s4_vcrc_q == hca_pkg::VcrcResidue && !s4_runt_q;
    end
  end

  assign packets_out_valid_o = s5_valid_q;
  assign packets_out_o = s5_q;
  assign packets_out_data_o = s5_data_q;

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
      s1_data_q <= packets_in_data_i & ~({Width{1'b1}} << {packets_in_i.bytes, 3'd0});
      s1_index_q <= packets_in_i.first ? 3'd0 : s1_index_q == MaskBeats[2:0] ? s1_index_q : s1_index_q + 3'd1;
    end
    if (s1_valid_q) begin
      s2_q <= s1_q;
      s2_data_q <= s1_data_q;
      s2_runt_q <= s1_runt;
      s2_tail_q <= tail;
      s2_icrc_q <= icrc_folded;
      s2_vcrc_q <= vcrc_folded;
    end
    if (s2_valid_q) begin
      s3_q <= s2_q;
      s3_data_q <= s2_data_q;
      s3_runt_q <= s2_runt_q;
      s3_tail_q <= s2_tail_q;
      s3_icrc_q <= s3_icrc_d;
      s3_vcrc_q <= s3_vcrc_d;
    end
    if (s3_valid_q) begin
      s4_q <= s3_q;
      s4_data_q <= s3_data_q;
      s4_runt_q <= s3_runt_q;
      s4_tail_q <= s3_tail_q;
      s4_icrc_q <= s4_icrc_d;
      s4_vcrc_q <= s4_vcrc_d;
    end
    if (s4_valid_q || s5_spill_q) begin
      s5_q <= s5_d;
      s5_data_q <= s5_data_d;
      s5_rest_q <= s5_rest_d;
      s5_rest_bytes_q <= s5_rest_bytes_d;
    end
  end

`ifdef HCA_ASSERT
  localparam logic BytesFill = 1'b1;
  localparam int unsigned Latency = 5;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b0;
`include "stream_assert.svh"
`include "icrc_assert.svh"
`endif
endmodule
