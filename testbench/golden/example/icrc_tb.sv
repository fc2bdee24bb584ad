// SPDX-License-Identifier: Apache-2.0
// A test bench that has the golden model judge a module: rtl/icrc/icrc.sv inserts the ICRC of packets that the golden
// model has built, and its frames must be theirs. scripts/run_golden_example.sh builds and runs it.
`include "hca_golden.svh"

`ifndef HCA_ICRC
`define HCA_ICRC icrc
`endif
module icrc_tb;
  localparam int unsigned Width = 512;
  localparam int unsigned BeatBytes = Width / 8;
  localparam int unsigned IcrcBytes = 4;
  localparam int unsigned Packets = 200;

  logic clk = 1'b0, rst_n = 1'b0;
  always #1 clk = !clk;

  logic in_valid = 1'b0, in_ready, out_start, out_valid;
  hca_pkg::beat_t in = '0, out;
  logic [Width-1:0] in_data = '0, out_data;

  `HCA_ICRC #(
    .Width(Width)
  ) dut (
    .clk_i(clk),
    .rst_ni(rst_n),
    .packets_in_valid_i(in_valid),
    .packets_in_ready_o(in_ready),
    .packets_in_i(in),
    .packets_in_data_i(in_data),
    .packets_out_start_o(out_start),
    .packets_out_valid_o(out_valid),
    .packets_out_ready_i(1'b1),
    .packets_out_o(out),
    .packets_out_data_o(out_data)
  );

  // The frame that leaves.
  golden_frame_t left = '0;
  int unsigned left_bytes = 0, packets_left = 0;
  bit ends = 1'b0;
  always @(posedge clk) begin
    ends = 1'b0;
    if (out_valid) begin
      if (out.first) begin
        left = '0;
        left_bytes = 0;
      end
      left[8*left_bytes +: Width] = out_data;
      left_bytes += int'(out.bytes);
      ends = out.last;
    end
    if (ends) packets_left++;
  end

  // A module that does not answer does not hold the test bench.
  localparam int unsigned Patience = 10_000;
  int unsigned waited = 0;
  always @(posedge clk) begin
    waited = in_valid || out_valid ? 0 : waited + 1;
    if (waited == Patience)
      $fatal(1, "packet %0d has not left the module, nor was another taken, for %0d cycles", packets_left, Patience);
  end

  chandle hca;
  golden_frame_t frame;
  int unsigned bytes, faults = 0;

  task automatic send_without_icrc();
    int unsigned at = 0, count = bytes - IcrcBytes;
    while (at < count) begin
      in_valid <= 1'b1;
      in <= '0;
      in.mode <= hca_pkg::IcrcGenerate;
      in.framing <= hca_pkg::RoceV2Ip4;
      in.first <= at == 0;
      in.last <= count - at <= BeatBytes;
      in.bytes <= count - at <= BeatBytes ? 7'(count - at) : 7'(BeatBytes);
      in_data <= frame[8*at +: Width];
      at += BeatBytes;
      @(posedge clk);
    end
    in_valid <= 1'b0;
  endtask

  initial begin
    hca = hca_golden_open("{\"regions\": {\"m\": {}}}");
    if (hca_golden_code(hca) != GoldenOk) $fatal(1, "%s", hca_golden_text(hca));
    repeat (4) @(posedge clk);
    rst_n <= 1'b1;
    @(posedge clk);
    for (int unsigned i = 0; i < Packets; i++) begin
      string packet;
      longint unsigned psn;
      packet = $sformatf("{\"opcode\": \"RDMA WRITE Only\", \"PSN\": %0d, \"VA\": %0d, \"payload\": {\"bytes\": %0d, \"seed\": %0d}}",
                         i, 64 * i, i * 5, i);
      if (hca_golden_build(hca, packet, frame, bytes) != GoldenOk) $fatal(1, "%s", hca_golden_text(hca));
      while (!in_ready) @(posedge clk);
      send_without_icrc();
      while (packets_left <= i) @(posedge clk);
      if (left_bytes != bytes || left != frame) begin
        faults++;
        $display("packet %0d: %0d bytes, expected %0d; %s", i, left_bytes, bytes,
                 hca_golden_frame_verdict(hca_golden_frame_check(left, left_bytes, GoldenEthernet)));
      end
      if (hca_golden_frame_field(frame, bytes, GoldenEthernet, "BTH.PSN", psn) != GoldenOk || psn != longint'(i))
        $fatal(1, "packet %0d has PSN %0d", i, psn);
    end
    hca_golden_close(hca);
    if (faults != 0) $fatal(1, "%0d of %0d packets differ from the golden model's", faults, Packets);
    $display("%0d packets are the golden model's", Packets);
    $finish;
  end
endmodule
