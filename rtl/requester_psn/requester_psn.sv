// SPDX-License-Identifier: Apache-2.0
// The PSNs of the requester: those of a message and its packets, the window, the range that an acknowledgement covers, and the
// state of go-back-N (proto::SendPsns).
//
// Streams. packets_in has one beat for each step, of any source, in the order of the steps of its queue pair: a message begins,
// a packet of it is sent or sent again, an ACK or response, a NAK or a missing response, a timer, a RESYNC of an EE context. `psn` is that of an answer,
// or for packets the first one of their message, with `index` PSNs of it before the packet; byte_len, up to 2^31, and kind
// determine how many PSNs the message has. packets_out has one beat for each step: PSN and count that the message, packet or
// RESYNC takes, else the oldest unacknowledged PSN and 0; its result; and the new context, which is its write-back.
//
// Contexts. Queue pairs and, with bit 24 of their number set (ee), EE contexts: one PSN space each. That an EE context has one
// message outstanding at a time is not judged here.
//
// Look-ups, hazards, grants: rtl/common/look_up_slots.sv. A stalled look-up holds its step and those after it, in their order;
// the stages are never stalled. packets_out_start_o takes the room after the block exactly Latency cycles ahead of the result.
//
// Timing. Beat in n, answer at once: look-up in n + 1, answer in n + 2, start in n + 3, result in n + 6, Latency = 3; one step
// a cycle. Combinational path: packets_out_ready_i to packets_out_start_o, one gate. All else is registered.
module requester_psn #(
  /* verilator lint_off UNUSEDPARAM */  // no data: only the assertions use the length of a beat
  parameter int unsigned Width = 512  // 256 or 512
  /* verilator lint_on UNUSEDPARAM */
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  packets_in_valid_i,
  output logic                  packets_in_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // only the assertions use its place
  input  hca_pkg::psn_step_t    packets_in_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                  context_ask_valid_o,
  output logic [24:0]           context_ask_o,
  input  logic                  context_valid_i,
  input  hca_pkg::psn_context_t context_i,
  output logic                  packets_out_start_o,
  output logic                  packets_out_valid_o,
  input  logic                  packets_out_ready_i,
  output hca_pkg::psn_stepped_t packets_out_o
);
  localparam int unsigned Context = hca_pkg::PsnContextBits;
  localparam int unsigned State = hca_pkg::PsnStateBits;
  localparam int unsigned Judge = 2;  // the stage that needs the state

  typedef struct packed {
    logic [2:0] op;
    logic [1:0] kind;
    logic [23:0] psn;
    logic [23:0] index;
    logic [31:0] byte_len;
    logic [24:0] number;  // {ee, qpn}
  } request_t;
  localparam int unsigned Request = 110;

  typedef struct packed {
    logic [2:0] op;
    logic [24:0] number;
    logic [23:0] psn;    // of the packet, else that of the step
    logic [23:0] count;  // PSNs that it takes
  } work_t;

  // ---- 1 to 3: slots, look-ups, hazards, start ----
  request_t request_in, request_0, request_1_q;
  work_t work_2_q;
  /* verilator lint_off UNUSEDSIGNAL */  // no other look-ups; the last stage uses only the state of its context
  logic [2:0] answered_slot, start_slot;
  logic [Request-1:0] answered;
  hca_pkg::psn_context_t context_1_q, context_2_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic issued;
  logic out_valid_q;
  hca_pkg::psn_stepped_t out_q, out_d;
  logic [Judge:1] valid_q;

  always_comb begin
    request_in.op = packets_in_i.op;
    request_in.kind = packets_in_i.kind;
    request_in.number = {packets_in_i.ee, packets_in_i.qpn};
    request_in.psn = packets_in_i.psn;
    request_in.index = packets_in_i.index;
    request_in.byte_len = packets_in_i.byte_len;
  end
  look_up_slots #(
    .Number(25),
    .Request(Request),
    .Context(Context),
    .State(State),
    .Stages(Judge)
  ) u_slots (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .room_o(packets_in_ready_o),
    .take_i(packets_in_valid_i),
    .drop_i(1'b0),
    .enter_i(packets_in_valid_i),
    .request_i(request_in),
    .context_ask_valid_o(context_ask_valid_o),
    .context_ask_o(context_ask_o),
    .context_valid_i(context_valid_i),
    .context_i(context_i),
    .answered_slot_o(answered_slot),
    .answered_o(answered),
    .hold_i(1'b0),
    .more_valid_i(1'b0),
    .more_slot_i(3'd0),
    .room_behind_i(packets_out_ready_i),
    .start_o(issued),
    .start_slot_o(start_slot),
    .start_request_o(request_0),
    .stage_number_i(request_1_q.number),
    .stage_context_o({context_2_q, context_1_q}),
    .result_valid_i({valid_q[Judge], out_valid_q}),
    .result_number_i({{out_d.ee, out_d.qpn}, {out_q.ee, out_q.qpn}}),
    .result_state_i({out_d.state, out_q.state}),
    .result_shared_i(2'd0),
    .result_queue_i(48'd0)
  );
  assign packets_out_start_o = issued;

  // ---- 4: stage 1: how many PSNs ----
  work_t work_1;
  logic [23:0] packets;
  /* verilator lint_off UNUSEDSIGNAL */  // bytes below a packet
  logic [43:0] padded;
  /* verilator lint_on UNUSEDSIGNAL */

  always_comb begin
    padded = {12'd0, request_1_q.byte_len} + {31'd0, context_1_q.path_mtu} - 44'd1;
    packets = 24'd1;
    if (request_1_q.kind != hca_pkg::PsnKindAtomic && request_1_q.byte_len != 32'd0)
      for (int i = 8; i <= 12; i++)
        if (context_1_q.path_mtu[i]) packets = padded[i +: 24];
    work_1.op = request_1_q.op;
    work_1.number = request_1_q.number;
    work_1.psn = request_1_q.psn;
    work_1.count = packets;
    if (request_1_q.op == hca_pkg::PsnOpPacket) begin
      work_1.psn = request_1_q.psn + request_1_q.index;
      work_1.count = request_1_q.kind == hca_pkg::PsnKindRead ? packets - request_1_q.index : 24'd1;
    end
  end

  // ---- 5: stage 2: its effect on the state ----
  hca_pkg::psn_state_t state, next;
  logic [23:0] place, waiting, going_on, behind, further, up_to, acked;
  logic [24:0] window;
  logic outstanding, moves;

  always_comb begin
    state = context_2_q.state;
    next = state;
    out_d = '0;
    out_d.first = 1'b1;
    out_d.last = 1'b1;
    out_d.op = work_2_q.op;
    {out_d.ee, out_d.qpn} = work_2_q.number;
    out_d.result = hca_pkg::PsnResultDone;

    waiting = state.sent_psn - state.unacked_psn;
    place = work_2_q.psn - state.unacked_psn;
    outstanding = place < waiting;
    window = {1'b0, state.next_psn - state.unacked_psn} + {1'b0, work_2_q.count};
    behind = work_2_q.psn + work_2_q.count;
    further = behind - state.send_psn;
    going_on = state.send_psn - state.unacked_psn;
    moves = 1'b0;
    up_to = state.unacked_psn;

    unique case (work_2_q.op)
      hca_pkg::PsnOpStart: next = {4{work_2_q.psn}};
      hca_pkg::PsnOpMessage: begin
        if (window > {1'b0, hca_pkg::PsnWindow}) out_d.result = hca_pkg::PsnResultFull;
        else next.next_psn = state.next_psn + work_2_q.count;
      end
      hca_pkg::PsnOpPacket: begin
        if (work_2_q.psn == state.send_psn || (further != 24'd0 && !further[23])) next.send_psn = behind;
        out_d.repeated = work_2_q.psn != state.sent_psn;
        if (!out_d.repeated) next.sent_psn = behind;
      end
      hca_pkg::PsnOpAcknowledge: begin
        moves = outstanding;
        up_to = work_2_q.psn + 24'd1;
        if (!outstanding) out_d.result = place == 24'hffffff ? hca_pkg::PsnResultNewest : hca_pkg::PsnResultGhost;
      end
      hca_pkg::PsnOpGoBack: begin
        moves = outstanding;
        up_to = work_2_q.psn;
        if (!moves) out_d.result = hca_pkg::PsnResultGhost;
      end
      hca_pkg::PsnOpTimeout: moves = 1'b1;
      hca_pkg::PsnOpResync: begin
        moves = 1'b1;
        up_to = state.next_psn;
        next.sent_psn = up_to;
        next.next_psn = up_to + 24'd1;
      end
      default: ;
    endcase
    acked = up_to - state.unacked_psn;
    if (moves) begin
      out_d.progress = acked != 24'd0;
      next.unacked_psn = up_to;
      if (work_2_q.op != hca_pkg::PsnOpAcknowledge || going_on < acked) next.send_psn = up_to;
    end

    out_d.psn = next.unacked_psn;
    out_d.count = 24'd0;
    if (work_2_q.op == hca_pkg::PsnOpMessage || work_2_q.op == hca_pkg::PsnOpPacket) begin
      out_d.psn = work_2_q.op == hca_pkg::PsnOpMessage ? state.next_psn : work_2_q.psn;
      out_d.count = work_2_q.count;
    end
    if (work_2_q.op == hca_pkg::PsnOpResync) begin
      out_d.psn = state.next_psn;
      out_d.count = 24'd1;
    end
    out_d.unacked = next.sent_psn != next.unacked_psn;
    out_d.state = next;
  end

  assign packets_out_valid_o = out_valid_q;
  assign packets_out_o = out_q;

  // ---- registers of the stages ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      out_valid_q <= 1'b0;
    end else begin
      valid_q <= {valid_q[1], issued};
      out_valid_q <= valid_q[Judge];
    end
  end
  always_ff @(posedge clk_i) begin
    request_1_q <= request_0;
    work_2_q <= work_1;
    out_q <= out_d;
  end

`ifdef HCA_ASSERT
  localparam int unsigned BeatBytes = Width / 8;
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Latency = Judge + 1;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b1;
  localparam logic BytesFill = 1'b0;  // there are none
`include "stream_assert.svh"
`include "requester_psn_assert.svh"
`endif
endmodule
